"""The index room and damage: files that are cut, flipped, swapped or removed while they are read."""

import mmap
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.faults import preload
from tests.support.damage import flip
from tests.support.frames import HEADER, frames, header, offsets
from tests.support.index_files import MANY, RECORDS, core_reader, write
from tfrecord_fast import IndexedReader, RecordIndex
from tfrecord_fast.errors import DataLossError, InvalidArgumentError

# It comes between a signal and its handler.
no_thread_sanitizer = pytest.mark.skipif("thread" in tf.build_info()["sanitizers"], reason="makes bus errors fatal")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    return path


def test_every_cut_of_a_file_is_found(tmp_path):
    path, data, ends = tmp_path / "a", frames(RECORDS[:3]), offsets(RECORDS[:3])
    for length in sorted(set(range(len(data))) - set(ends)):
        path.write_bytes(data[:length])
        with pytest.raises(DataLossError, match="truncated record") as caught:
            RecordIndex.build(path)
        record = sum(end <= length for end in ends) - 1
        error = caught.value
        assert (error.path, error.offset, error.record_index) == (str(path), ends[record], record)


def test_a_file_cut_between_records_has_the_index_of_what_is_left(tmp_path):
    for records, length in enumerate(offsets(RECORDS[:3])):
        (tmp_path / "a").write_bytes(frames(RECORDS[:3])[:length])
        assert len(RecordIndex.build(tmp_path / "a")) == records


def test_every_flip_in_a_header_is_found(tmp_path):
    for bit in range(8 * HEADER):
        at = offsets(RECORDS)[3]
        (tmp_path / "a").write_bytes(flip(frames(RECORDS), 8 * at + bit))
        with pytest.raises(DataLossError, match="the CRC of its length is wrong") as caught:
            RecordIndex.build(tmp_path / "a")
        assert (caught.value.offset, caught.value.record_index) == (at, 3)


@pytest.mark.parametrize("claim", [10**12, 2**62, 2**63, 2**64 - 16, 2**64 - 1])
def test_a_claim_beyond_the_end_costs_nothing(tmp_path, claim):
    (tmp_path / "a").write_bytes(frames(RECORDS) + header(claim) + b"rest")
    with pytest.raises(DataLossError) as caught:
        RecordIndex.build(tmp_path / "a")
    assert caught.value.record_index == len(RECORDS)


@pytest.mark.parametrize("map_files", [True, False])
@pytest.mark.parametrize("single", [True, False])
def test_damaged_data_is_found_and_only_there(tmp_path, map_files, single):
    data = frames(MANY)
    at = offsets(MANY)[1234]
    (tmp_path / "a").write_bytes(flip(data, 8 * (at + HEADER) + 3))
    reader = core_reader([tmp_path / "a"], map_files=map_files)
    read = reader.record if single else lambda i: reader.take(np.array([i - 1, i, i + 1]))
    with pytest.raises(DataLossError, match="data bytes is wrong") as caught:
        read(1234)
    assert (caught.value.path, caught.value.offset, caught.value.record_index) == (str(tmp_path / "a"), at, 1234)
    assert reader.record(1233) == MANY[1233]


def test_damaged_data_passes_if_it_is_not_to_be_checked(tmp_path):
    (tmp_path / "a").write_bytes(flip(frames([b"abc"]), 8 * HEADER))
    reader = IndexedReader(tmp_path / "a", verify_crc=False)
    assert reader[0] == reader.take([0])[0] == b"`bc"


def test_the_first_damage_in_the_files_is_the_one_reported(tmp_path):
    paths = write(tmp_path, [MANY, MANY])
    for path, record in [(paths[0], 1900), (paths[1], 3), (paths[1], 1999)]:
        data = open(path, "rb").read()
        open(path, "wb").write(flip(data, 8 * (offsets(MANY)[record] + HEADER)))
    reader = IndexedReader(paths, num_threads=4)
    for _ in range(20):
        with pytest.raises(DataLossError) as caught:
            reader.take(np.arange(4000)[::-1])
        assert (caught.value.path, caught.value.record_index) == (paths[0], 1900)


