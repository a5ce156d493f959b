"""SNAPPY: TensorFlow's blocks of raw Snappy. They are made here by hand, and by TensorFlow, which is the oracle.

What all codecs have in common is tested with the others: test_codec.py, test_damage.py, test_io_errors.py, ….
"""

import io
import os
import random
import subprocess
import sys
import threading

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.core.test_memory import LIMIT
from tests.support.compression import compress, snappy_block, unsnappy, varint
from tests.support.damage import every_cut, every_flip
from tests.support.frames import frames, header, offsets, read
from tests.support.peak_memory import PROLOGUE
from tfrecord_fast import _core

RECORDS = [b"one", b"", b"three" * 1000, bytes(range(256))]
EMPTY_BLOCK = snappy_block(varint(0))


def literal(data):
    """A literal, which carries its length in its tag, or after it in as few bytes as it takes."""
    last = len(data) - 1
    if last < 60:
        return bytes([last << 2]) + data
    size = (last.bit_length() + 7) // 8
    return bytes([59 + size << 2]) + last.to_bytes(size, "little") + data


def block(data, *elements):
    """A block of `data`, in the elements given or as one literal."""
    return snappy_block(varint(len(data)) + (b"".join(elements) or literal(data)))


def written(records, options="SNAPPY", **arguments):
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file, options, **arguments) as writer:
        writer.write_batch(records)
    return file.getvalue()


def sizes(data):
    """(compressed, uncompressed) of each block."""
    found = []
    while data:
        length = int.from_bytes(data[:4], "big")
        found.append((length, len(unsnappy(data[: 4 + length]))))
        data = data[4 + length :]
    return found


def detected(data):
    return _core.detect_compression(bytes(data))


def refused(data, records=()):
    """Why it is damage after the records."""
    got, error = read(data, compression_type="SNAPPY")
    assert got == list(records) and error.record_index == len(records)
    return error.reason


# ---- Reading ----


@pytest.mark.parametrize("size", [1, 59, 60, 61, 255, 256, 257, 65_535, 65_536, 65_537, 1 << 20])
def test_literals_of_every_size_are_read(size):
    record = random.Random(size).randbytes(size)
    assert read(block(frames([record])), compression_type=None) == ([record], None)


def test_copies_of_every_kind_are_read():
    zeros = frames([bytes(64)])
    head, body, tail = zeros[:12], b"\0", zeros[-4:]
    copies = {
        "one byte of offset": bytes([7 << 2 | 1, 1]) * 5 + bytes([4 << 2 | 1, 1]),  # 5 × 11 + 8
        "two bytes of offset": bytes([62 << 2 | 2, 1, 0]),
        "four bytes of offset": bytes([62 << 2 | 3, 1, 0, 0, 0]),
    }
    for what, copy in copies.items():
        data = block(zeros, literal(head + body), copy, literal(tail))
        assert read(data, compression_type=None) == ([bytes(64)], None), what


@pytest.mark.parametrize("step", [1, 7, 16, 1000])
def test_records_may_be_cut_into_blocks_anywhere(step):
    data = frames(RECORDS)
    blocks = b"".join(block(data[i : i + step]) for i in range(0, len(data), step))
    assert read(blocks, compression_type="SNAPPY") == (RECORDS, None)


def test_a_block_larger_than_tensorflows_buffers_is_read():
    records = [random.Random(0).randbytes(3_000_000), bytes(3_000_000)]
    data = snappy_block(pyarrow.compress(frames(records), "snappy", asbytes=True))
    for chunk in (64, 1 << 19):
        assert read(data, compression_type=None, chunk_bytes=chunk) == (records, None)


def test_empty_blocks_hide_nothing():
    data = EMPTY_BLOCK + block(frames([b"a"])) + EMPTY_BLOCK * 2 + block(frames([b"b"])) + EMPTY_BLOCK
    assert read(data, compression_type="SNAPPY") == ([b"a", b"b"], None)
    assert read(EMPTY_BLOCK, compression_type="SNAPPY") == ([], None)


def test_a_preamble_of_five_bytes_is_read():
    data = frames([b"a"])
    long = bytes([len(data) | 0x80, 0x80, 0x80, 0x80, 0])
    assert read(snappy_block(long + literal(data)), compression_type=None) == ([b"a"], None)


