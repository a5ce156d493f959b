"""`tfrecord-fast view`: what the server gives of files, records and values."""

import io
import os
import wave

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tests.support.viewer import viewing
from tfrecord_fast.cli.commands.view import sources


def write(path, *records, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(list(records))
    return path


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def labels(count, **more):
    return [example(label=("int64", [i]), **more) for i in range(count)]


def png(width=3, height=2):
    made = io.BytesIO()
    pytest.importorskip("PIL.Image").new("RGB", (width, height), (1, 2, 3)).save(made, "PNG")
    return made.getvalue()


def wav():
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(1600))
    return made.getvalue()


# ---- Records ----


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
def test_every_record_is_reached_in_any_order(tmp_path, compression):
    with viewing(write(tmp_path / "a", *labels(500), compression=compression)) as viewer:
        for record in (0, 499, 3, 250, 2):
            assert viewer.features(record)["label"]["values"] == [{"number": str(record)}]
        assert "problem" in viewer.ask("api/record", record=500)
        assert viewer.ask("api/record", record=1)["count"] == 500


def test_a_record_is_said_with_kind_size_and_place(tmp_path):
    first, second = example(a=("int64", [1])), b"some words"
    with viewing(write(tmp_path / "a", first, second)) as viewer:
        made = viewer.ask("api/record", record=1)
        assert (made["kind"], made["size"], made["offset"], made["count"]) == ("text", 10, len(first) + 16, 2)
        assert made["tree"]["values"] == [{"size": 10, "text": "some words", "more": 0}]


def test_values_of_all_kinds(tmp_path):
    record = wire.example(
        [
            (b"x", wire.feature("float", [0.1, float("nan"), 1.0])),
            (b"n", wire.feature("int64", [2**63 - 1, -(2**63)])),
            (b"raw", wire.feature("bytes", [b"\xff\x00"])),
            (b"none", b""),
            (b"nothing", wire.feature("float", [])),
        ]
    )
    with viewing(write(tmp_path / "a", record)) as viewer:
        features = viewer.features()
        assert [one["number"] for one in features["x"]["values"]] == ["0.1", "nan", "1.0"]
        assert [one["number"] for one in features["n"]["values"]] == ["9223372036854775807", "-9223372036854775808"]
        assert features["raw"]["values"] == [{"size": 2, "hex": "ff 00", "name": ""}]
        assert features["none"]["kind"] == "none" and features["nothing"]["count"] == 0


def test_features_are_sorted_by_name_and_the_last_of_a_name_counts(tmp_path):
    record = wire.example([(b"b", wire.feature("int64", [n])) for n in (1, 2)] + [(b"a", b"")])
    with viewing(write(tmp_path / "a", record)) as viewer:
        assert [*viewer.features()] == ["a", "b"]
        assert viewer.features()["b"]["values"] == [{"number": "2"}]


def test_unpacked_numbers_are_read_in_their_order(tmp_path):
    packed, single = wire.field(1, wire.varint(1) + wire.varint(2)), wire.varint(1 << 3) + wire.varint(7)
    record = wire.example([(b"a", wire.field(3, single + packed + single + packed))])
    with viewing(write(tmp_path / "a", record)) as viewer:
        assert [one["number"] for one in viewer.features()["a"]["values"]] == ["7", "1", "2", "7", "1", "2"]


def test_long_lists_are_shown_in_parts_and_as_text(tmp_path):
    values = range(5000)
    with viewing(write(tmp_path / "a", example(v=("int64", values)))) as viewer:
        shown = viewer.features()["v"]
        assert shown["count"] == 5000 and len(shown["values"]) < 100
        seen = [one["number"] for one in shown["values"]]
        while len(seen) < 5000:
            seen += [one["number"] for one in viewer.ask("api/part", place=shown["place"], first=len(seen))["values"]]
        assert seen == [str(one) for one in values]
        text = viewer.get("text", place=shown["place"])
        assert text.content.decode().split() == seen and text.headers["Content-Type"].startswith("text/plain")


def test_long_text_is_cut_and_whole_as_text(tmp_path):
    words = "zwölf " * 1000
    with viewing(write(tmp_path / "a", example(s=("bytes", [words.encode()])))) as viewer:
        (shown,) = viewer.features()["s"]["values"]
        assert words.startswith(shown["text"]) and len(shown["text"]) + shown["more"] == len(words)
        assert viewer.get("text", place="0.0").content.decode() == words + "\n"