def reads(reader, i):
    """Every way to a record."""
    return [lambda: reader[i], lambda: reader.take([i]), lambda: reader.take(range(i, len(reader))), lambda: reader[i:]]


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize(
    ("record", "words", "offset"),
    [(0, "expects 4 bytes, the header says 3", 0), (1, "CRC of its length is wrong", 20)],
    ids=["another length", "no header"],
)
def test_index_of_another_file_is_noticed(tmp_path, way, record, words, offset):
    paths = write(tmp_path, [[b"abc", b"defg"], [b"abcd", b"efg"]])
    reader = IndexedReader(paths[0], indexes=RecordIndex.build(paths[1]))
    with pytest.raises(DataLossError, match=rf"{words}.*Does the index belong") as caught:
        reads(reader, record)[way]()
    assert (caught.value.offset, caught.value.record_index) == (offset, record)


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("size", [17, 10**13, 2**62])
def test_index_that_claims_more_than_the_file_costs_nothing(path, size, way):
    end = os.path.getsize(path)
    reader = IndexedReader(path, indexes=RecordIndex([0, end], [19, size]))
    assert reader[0] == b"one"
    with pytest.raises(DataLossError, match=f"the file ends at byte {end}") as caught:
        reads(reader, 1)[way]()
    assert (caught.value.path, caught.value.offset, caught.value.record_index) == (str(path), end, 1)


def test_index_may_leave_records_out(path):
    index = RecordIndex.build(path)
    reader = IndexedReader(path, indexes=RecordIndex(index.offsets[::2], index.sizes[::2]))
    assert reader[:].tolist() == RECORDS[::2]