# ---- Claims and damage ----


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("an empty block", b"\0\0\0\0"),
        ("can't hold what it claims", b"\xff\xff\xff\xff" + varint(10) + bytes(100)),
        ("can't hold what it claims", snappy_block(varint(2**32 - 1) + literal(bytes(100)))),
        ("can't hold what it claims", snappy_block(b"\xff\xff\xff\xff\x7f" + literal(bytes(100)))),
        ("can't hold what it claims", snappy_block(b"\x80\x80\x80\x80\x80\x01")),
        ("is damaged", snappy_block(varint(2) + literal(b"abc"))),
        ("is damaged", snappy_block(varint(4) + literal(b"abc"))),
        ("is damaged", snappy_block(varint(8) + literal(b"abcd") + bytes([1, 5]))),  # a copy from before the start
        ("is damaged", snappy_block(varint(8) + literal(b"abcd") + bytes([1, 0]))),  # of offset 0
        ("is damaged", snappy_block(varint(9) + literal(b"abcd") + bytes([17 << 2]) + b"x")),
        ("a block is incomplete", b"\0\0"),
        ("a block is incomplete", b"\0\0\0\x05"),
        ("a block is incomplete", block(frames([b"a"]))[:-1]),
        ("a block is incomplete", b"\xff\xff\xff\xff" + varint(2**32 - 1) + bytes(100)),
    ],
)
def test_a_block_that_is_wrong_is_damage_after_what_precedes_it(what, data):
    assert what in refused(data)
    assert what in refused(block(frames(RECORDS)) + data, RECORDS)


def test_every_cut_inside_of_blocks_is_damage():
    records = [random.Random(i).randbytes(20) + bytes(40) for i in range(5)]
    blocks = [compress("SNAPPY", frames([record])) for record in records]
    data = b"".join(blocks)
    ends = [sum(map(len, blocks[:i])) for i in range(len(blocks))]
    for what, damaged in every_cut(data):
        for told in ("SNAPPY", None):
            got, error = read(damaged, compression_type=told)
            assert got == records[: len(got)] and (error is None) == (len(damaged) in ends), what


def test_every_flipped_bit_is_damage_or_changes_nothing():
    records = [random.Random(i).randbytes(20) + bytes(40) for i in range(3)]
    data = compress("SNAPPY", frames(records))
    for what, damaged in every_flip(data):
        got, error = read(damaged, compression_type="SNAPPY")
        assert got == records[: len(got)], what
        assert error is None if unsnappy(damaged) == frames(records) else error is not None, what
        if error is not None:
            assert (error.record_index, error.offset) == (len(got), offsets(records)[len(got)]), what


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff" + varint(2**32 - 1) + bytes(1000),
        b"\xff\xff\xff\xff" + varint(2**30) + bytes(1000),
        snappy_block(varint(2**32 - 1) + bytes(1000)),
        header(100)[:4] + bytes(1000),
    ],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for the peak")
@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers keep memory of their own")
def test_what_a_block_claims_is_not_allocated(tmp_path, data):
    path = tmp_path / "claims"
    path.write_bytes(block(frames([b"one"])) + data)
    code = """
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for _ in range(2):
    try:
        for record in tf.data.TFRecordDataset(sys.argv[1]):
            assert record == b"one"
    except tf.DataLossError as error:
        print(error.record_index, "SNAPPY" in error.reason)
print(peak())
"""
    done = subprocess.run([sys.executable, "-c", PROLOGUE + code, path], capture_output=True, text=True)
    *answers, peak = done.stdout.split("\n")[:-1]
    assert answers == ["1 True"] * 2 and int(peak) < LIMIT, done.stderr


@given(st.binary(max_size=300), st.booleans())
@settings(max_examples=500)
def test_anything_is_read_as_the_reference_reads_it(data, framed):
    data = snappy_block(data) if framed else data
    records, error = read(data, compression_type="SNAPPY")
    assert records == [] or error is None or len(records) > 0
    if unsnappy(data) is None:
        assert error is not None
    else:
        assert (records, error is None) == (lambda r: (r[0], r[1] is None))(read(unsnappy(data), compression_type=""))


# ---- Detection ----


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
def test_detection_asks_for_no_more_than_it_needs(kind):
    """A pipe that holds one record, and no more, must not be waited for: the bytes asked for are always there."""
    data = compress(kind, frames([b"x"]))
    head = b""
    while wanted := _core.bytes_to_detect(head):
        assert len(head) + wanted <= len(data)
        head = data[: len(head) + wanted]
    assert detected(head) == kind and len(head) <= 128


