"""io.TFRecordWriter: what it accepts, what reaches the file, and when."""

import contextlib
import gc
import io
import os
import pickle
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import FRAME, frame, frames

RECORDS = [b"one", b"", b"three"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.tfrecord"


# ---- Bytes ----


def test_the_file_is_the_frames_and_nothing_else(path):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in RECORDS:
            assert writer.write(record) is None
    assert path.read_bytes() == frames(RECORDS)


def test_a_known_frame(path):
    """As TensorFlow 2.21 writes it."""
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"abc")
    assert path.read_bytes().hex() == "0300000000000000b099490e6162636e57f121"


@pytest.mark.parametrize(
    "record",
    [b"abc", bytearray(b"abc"), memoryview(b"abc"), np.frombuffer(b"abc", np.uint8), "abc", np.bytes_(b"abc")],
)
def test_any_bytes_like_object_or_str_is_a_record(path, record):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(record)
    assert path.read_bytes() == frame(b"abc")


def test_str_is_written_as_utf8(path):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write("zwölf")
    assert path.read_bytes() == frame("zwölf".encode())


def test_a_str_that_is_not_utf8_is_refused_and_nothing_written(path):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(UnicodeEncodeError):
        writer.write("\ud800")
    assert path.read_bytes() == b""


@pytest.mark.parametrize("record", [None, 7, 1.5, ["a"], object()])
def test_what_is_not_a_record_is_a_type_error_and_nothing_written(path, record):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError, match=type(record).__name__):
        writer.write(record)
    assert path.read_bytes() == b""


def test_memory_with_gaps_is_refused(path):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError, match="contiguous"):
        writer.write(memoryview(b"abcdef")[::2])
    assert path.read_bytes() == b""


def test_items_wider_than_a_byte_are_refused(path):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError, match="ndarray of int32"):
        writer.write(np.arange(5, dtype="<i4"))
    assert path.read_bytes() == b""


@pytest.mark.parametrize("size", [(64 << 10) + d for d in (-17, -16, -1, 0, 1)] + [(512 << 10) - 16, 3 << 20])
def test_records_around_the_buffers_size_keep_their_order(path, size):
    records = [b"before", bytes(size), b"between", bytes(size), b"after"]
    with tf.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    assert path.read_bytes() == frames(records)


def test_records_that_fill_the_buffer_to_the_byte(path):
    for spare in range(-20, 21):
        records = [b"x" * (1024 - FRAME)] * 511 + [b"y" * (1024 - FRAME + spare)] + [b"z"] * 3
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
        assert path.read_bytes() == frames(records)


