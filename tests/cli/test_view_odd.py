"""`tfrecord-fast view` of files that go away, of odd messages and sounds, and when the system has nothing left."""

import errno
import os
import socket
import struct
import threading
import time

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.viewer import viewing
from tfrecord_fast.cli import main
from tfrecord_fast.cli.commands.view import code, media, pages, server, sources, trees
from tfrecord_fast.cli.commands.view.sources import File, Unreadable
from tfrecord_fast.files.stores import StoreSettings
from tfrecord_fast.files.streams.core_files import core_files


def write(path, *records, compression=""):
    with tf.TFRecordWriter(path, compression) as writer:
        writer.write_batch(list(records))
    return str(path)


@pytest.fixture
def some(tmp_path):
    return write(tmp_path / "a", *(wire.example([(b"n", wire.feature("int64", [i]))]) for i in range(3)))


def opened(path):
    settings = StoreSettings(None)
    (file,) = core_files([path], settings)
    return File(file, "auto", settings)


# ---- Files ----


def test_a_file_that_goes_away_before_it_is_opened(some):
    with viewing(some) as viewer:
        os.unlink(some)
        assert viewer.ask("api/files")["files"] == [{"path": some, "bytes": None}]
        for path in ("api/record", "api/part", "api/code", "bytes"):
            assert viewer.get(path).json == {"problem": "No such file or directory"}
        assert viewer.get("api/find", where="n == 1").json == {"problem": "No such file or directory"}


def test_a_file_that_is_replaced_by_another_kind(some):
    file = opened(some)
    open(some, "wb").write(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(Unreadable, match="PNG"):
        file.source(time.monotonic() + 60)


def test_a_file_that_goes_away_while_its_index_is_made(some, monkeypatch):
    def refuse(*those):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(sources, "_source_of", refuse)
    with pytest.raises(Unreadable, match="Input/output error"):
        opened(some).source(time.monotonic() + 60)


def test_a_fault_that_nobody_expects_is_told_too(some, monkeypatch):
    monkeypatch.setattr(sources, "_source_of", lambda *those: 1 / 0)
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    with pytest.raises(Unreadable, match="the file can't be opened"):
        opened(some).source(time.monotonic() + 60)


def test_who_asks_too_early_waits(some):
    file = opened(some)
    file._done.wait = lambda seconds: False
    with pytest.raises(sources.Waiting, match="The records are being counted …"):
        file.source(time.monotonic())


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_numbers_that_no_record_has(some, tmp_path, compression):
    records = [b"%d" % i for i in range(3)]
    source = opened(write(tmp_path / "b", *records, compression=compression)).source(time.monotonic() + 60)
    assert [source.record(i, time.monotonic() + 60) for i in range(3)] == records
    for number in (-1, 3, 4):
        with pytest.raises(IndexError):
            source.record(number, time.monotonic() + 60)
    assert source.count() == 3


def test_what_can_be_read_twice(some, tmp_path):
    def of(path):
        (file,) = core_files([str(path)], StoreSettings(None))
        return sources.is_readable_again(file)

    os.mkfifo(tmp_path / "fifo")
    assert of(some) and not of(tmp_path / "fifo") and not of("/dev/null")
    (file,) = core_files([some], StoreSettings(None))
    os.unlink(some)
    assert sources.is_readable_again(file)  # that it isn't there shows when it is opened
    assert not sources.is_readable_again(file._replace(opener=lambda: None, name=b"<stdin>"))


def test_notes_have_the_sizes_of_stretches_where_known():
    lost = [type("Lost", (), {"offset": 26, "bytes": 7, "reason": "words"})()]
    assert sources._notes(lost) == ["at byte 26, 7 bytes: words"]
    lost[0].bytes = None
    assert sources._notes(lost * 3)[0] == "at byte 26: words"
    many = sources._notes(lost * (sources._MOST_NOTES + 1))
    assert len(many) == sources._MOST_NOTES + 1 and many[-1] == "1 more"
    assert len(sources._notes(lost * sources._MOST_NOTES)) == sources._MOST_NOTES


# ---- Requests ----


def test_the_address_ends_with_a_slash(some):
    with viewing(some) as viewer:
        assert viewer.send(f"/{viewer.token}").content == b"404: the address must end with /\n"
        assert viewer.send(f"/{viewer.token}/").status == 200


def test_a_bug_is_told_and_the_server_goes_on(some, monkeypatch):
    with viewing(some) as viewer:
        monkeypatch.setattr(pages, "tree_of", lambda record: 1 / 0)
        answered = viewer.get("api/record")
        assert (answered.status, answered.content) == (500, b"500: ZeroDivisionError: division by zero\n")
        monkeypatch.undo()
        assert viewer.ask("api/record")["kind"] == "Example"


def test_an_error_of_the_system_ends_only_its_request(some, monkeypatch):
    def refuse(record):
        raise OSError

    with viewing(some) as viewer:
        monkeypatch.setattr(pages, "tree_of", refuse)
        with pytest.raises(Exception, match="Remote end closed connection without response"):
            viewer.get("api/record")
        monkeypatch.undo()
        assert viewer.ask("api/record")["kind"] == "Example"


def test_without_threads_a_request_is_closed_and_room_is_left(some, monkeypatch):
    with viewing(some) as viewer:
        start, left = threading.Thread.start, [server._MOST_AT_ONCE + 3]

        def refuse(thread):
            if left[0]:
                left[0] -= 1
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refuse)
        while left[0]:
            with socket.create_connection(("127.0.0.1", viewer.port), timeout=20) as connection:
                assert connection.recv(10) == b""
        assert viewer.get("api/files").status == 200