def test_many_features_come_in_parts(tmp_path):
    with viewing(write(tmp_path / "a", example(**{f"f{i:03}": ("int64", [i]) for i in range(250)}))) as viewer:
        tree = viewer.ask("api/record")["tree"]
        assert tree["count"] == 250 and len(tree["items"]) == 100
        last = viewer.ask("api/part", first=200)["items"]
        assert [one["name"] for one in last] == [f"f{i}" for i in range(200, 250)]


def test_sequence_examples_have_context_and_steps(tmp_path):
    record = wire.sequence_example(
        [(b"id", wire.feature("bytes", [b"x"]))], [(b"t", [wire.feature("int64", [1]), wire.feature("int64", [2, 3])])]
    )
    with viewing(write(tmp_path / "a", record)) as viewer:
        context, lists = viewer.ask("api/record")["tree"]["items"]
        assert context["items"][0]["values"][0]["text"] == "x"
        assert [one["values"] for one in lists["items"][0]["items"]] == [
            [{"number": "1"}],
            [{"number": "2"}, {"number": "3"}],
        ]


def test_names_that_are_not_utf8_or_not_visible_are_escaped(tmp_path):
    record = wire.example([(b"\xff\xfe", b""), ("a\u202eb\n".encode(), b""), (b"", b""), ("schön".encode(), b"")])
    with viewing(write(tmp_path / "a", record)) as viewer:
        assert {*viewer.features()} == {"", "a\\u202eb\\n", "schön", "\\xff\\xfe"}


def test_messages_in_messages_are_shown_by_field(tmp_path):
    record = wire.varint(4 << 3) + b"\x01" + wire.field(5, wire.varint(1 << 3) + b"\x07") + wire.field(6, b"words")
    with viewing(write(tmp_path / "a", record)) as viewer:
        four, five, six = viewer.ask("api/record")["tree"]["items"]
        assert four["values"] == [{"number": "1"}] and five["items"][0]["values"] == [{"number": "7"}]
        assert (six["name"], six["values"][0]["text"]) == ("6", "words")


@pytest.mark.skipif(not manifest(), reason="needs the real files")
@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["file"])
def test_real_files_are_shown(row):
    path = REAL_FILES / row["file"]
    file = sources.File(sources.CoreFile(os.fsencode(path)), "auto", sources.StoreSettings(None))
    if sources.look_at(file) is not None:
        return  # no TFRecord file: test_kinds.py has them
    with viewing(path) as viewer:
        made = viewer.ask("api/record", record=0)
        if int(row["records"] or 0):
            assert made["kind"] and made["tree"]
            # Records behind damage are shown too, which TensorFlow does not reach.
            last = viewer.ask("api/record", record=int(row["records"]) - 1)
            assert last["kind"] and last["tree"] and (last["count"] or 0) >= int(row["records"]) * bool(last["count"])


# ---- Images and sound ----


def test_images_and_sound_are_sent_as_what_they_are(tmp_path):
    parts = {"image/png": png(), "audio/wav": wav(), "image/gif": b"GIF89a" + bytes([3, 0, 2, 0, 0, 0, 0])}
    with viewing(write(tmp_path / "a", example(v=("bytes", parts.values())))) as viewer:
        shown = viewer.features()["v"]["values"]
        assert [one["media"] for one in shown] == ["image", "audio", "image"]
        assert (shown[0]["width"], shown[0]["height"]) == (3, 2)
        for number, (type, content) in enumerate(parts.items()):
            answer = viewer.get("bytes", place=f"0.{number}")
            assert (answer.headers["Content-Type"], answer.content) == (type, content)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def mp3_frames(count):
    head = b"\xff\xfb\x90\x00"  # MPEG-1, layer III, 128 kbit/s, 44.1 kHz: 417 bytes
    return (head + bytes(417 - 4)) * count