@pytest.mark.parametrize("size", [1, 100, 4095, 70_000])
def test_a_pipe_that_takes_only_parts_gets_every_byte(tmp_path, size):
    """A full pipe takes what there is room for, which ends anywhere: in a header, in a record, before a footer."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    got = []
    thread = threading.Thread(target=lambda: got.extend(iter(lambda: os.read(reader, 5003), b"")), daemon=True)
    writer = tf.io.TFRecordWriter(tmp_path / "pipe")
    thread.start()
    records = [bytes([n]) * (size if n % 2 else 300_001) for n in range(1, 9)]
    for record in records:
        writer.write(record)
    writer.close()
    thread.join()
    os.close(reader)
    assert b"".join(got) == frames(records)


# ---- Batches ----


@pytest.mark.parametrize("kind", [list, tuple, lambda r: np.array(r, object), tf._core.record_batch])
def test_a_batch_of_any_kind_is_its_records_in_order(path, kind):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(kind(RECORDS))
    assert path.read_bytes() == frames(RECORDS)


def test_a_slice_of_a_batch_is_written_in_its_order(path):
    batch = tf._core.record_batch([b"%d" % i for i in range(20)])
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(batch[3:15:4])
        writer.write_batch(batch[::-7])
    assert path.read_bytes() == frames([b"3", b"7", b"11", b"19", b"12", b"5"])


def test_a_batch_with_something_else_in_it_is_refused_whole_and_its_place_named(path):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError, match="record 2 is not bytes-like"):
        writer.write_batch([b"a", b"b", 3])
    assert path.read_bytes() == b""


@pytest.mark.parametrize("batch", [b"abc", "abc", 7, None, {b"a": 1}])
def test_what_is_not_a_batch_is_a_type_error(path, batch):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError):
        writer.write_batch(batch)


def test_an_empty_batch_writes_nothing(path):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([])
    assert path.read_bytes() == b""


def test_records_written_counts_both_ways_of_writing(path):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"a")
        writer.write_batch(RECORDS)
        assert writer.records_written == 4


# ---- Targets ----


@pytest.mark.parametrize("kind", [str, os.fsencode, Path])
def test_a_path_of_any_kind_is_written(path, kind):
    with tf.io.TFRecordWriter(kind(path)) as writer:
        writer.write(b"abc")
    assert path.read_bytes() == frame(b"abc")


def test_a_file_url_is_a_path(path):
    with tf.io.TFRecordWriter(f"file://{path}") as writer:
        writer.write(b"abc")
    assert path.read_bytes() == frame(b"abc")


def test_an_fsspec_url_is_written():
    fsspec = pytest.importorskip("fsspec")
    with tf.io.TFRecordWriter("memory://writer/out.tfrecord", "GZIP") as writer:
        writer.write_batch(RECORDS)
    assert list(tf.data.TFRecordDataset("memory://writer/out.tfrecord")) == RECORDS
    assert fsspec.filesystem("memory").size("/writer/out.tfrecord") > 0


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
def test_a_file_object_is_written_and_left_open(compression):
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file, compression) as writer:
        writer.write_batch(RECORDS)
    assert not file.closed
    assert list(tf.data.TFRecordDataset(bytearray(file.getvalue()))) == RECORDS


def test_a_file_object_that_takes_only_a_part_is_given_the_rest():
    class Reluctant(io.BytesIO):
        def write(self, data):
            return super().write(bytes(data[:7]))

    file = Reluctant()
    with tf.io.TFRecordWriter(file) as writer:
        writer.write_batch([b"x" * 100, b"y" * 100_000])
    assert file.getvalue() == frames([b"x" * 100, b"y" * 100_000])


def test_what_a_file_object_raises_is_raised():
    class Broken:
        def write(self, data):
            raise ZeroDivisionError("at home")

    writer = tf.io.TFRecordWriter(Broken())
    writer.write(b"abc")
    with pytest.raises(ZeroDivisionError, match="at home"):
        writer.flush()
    with contextlib.suppress(Exception):  # the state of the file is no longer known
        writer.close()


def test_an_existing_file_is_cut_to_nothing(path):
    path.write_bytes(b"x" * 1000)
    tf.io.TFRecordWriter(path).close()
    assert path.read_bytes() == b""


def test_a_missing_folder_is_file_not_found_immediately(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tf.io.TFRecordWriter(str(tmp_path / "none" / "out"))
    assert caught.value.filename == str(tmp_path / "none" / "out")


@pytest.mark.parametrize("given", [None, 7, 1.5, ["a"]])
def test_what_is_not_a_target_is_a_type_error(given):
    with pytest.raises(TypeError):
        tf.io.TFRecordWriter(given)


# ---- Flush and close ----


def test_nothing_is_on_disk_until_flush(path):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"abc")
        assert path.stat().st_size == 0
        assert writer.flush() is None
        assert path.stat().st_size == 19


def test_close_is_idempotent(path):
    writer = tf.io.TFRecordWriter(path)
    writer.write(b"abc")
    assert not writer.closed
    assert writer.close() is None and writer.close() is None
    assert writer.closed and path.read_bytes() == frame(b"abc")


@pytest.mark.parametrize("late", [lambda w: w.write(b"x"), lambda w: w.write_batch([b"x"]), lambda w: w.flush()])
def test_after_close_the_writer_says_so(path, late):
    writer = tf.io.TFRecordWriter(path)
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"Writer is closed\."):
        late(writer)
    assert path.read_bytes() == b""


def test_the_with_statement_closes_after_an_exception_too(path):
    with pytest.raises(ZeroDivisionError), tf.io.TFRecordWriter(path) as writer:
        writer.write(b"abc")
        raise ZeroDivisionError
    assert writer.closed and path.read_bytes() == frame(b"abc")


def test_a_writer_that_is_dropped_is_closed(path):
    writer = tf.io.TFRecordWriter(path, "GZIP")
    writer.write(b"abc")
    del writer
    gc.collect()
    assert list(tf.data.TFRecordDataset(path)) == [b"abc"]


def test_a_writer_drops_its_file_object():
    class File(io.BytesIO):
        pass

    file = File()
    gone = weakref.ref(file)
    writer = tf.io.TFRecordWriter(file)
    writer.write(b"abc")
    writer.close()
    del writer, file
    gc.collect()
    assert gone() is None


def test_a_subclass_may_add_to_it(path):
    class Counting(tf.io.TFRecordWriter):
        count = 0

        def write(self, record):
            self.count += 1
            super().write(record)

    with Counting(path) as writer:
        writer.write(b"abc")
    assert writer.count == 1 and path.read_bytes() == frame(b"abc")


def test_a_writer_does_not_pickle(path):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError):
        pickle.dumps(writer)


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("to_object", [False, True])
def test_threads_that_share_a_writer_lose_nothing(path, compression, to_object):
    target = io.BytesIO() if to_object else path
    with tf.io.TFRecordWriter(target, compression) as writer:

        def write(mine):
            for i in range(500):
                writer.write(b"%d %d" % (mine, i))
                if i % 100 == 0:
                    writer.flush()
                writer.write_batch([b"x" * 70_000] if i % 250 == 0 else [])

        threads = [threading.Thread(target=write, args=(mine,)) for mine in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    source = bytearray(target.getvalue()) if to_object else target
    records = [record for record in tf.data.TFRecordDataset(source) if len(record) < 100]
    assert sorted(records) == sorted(b"%d %d" % (mine, i) for mine in range(4) for i in range(500))
    for mine in range(4):
        assert [r for r in records if r.startswith(b"%d " % mine)] == [b"%d %d" % (mine, i) for i in range(500)]


# ---- Options ----


@pytest.mark.parametrize("options", ["", None, *(tf.io.TFRecordOptions(kind) for kind in (None, "", 0))])
def test_no_compression_by_any_name(path, options):
    with tf.io.TFRecordWriter(path, options) as writer:
        writer.write(b"abc")
    assert path.read_bytes() == frame(b"abc")


@pytest.mark.parametrize("options", ["GZIP", 2, tf.io.TFRecordOptions(tf.io.TFRecordOptions("GZIP"))])
def test_gzip_by_any_name(options):
    assert tf.io.TFRecordOptions.get_compression_type_string(options) == "GZIP"


@pytest.mark.parametrize("options", ["gzip", "LZ4", "none", 3, 1.5, b"GZIP"])
def test_an_unknown_compression_is_a_value_error(path, options):
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordWriter(path, options)
    assert not path.exists()


def test_options_may_be_replaced_by_any_object_with_the_same_attributes(path):
    class Theirs:
        compression_type = "ZLIB"
        flush_mode = input_buffer_size = output_buffer_size = window_bits = None
        compression_level, compression_method, mem_level, compression_strategy = 9, None, None, None

    with tf.io.TFRecordWriter(path, Theirs()) as writer:
        writer.write(b"abc")
    assert path.read_bytes()[:2] == b"\x78\xda"  # the header that says level 9


def test_python_io_has_the_same_writer():
    assert tf.python_io.TFRecordWriter is tf.io.TFRecordWriter is tf.TFRecordWriter


@pytest.mark.parametrize(
    ("value", "error"), [("a", TypeError), (1.0, TypeError), (1 << 40, ValueError), (-(1 << 31) - 1, ValueError)]
)
def test_a_parameter_that_is_no_small_integer_is_named(path, value, error):
    with pytest.raises(error, match="compression_level"):
        tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP", compression_level=value))