def test_a_port_that_is_taken_is_told(some, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["view", some, "--port", str(port)]) == 2
    assert capsys.readouterr().err == f"tfrecord-fast: 127.0.0.1:{port}: Address already in use\n"


def test_the_status_tells_of_files_that_were_not_shown(some, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(server.Server, "serve_forever", lambda self: None)
    assert main(["view", some]) == 0
    address = capsys.readouterr().out
    assert address.startswith("http://127.0.0.1:") and address.endswith("/\n")
    os.mkfifo(tmp_path / "fifo")
    assert main(["view", some, str(tmp_path / "fifo")]) == 2
    assert capsys.readouterr().err == f"tfrecord-fast: {tmp_path / 'fifo'}: pipes and devices cannot be shown\n"


# ---- Records ----


def test_a_message_of_all_types(tmp_path):
    message = wire.varint(1 << 3) + wire.varint(7) + wire.fixed32(2, struct.pack("<f", 0.5))
    message += wire.varint(3 << 3 | 1) + struct.pack("<d", 0.25) + wire.field(4, b"\xff\xfe")
    with viewing(write(tmp_path / "a", message)) as viewer:
        items = viewer.ask("api/record")["tree"]["items"]
    integers = struct.unpack("<I", struct.pack("<f", 0.5))[0], struct.unpack("<Q", struct.pack("<d", 0.25))[0]
    shown = [(one["name"], one["kind"], one["values"]) for one in items]
    assert [name for name, _, _ in shown] == ["1", "2", "3", "4"]
    assert shown[1][1] == "fixed32" and f"0.5 or {integers[0]}" in str(shown[1][2])
    assert shown[2][1] == "fixed64" and f"0.25 or {integers[1]}" in str(shown[2][2])
    assert shown[0][1] == "varint" and "7" in str(shown[0][2])


def test_more_features_than_can_be_shown_are_refused(monkeypatch):
    monkeypatch.setattr(trees, "_MOST_ITEMS", 2)
    two = [(b"%d" % i, b"") for i in range(2)]
    assert len(trees.tree_of(wire.example(two))[1].items) == 2
    with pytest.raises(ValueError) as error:
        trees.tree_of(wire.example([*two, (b"c", b"")]))
    assert str(error.value) == "the record has more than 2 features"


def test_a_record_that_is_malformed_inside_is_told(some, monkeypatch):
    monkeypatch.setattr(trees, "_MOST_ITEMS", 0)
    with viewing(some) as viewer:
        assert viewer.ask("api/record")["problem"] == "the record has more than 0 features"
        for path in ("bytes", "text", "api/part"):
            assert viewer.get(path, place="0").json == {"problem": "the record has more than 0 features"}


def test_an_example_list_with_context(tmp_path):
    one = wire.example([(b"a", wire.feature("int64", [1]))])
    with viewing(write(tmp_path / "a", wire.field(1, one) + wire.field(1, one) + wire.field(2, one))) as viewer:
        made = viewer.ask("api/record")
        assert made["kind"] == "ELWC"
        assert [item["name"] for item in made["tree"]["items"]] == ["context", "examples"]
        assert len(made["tree"]["items"][1]["items"]) == 2
        assert viewer.get("text", place="1.1.0").content == b"1\n"


def test_text_of_values_that_are_no_text(tmp_path):
    record = wire.example([(b"b", wire.feature("bytes", [b"\xff\x01", b"words"]))])
    with viewing(write(tmp_path / "a", record)) as viewer:
        assert viewer.get("text", place="0").content == b"ff01\nwords\n"
    assert pages._line(7) == "7" and pages._line("x") == "x"


def test_code_of_lists_without_anything_in_them():
    assert code._bracketed("{", [], "}", " " * 200) == "{}"
    assert code._bracketed("[", ["a", "b"], "]", "", fill=True) == "[a, b]"
    assert code._bracketed("[", ["a"], "]", "") == "[a]" and code._bracketed("[", ["a", "b"], "]", "") == (
        "[\n    a,\n    b,\n]"
    )


RATES = {3: 128, 2: 64, 0: 64}


def frame(version=3, rate=9, hertz=0, padding=0):
    return bytes([0xFF, 0xE2 | version << 3, rate << 4 | hertz << 2 | padding << 1, 0])


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (frame(), 144 * 128_000 // 44_100),
        (frame(padding=1), 144 * 128_000 // 44_100 + 1),
        (frame(hertz=1, rate=1), 144 * 32_000 // 48_000),
        (frame(hertz=2, rate=14), 144 * 320_000 // 32_000),
        (frame(2, 8), 72 * 64_000 // 22_050),
        (frame(2, 14, 1), 72 * 160_000 // 24_000),
        (frame(0, 1, 2), 72 * 8_000 // 8_000),
        (frame(0, 8, 0), 72 * 64_000 // 11_025),
        (frame(1), 0),  # no such version
        (frame(rate=0), 0),
        (frame(rate=15), 0),
        (frame(hertz=3), 0),
        (frame()[:3], 0),
        (b"\xfe" + frame()[1:], 0),
        (bytes([0xFF, 0xFC, 0x90, 0]), 0),  # layer II
        (bytes([0xFF, 0xFB, 0x90, 0]), 144 * 128_000 // 44_100),  # protection does not matter
    ],
)
def test_frames_of_mp3_have_the_sizes_that_their_headers_say(head, size):
    assert media._mp3_frame(head) == size


def test_mp3_has_two_frames_in_a_row():
    size = 144 * 128_000 // 44_100
    whole = frame() + bytes(size - 4) + frame()
    assert media.media_of(whole) == ("audio/mpeg", "MP3 audio")
    assert media.media_of(whole[:-1]) is None and media.media_of(b"\0" + whole) is None
    assert media.media_of(frame() + bytes(size - 3) + frame()) is None
    for version in (2, 3, 4):
        assert media.media_of(b"ID3" + bytes([version]) + bytes(9)) == ("audio/mpeg", "MP3 audio")
    assert media.media_of(b"ID3\x05" + bytes(9)) is None


def test_a_search_in_a_stream_says_how_far_reading_is(tmp_path, monkeypatch):
    records = [wire.example([(b"n", wire.feature("int64", [i]))]) * 20 for i in range(30_000)]
    with viewing(write(tmp_path / "a", *records, compression="GZIP")) as viewer:
        viewer.ask("api/record")
        monkeypatch.setattr(pages, "_PATIENCE", 0.0)
        said = viewer.get("api/find", where="n == 1", record=29_999).json
        assert said["waiting"].startswith("Reading from the start: ") and said["at"] == 29_999
        assert viewer.ask("api/find", where="n == 29999", record=29_000) == {"found": 29_999}


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_going_back_from_beyond_the_end(tmp_path, compression):
    records = [b"%d" % i for i in range(3000)]
    source = opened(write(tmp_path / "b", *records, compression=compression)).source(time.monotonic() + 60)
    for end in (3002, 3000, 2500, 1, 0):
        made = []
        for first, batch in source.backward(end, time.monotonic() + 60):
            assert batch.tolist() == records[first : first + len(batch)]
            made = batch.tolist() + made
        assert made == records[:end]
    for first in (0, 1, 2999, 3000, 4000):
        made = [record for _, batch in source.forward(first, time.monotonic() + 60) for record in batch.tolist()]
        assert made == records[first:]


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_the_largest_record_that_is_shown(tmp_path, monkeypatch, compression):
    monkeypatch.setattr(sources, "_MOST_RECORD", 50)
    path = write(tmp_path / "b", b"x" * 50, b"y" * 51, compression=compression)
    source = opened(path).source(time.monotonic() + 60)
    assert source.record(0, time.monotonic() + 60) == b"x" * 50
    with pytest.raises(Unreadable) as error:
        source.record(1, time.monotonic() + 60)
    assert str(error.value) == "the record has 51 bytes; at most 50 can be shown"


def test_an_object_of_a_store_is_readable_again(some):
    (file,) = core_files([some], StoreSettings(None))
    assert sources.is_readable_again(file._replace(object=object(), opener=lambda: None))