@pytest.mark.parametrize(
    ("data", "type"),
    [
        (b"fLaC" + bytes(50), "audio/flac"),
        (b"OggS" + bytes(50), "audio/ogg"),
        (mp3_frames(2), "audio/mpeg"),
        (b"ID3\x04" + bytes(20), "audio/mpeg"),
        (b"\xff\xd8\xff\xe0" + bytes(20), "image/jpeg"),
        (b"RIFF\x10\0\0\0WEBPVP8 " + bytes(20), "image/webp"),
        (b"BM" + (60).to_bytes(4, "little") + bytes(54), "image/bmp"),
        (mp3_frames(1), None),
        (b"\xff\xfb\x90\x00" + bytes(1000), None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", None),
        (b"<!doctype html><script>alert(1)</script>", None),
        (b"%PDF-1.4", None),
        (b"\xff\xfe", None),
    ],
)
def test_only_what_is_known_to_be_harmless_has_a_type_of_its_own(tmp_path, data, type):
    with viewing(write(tmp_path / "a", data)) as viewer:
        answer = viewer.get("bytes")
        assert answer.content == data
        assert answer.headers["Content-Type"] == (type or "application/octet-stream")
        assert (answer.headers["Content-Disposition"] is None) == (type is not None)


def test_parts_of_sound_are_sent_for_seeking(tmp_path):
    with viewing(write(tmp_path / "a", wav())) as viewer:
        whole = viewer.get("bytes").content
        for asked, part in (("0-3", whole[:4]), ("100-", whole[100:]), ("-5", whole[-5:]), ("0-99999999", whole)):
            answer = viewer.get("bytes", headers={"Range": f"bytes={asked}"})
            assert answer.content == part and answer.status == (200 if part == whole else 206)


# ---- Conditions ----


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_records_that_fit_are_found_both_ways(tmp_path, compression):
    with viewing(write(tmp_path / "a", *labels(2000), compression=compression)) as viewer:
        find = {"where": "label == 700 or label == 1500"}
        assert viewer.ask("api/find", record=0, **find) == {"found": 700}
        assert viewer.ask("api/find", record=700, **find) == {"found": 700}
        assert viewer.ask("api/find", record=701, **find) == {"found": 1500}
        assert viewer.ask("api/find", record=1501, **find) == {"found": None}
        assert viewer.ask("api/find", record=10**15, back=1, **find) == {"found": 1500}
        assert viewer.ask("api/find", record=1500, back=1, **find) == {"found": 700}
        assert viewer.ask("api/find", record=700, back=1, **find) == {"found": None}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("label ==", "the end"),
        ("", "the end"),
        ("(" * 10_000, "too many nested"),
        ("label == 'x'", "record 0"),
        ("label == " + "9" * 5000, "too long"),
    ],
)
def test_a_condition_that_does_not_fit_is_told(tmp_path, where, said):
    with viewing(write(tmp_path / "a", *labels(2))) as viewer:
        assert said in viewer.ask("api/find", where=where)["problem"]


def test_a_long_search_says_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrecord_fast.cli.commands.view.pages._PATIENCE", 0.0)
    with viewing(write(tmp_path / "a", *labels(2000))) as viewer:
        while "waiting" in viewer.get("api/record").json:
            pass
        made = viewer.get("api/find", where="label == 1999").json
        assert 0 < made["at"] < 2000 and "Searching" in made["waiting"]
        assert viewer.ask("api/find", where="label == 1999") == {"found": 1999}


# ---- Code ----


@pytest.mark.parametrize(
    "record",
    [
        example(
            a=("int64", [1]), b=("int64", range(300)), c=("float", [0.5, float("inf"), float("-inf"), -0.0, 1e-30])
        ),
        example(text=("bytes", ['zw"ölf\n\\'.encode(), b"\xff\x00", b""]), t=("bytes", [b"a" * 500])),
        wire.example([(b"n", b""), (b"i", wire.feature("int64", [])), (b"f", wire.feature("float", []))]),
        wire.example([(b"b", wire.feature("bytes", [])), ("schön 'x'".encode(), wire.feature("int64", [7]))]),
        wire.sequence_example(
            [(b"id", wire.feature("bytes", [b"x"]))],
            [(b"t", [wire.feature("int64", [1]), b"", wire.feature("float", [])]), (b"none", [])],
        ),
        b"words",
        b"\xff\xfe",
        b"",
    ],
)
def test_code_makes_the_record_again(tmp_path, record):
    with viewing(write(tmp_path / "a", b"first", record)) as viewer:
        made = run_code(viewer.ask("api/code", record=1)["code"])
        if isinstance(made, bytes):
            assert made == record
        else:
            assert made == type(made).FromString(record)


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("record", [example(big=("bytes", [bytes(1 << 20)])), wire.example([(b"\xff", b"")])])
def test_code_reads_what_it_can_not_make(tmp_path, record, compression):
    with viewing(write(tmp_path / "it's.tfrecord", b"first", record, compression=compression)) as viewer:
        code = viewer.ask("api/code", record=1)["code"]
        assert len(code) < 1000 and run_code(code) == record


def run_code(code):
    pytest.importorskip("google.protobuf")
    names = {}
    exec(code, names)
    return names["example"] if "example" in names else names["record"]