@pytest.mark.parametrize("size", range(16))
def test_a_head_that_is_too_short_to_tell_asks_for_more(size):
    data = block(frames([b""]))
    assert _core.bytes_to_detect(data[:size]) > 0 and detected(data[:size]) == ""


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_elements_of_any_size_are_detected(step):
    data = frames([b"abc"])
    elements = [literal(data[i : i + step]) for i in range(0, len(data), step)]
    assert detected(block(data, *elements)[:128]) == "SNAPPY"


def test_the_longest_way_to_write_a_header_is_within_the_bytes_that_detection_sees():
    data = frames([b"abc"])
    elements = [bytes([63 << 2, 0, 0, 0, 0, byte]) for byte in data]
    head = snappy_block(bytes([len(data) | 0x80, 0x80, 0x80, 0x80, 0]) + b"".join(elements))
    assert detected(head[:128]) == "SNAPPY" and read(head, compression_type=None) == ([b"abc"], None)


def test_a_header_whose_crc_is_wrong_is_not_detected():
    data = bytearray(frames([b"abc"]))
    data[9] ^= 1
    assert detected(block(bytes(data))) == ""


def test_a_first_block_that_holds_no_whole_header_is_not_detected():
    data = frames([b"abc"])
    assert detected(block(data[:11]) + block(data[11:])) == ""
    assert detected(EMPTY_BLOCK + block(data)) == ""


def test_a_first_block_whose_literal_is_longer_than_it_claims_is_not_detected():
    data = frames([b"abc"])
    assert detected(block(data)) == "SNAPPY"
    assert detected(snappy_block(varint(11) + literal(data))) == ""


def test_a_header_that_is_there_twice_is_uncompressed():
    """A first header whose own CRC holds decides, whatever else the bytes could be."""
    assert detected(frames([block(frames([b"a"]))])) == ""


@given(st.binary(max_size=140))
@settings(max_examples=500)
def test_detection_always_ends(data):
    for size in range(len(data) + 1):
        assert _core.bytes_to_detect(data[:size]) <= 128
        detected(data[:size])


@pytest.mark.parametrize("data", [frames([b"x"]), compress("SNAPPY", frames([b"x"])), written([b"x"])])
def test_a_pipe_gives_its_first_record_before_the_second_is_written(data):
    reading, writing = os.pipe()
    os.write(writing, data)
    with open(reading, "rb", buffering=0) as pipe:
        records = iter(tf.data.TFRecordDataset(pipe))
        got = []
        reader = threading.Thread(target=lambda: got.append(next(records)))
        reader.start()
        reader.join(20)
        os.close(writing)
        assert got == [b"x"]
        assert list(records) == []


def test_the_command_line_detects_it_in_a_pipe(tmp_path):
    data = written([b"x", b"y"])
    command = [sys.executable, "-m", "tfrecord_fast", "info", "--json", "-"]
    done = subprocess.run(command, input=data, capture_output=True)
    assert done.returncode == 0 and b'"SNAPPY"' in done.stdout, done


# ---- Writing ----


def test_blocks_fit_tensorflows_buffers():
    records = [random.Random(0).randbytes(700_000), bytes(700_000), b"x" * 1000]
    found = sizes(written(records))
    assert max(max(pair) for pair in found) <= 256 << 10
    assert sum(uncompressed for _, uncompressed in found) == len(frames(records))


def test_a_file_without_records_is_empty():
    """As TensorFlow writes it."""
    assert written([]) == b""


def test_the_bytes_do_not_depend_on_the_number_of_threads(tmp_path):
    records = [random.Random(i).randbytes(i % 5000) for i in range(2000)]
    answers = set()
    for threads in (1, 2, 5):
        with tf.io.TFRecordWriter(tmp_path / "a", "SNAPPY", num_threads=threads) as writer:
            writer.write_batch(records)
        answers.add((tmp_path / "a").read_bytes())
    assert len(answers) == 1 and unsnappy(answers.pop()) == frames(records)


def test_several_threads_may_write_to_one_writer(tmp_path):
    def work(number):
        for i in range(300):
            writer.write(b"%d.%d" % (number, i) * 100)

    with tf.io.TFRecordWriter(tmp_path / "a", "SNAPPY") as writer:
        threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    got = list(tf.data.TFRecordDataset(tmp_path / "a"))
    assert sorted(got) == sorted(b"%d.%d" % (number, i) * 100 for number in range(4) for i in range(300))