@pytest.mark.parametrize("options", ["GZIP", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("read", [lambda reader: reader[0], lambda reader: reader.take([0])], ids=["one", "take"])
def test_compressed_file_with_an_index_is_recognised(path, tmp_path, options, read):
    with tf.io.TFRecordWriter(tmp_path / "packed", options) as writer:
        writer.write_batch([os.urandom(3000)])
    reader = IndexedReader(tmp_path / "packed", indexes=RecordIndex.build(path))
    with pytest.raises(InvalidArgumentError, match=options):
        read(reader)


@no_thread_sanitizer
@pytest.mark.parametrize("way", range(4))
def test_file_cut_after_it_was_mapped_is_an_error(tmp_path, way):
    (path,) = write(tmp_path, [MANY])
    reader = IndexedReader(path)
    assert reader[:].tolist() == MANY  # mapped, and all its pages touched
    os.truncate(path, 5000)
    with pytest.raises(DataLossError, match="the file ends at byte 5000"):
        reads(reader, 1500)[way]()
    assert reader[0] == MANY[0]


@no_thread_sanitizer
def test_file_cut_while_threads_read_it_is_an_error(tmp_path):
    (path,) = write(tmp_path, [MANY])
    reader = IndexedReader(path, num_threads=2)
    data = frames(MANY)

    def read():
        for _ in range(300):
            try:
                assert reader.take(range(2000)).tolist() == MANY
            except DataLossError:
                pass

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        os.truncate(path, 4096)
        with open(path, "r+b") as file:
            file.write(data)
    for thread in threads:
        thread.join()
    assert reader.take(range(2000)).tolist() == MANY


def run(code, *arguments):
    """Runs Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


CUT = """
import faulthandler, os, sys
import tfrecord_fast as tf
{before}
reader = tf.IndexedReader(sys.argv[1])
n = len(reader[:])
{after}
for _ in range(3):
    os.truncate(sys.argv[1], 5000)
    try:
        reader[n - 1]
    except tf.DataLossError as error:
        print("cut at", error.record_index == n - 1)
"""


@no_thread_sanitizer
@pytest.mark.parametrize("when", ["before", "after"])
def test_cut_file_is_survived_with_faulthandler(tmp_path, when):
    (path,) = write(tmp_path, [MANY])
    done = run(CUT.format(**{"before": "", "after": "", when: "faulthandler.enable()"}), path)
    assert (done.returncode, done.stdout) == (0, "cut at True\n" * 3), done.stderr


SIGNAL = """
import os, signal, sys
import tfrecord_fast as tf

{before}
assert tf.IndexedReader(sys.argv[1])[0] == b"one"
os.kill(os.getpid(), signal.SIGBUS)
print("alive")
"""


def test_bus_error_that_is_not_ours_ends_the_process_as_usual(path):
    assert run(SIGNAL.format(before=""), path).returncode == -signal.SIGBUS


@no_thread_sanitizer
def test_bus_error_that_is_not_ours_goes_to_the_previous_handler(path):
    done = run(SIGNAL.format(before='signal.signal(signal.SIGBUS, lambda *_: print("handled"))'), path)
    assert (done.returncode, done.stdout) == (0, "handled\nalive\n")


def test_bus_error_in_someone_elses_mapping_ends_the_process(path, tmp_path):
    (tmp_path / "b").write_bytes(bytes(2 * mmap.PAGESIZE))
    code = """
    import ctypes, mmap, os, sys
    import tfrecord_fast as tf
    assert tf.IndexedReader(sys.argv[1])[0] == b"one"
    file = open(sys.argv[2], "r+b")
    mapping = mmap.mmap(file.fileno(), 0)
    os.truncate(sys.argv[2], 0)
    ctypes.string_at(ctypes.addressof(ctypes.c_char.from_buffer(mapping)), 1)
    """
    assert run(code, path, tmp_path / "b").returncode == -signal.SIGBUS


@pytest.mark.parametrize("map_files", [True, False])
def test_of_a_cut_file_the_first_missing_record_is_named(tmp_path, map_files):
    records = [bytes(20_000)] * 6
    (tmp_path / "a").write_bytes(frames(records))
    reader = core_reader([tmp_path / "a"], map_files=map_files)
    assert len(reader.take(np.arange(6))) == 6
    os.truncate(tmp_path / "a", offsets(records)[3] + 5)
    with pytest.raises(DataLossError) as caught:
        reader.take(np.arange(6))
    assert caught.value.record_index == 3


def test_a_record_that_does_not_fit_is_named_by_its_number(tmp_path):
    records = tf.encode_examples({"a": [[1]] * 9 + [[1, 2]]}).tolist()
    (tmp_path / "a").write_bytes(frames(records))
    reader = IndexedReader(tmp_path / "a", {"a": tf.FixedLenFeature([], tf.int64)})
    for numbers in ([0, 9, 2], [2, 3, 9], [9]):
        with pytest.raises(InvalidArgumentError, match=r"record 9\b"):
            reader.take(numbers)


SHORT_READS = """
import sys
import tfrecord_fast as tf
from tests.faults.preload import SHORT, Faults

faults = Faults()
whole = tf.RecordIndex.build(sys.argv[1])
faults.arm(["read", "pread"], everywhere=False)
tf.RecordIndex.build(sys.argv[1])
for k in range(1, faults.disarm() + 1):
    faults.arm(["read", "pread"], k, SHORT, everywhere=False)
    found = tf.RecordIndex.build(sys.argv[1])
    faults.disarm()
    assert found.offsets.tolist() == whole.offsets.tolist(), k
print(len(whole))
"""


@pytest.mark.skipif(not preload.available(), reason="needs a compiler")
@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers have the same calls in their hands")
def test_headers_that_come_in_pieces(tmp_path):
    (tmp_path / "a").write_bytes(frames([bytes(300_000)] * 20))
    done = subprocess.run(
        [sys.executable, "-c", SHORT_READS, tmp_path / "a"], env=preload.environment(), capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("20\n", 0), done.stderr