# ---- Files ----


def test_several_files_are_listed(tmp_path):
    paths = [write(tmp_path / name, *labels(count)) for name, count in (("a", 1), ("b", 3))]
    with viewing(*paths) as viewer:
        assert [one["path"] for one in viewer.ask("api/files")["files"]] == list(map(str, paths))
        assert viewer.ask("api/record", file=1, record=2)["count"] == 3
        assert viewer.get("api/record", file=2).status == 404


def test_an_index_beside_the_file_is_used_unless_it_is_of_another(tmp_path):
    path = write(tmp_path / "a", *labels(100))
    tf.RecordIndex.build(path).save(tmp_path / "a.idx")
    with viewing(path) as viewer:
        assert "a.idx" in viewer.ask("api/record", record=99)["way"]
    lines = (tmp_path / "a.idx").read_text().splitlines(keepends=True)
    for other in ("0 30\n30 30\n", "".join(lines[:50] + lines[51:]), "".join(lines[1:])):
        (tmp_path / "a.idx").write_text(other)
        with viewing(path) as viewer:
            made = viewer.ask("api/record", record=99)
            assert made["count"] == 100 and "in memory" in made["way"]


def test_an_empty_file_says_so(tmp_path):
    for compression in ("", "GZIP"):
        with viewing(write(tmp_path / "a", compression=compression)) as viewer:
            assert viewer.ask("api/record", record=0)["problem"] == "the file has no records"


def damage(path, *places):
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] ^= 1
    path.write_bytes(data)
    return path


def test_records_around_damaged_headers_are_shown_and_the_damage_is_said(tmp_path):
    path = write(tmp_path / "a", *labels(100))
    frame = path.stat().st_size // 100
    damage(path, frame * 10, frame * 50 + 14)
    path.write_bytes(path.read_bytes()[:-3])
    with viewing(path) as viewer:
        assert "fewer records" in viewer.ask("api/record", record=97)["problem"]
        made = viewer.ask("api/record", record=0)
        assert made["count"] == 97 and len(made["notes"]) == 3
        assert f"at byte {frame * 10:,}, {frame} bytes" in made["notes"][0] and "truncated" in made["notes"][2]
        seen = [int(viewer.features(record)["label"]["values"][0]["number"]) for record in range(97)]
        assert seen == [one for one in range(99) if one not in (10, 50)]
        assert viewer.ask("api/find", where="label == 98") == {"found": 96}


def test_a_record_with_damaged_data_is_said_and_the_others_keep_their_numbers(tmp_path):
    path = write(tmp_path / "a", *labels(300))
    damage(path, path.stat().st_size // 300 * 10 + 14)
    with viewing(path) as viewer:
        assert "CRC" in viewer.ask("api/record", record=10)["problem"]
        assert viewer.features(11)["label"]["values"] == [{"number": "11"}]
        assert viewer.ask("api/find", where="label == 12") == {"found": 12}
        assert viewer.ask("api/find", where="label == 9", record=20, back=1) == {"found": 9}


def test_the_intact_part_of_a_damaged_compressed_file_is_shown(tmp_path):
    path = write(tmp_path / "a", *[os.urandom(100) for _ in range(1000)], compression="GZIP")
    path.write_bytes(path.read_bytes()[:50_000])
    with viewing(path) as viewer:
        assert viewer.ask("api/record", record=100)["kind"]
        made = viewer.ask("api/record", record=10**6)
        assert 100 < made["count"] < 1000 and made["notes"]


def test_a_file_that_is_replaced_or_cut_is_an_error_and_no_crash(tmp_path):
    path = write(tmp_path / "a", *[example(x=("bytes", [bytes(1000)]))] * 5000)
    with viewing(path) as viewer:
        assert viewer.ask("api/record", record=4999)["kind"]
        with open(path, "r+b") as file:
            file.truncate(1 << 16)
        assert "problem" in viewer.ask("api/record", record=4000)
        path.unlink()
        viewer.ask("api/record", record=3)
        assert viewer.get("").status == 200


def test_a_record_that_is_too_large_is_named_and_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("tfrecord_fast.cli.commands.view.sources._MOST_RECORD", 1000)
    for compression in ("", "GZIP"):
        with viewing(write(tmp_path / "a", bytes(2000), *labels(2), compression=compression)) as viewer:
            assert "2,000 bytes" in viewer.ask("api/record", record=0)["problem"]
            assert viewer.features(2)["label"]["values"] == [{"number": "1"}]