@pytest.mark.parametrize("level", [-1, 0, 6])
def test_a_level_is_refused_before_a_file_is_touched(tmp_path, level):
    options = tf.io.TFRecordOptions("SNAPPY", compression_level=level)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"compression_level {level}: SNAPPY has no levels"):
        tf.io.TFRecordWriter(tmp_path / "never", options)
    assert not (tmp_path / "never").exists()


@given(st.lists(st.binary(max_size=3000), max_size=30), st.integers(0, 30), st.integers(64, 5000))
@settings(max_examples=100)
def test_what_is_written_is_read_and_is_what_the_reference_inflates(records, flush_at, chunk):
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file, "SNAPPY") as writer:
        writer.write_batch(records[:flush_at])
        writer.flush()
        writer.write_batch(records[flush_at:])
    data = file.getvalue()
    assert unsnappy(data) == frames(records)
    assert read(data, compression_type=None, chunk_bytes=chunk) == (records, None)


@pytest.mark.parametrize("threads", [1, 3])
def test_shards_are_read_by_several_threads(tmp_path, threads):
    records = [b"%d" % i * (i % 300) for i in range(5000)]
    paths = [tmp_path / f"{i}" for i in range(4)]
    for i, path in enumerate(paths):
        path.write_bytes(written(records[i::4]))
    reader = tf.ShardReader(paths, num_threads=threads, compression_type="SNAPPY")
    assert [r for batch in reader for r in batch] == [r for i in range(4) for r in records[i::4]]


# ---- TensorFlow ----


def theirs_write(path, records, flush_every):
    from tensorflow.python.lib.io import _pywrap_record_io

    writer = _pywrap_record_io.RecordWriter(path, _pywrap_record_io.RecordWriterOptions("SNAPPY"))
    for i, record in enumerate(records, 1):
        writer.write(record)
        if flush_every and i % flush_every == 0:
            writer.flush()
    writer.close()


def theirs_read(path):
    return list(tf.data.TFRecordDataset(path, compression_type="SNAPPY").as_numpy_iterator())


def some_records():
    rng = random.Random(0)
    text = [b"%d and %d make %d. " % (i, i * 7, i * 8) * rng.randrange(9) for i in range(3000)]
    return [b"", *text, rng.randbytes(1_000_000), b"\0" * 300_000, rng.randbytes(200_000), b"", b"end"]


@pytest.mark.parametrize("records", [[], [b""] * 10_000, some_records()], ids=["none", "empty", "many"])
def test_tensorflow_reads_what_we_wrote(tensorflow, tmp_path, records):
    path = tmp_path / "ours"
    path.write_bytes(written(records))
    assert tensorflow(theirs_read, str(path)) == records


def test_tensorflow_reads_what_flush_acknowledged(tensorflow, tmp_path):
    path = str(tmp_path / "open")
    with tf.io.TFRecordWriter(path, "SNAPPY") as writer:
        for n in (1, 2, 3):
            writer.write(b"record %d" % n)
            writer.flush()
            assert tensorflow(theirs_read, path) == [b"record %d" % i for i in range(1, n + 1)]


def test_tensorflow_reads_what_was_appended(tensorflow, tmp_path):
    path = str(tmp_path / "longer")
    for record in (b"one", b"two" * 100_000, b"three"):
        with tf.io.TFRecordWriter(path, "SNAPPY", append=True) as writer:
            writer.write(record)
    assert tensorflow(theirs_read, path) == [b"one", b"two" * 100_000, b"three"]


@pytest.mark.parametrize("flush_every", [0, 1, 100])
def test_what_tensorflow_wrote_is_read(tensorflow, tmp_path, flush_every):
    """Among it a block of a megabyte, which TensorFlow's own reader does not take."""
    path = str(tmp_path / "theirs")
    tensorflow(theirs_write, path, some_records(), flush_every)
    for told in ("SNAPPY", None):
        for chunk, threads in ((64, 0), (4096, 1), (1 << 20, 2)):
            answer = read(path, compression_type=told, chunk_bytes=chunk, num_threads=threads)
            assert answer == (some_records(), None)


def test_append_continues_after_tensorflows_blocks(tensorflow, tmp_path):
    path = str(tmp_path / "theirs")
    tensorflow(theirs_write, path, [b"a", b"b"], 0)
    with tf.io.TFRecordWriter(path, "SNAPPY", append=True) as writer:
        writer.write(b"c")
    assert tensorflow(theirs_read, path) == [b"a", b"b", b"c"]
