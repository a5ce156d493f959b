"""The index room: the text form of tfrecord2idx, damage and mistakes, and records in any order from many files."""

import mmap
import os
import pickle
import signal
import struct
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.conftest import manifest
from tests.damage import flip
from tests.frames import FRAME, HEADER, expect, frame, frames, header, offsets
from tests.wire_writer import example, feature
from tfrecord_fast import IndexedReader, RecordIndex, _core
from tfrecord_fast.errors import DataLossError, InvalidArgumentError

RECORDS = [b"one", b"", bytes(range(256)), b"four" * 300, b"\0"]
MANY = [b"%d," % i * (1 + i % 97) for i in range(2000)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    return path


def text_index(data):
    """The text form as tfrecord2idx writes it, made by itself: no CRC looked at, no code shared."""
    lines, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0] + 8 + 4 + 4
        lines.append(f"{at} {size}\n")
        at += size
    return "".join(lines).encode()


def write(folder, parts):
    """Files of the given records; their paths."""
    paths = []
    for i, records in enumerate(parts):
        paths.append(str(folder / f"{i:05}.tfrecord"))
        (folder / f"{i:05}.tfrecord").write_bytes(frames(records))
    return paths


def core_reader(paths, **options):
    """The core's reader with what no user can set: few open files, no mapping."""
    indexes = _core._open_indexes([(os.fsencode(path), None) for path in paths], 1)
    options = {"verify_crc": True, "num_threads": 2, **options}
    return _core.RandomReader([os.fsencode(path) for path in paths], indexes, **options)


# ---- RecordIndex ----


def test_saved_index_is_what_tfrecord2idx_writes(path, tmp_path):
    RecordIndex.build(path).save(tmp_path / "a.idx")
    assert (tmp_path / "a.idx").read_bytes() == text_index(path.read_bytes())


@pytest.mark.parametrize("row", [row for row in manifest() if not row["compression"]], ids=lambda row: row["file"])
def test_index_of_real_file_is_what_tfrecord2idx_writes(row, data_dir, tmp_path):
    data = (data_dir / row["file"]).read_bytes()
    records, error = expect(data)
    if error is not None:
        with pytest.raises(DataLossError) as caught:
            IndexedReader(data_dir / row["file"]).take(range(1))
        assert (caught.value.offset, caught.value.record_index) == error[:2]
        return
    index = RecordIndex.build(data_dir / row["file"])
    index.save(tmp_path / "idx")
    assert (tmp_path / "idx").read_bytes() == text_index(data)
    assert list(IndexedReader(data_dir / row["file"], indexes=tmp_path / "idx")) == records


@pytest.mark.parametrize("row", [row for row in manifest() if row["compression"]], ids=lambda row: row["file"])
def test_compressed_real_file_can_not_be_indexed(row, data_dir):
    with pytest.raises(InvalidArgumentError, match=f"compressed .{row['compression']}"):
        RecordIndex.build(data_dir / row["file"])


def test_loaded_index_equals_the_built_one(path, tmp_path):
    built = RecordIndex.build(path)
    built.save(tmp_path / "idx")
    assert RecordIndex.load(tmp_path / "idx") == built


def test_offsets_and_sizes_are_int64_and_count_the_frame(path):
    index = RecordIndex.build(path)
    assert index.offsets.dtype == index.sizes.dtype == np.int64
    assert index.offsets.tolist() == offsets(RECORDS)[:-1]
    assert index.sizes.tolist() == [len(record) + FRAME for record in RECORDS]


def test_arrays_outlive_the_index_and_are_read_only(path):
    sizes = RecordIndex.build(path).sizes
    assert sizes[0] == 3 + FRAME
    with pytest.raises(ValueError, match="read-only"):
        sizes[0] = 1


def test_indexes_compare_by_value(path):
    index = RecordIndex.build(path)
    assert index == RecordIndex(index.offsets, index.sizes.tolist())
    assert index != RecordIndex([0], [19])
    assert index != index.offsets.tolist()
    with pytest.raises(TypeError):
        hash(index)


def test_index_pickles(path):
    index = RecordIndex.build(path)
    assert pickle.loads(pickle.dumps(index)) == index


def test_empty_file_has_an_empty_index(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    RecordIndex.build(tmp_path / "a").save(tmp_path / "idx")
    assert (tmp_path / "idx").read_bytes() == b""
    assert len(RecordIndex.load(tmp_path / "idx")) == 0


@pytest.mark.parametrize("kind", [str, os.fsencode, lambda path: path, lambda path: f"file://{path}"])
def test_index_takes_any_kind_of_path(path, kind):
    assert len(RecordIndex.build(kind(path))) == len(RECORDS)


@given(st.lists(st.integers(0, 400_000), min_size=1, max_size=30))
def test_index_is_right_for_records_of_any_size(tmp_path_factory, sizes):
    data = frames([bytes(size) for size in sizes])
    path = tmp_path_factory.mktemp("sizes") / "a"
    path.write_bytes(data)
    RecordIndex.build(path).save(f"{path}.idx")
    assert open(f"{path}.idx", "rb").read() == text_index(data)


def test_index_of_small_records_between_large_ones_is_right(tmp_path):
    sizes = [3] * 5000 + [300_000] * 40 + [7] * 9000 + [150_000, 5] * 30
    data = frames([bytes(size) for size in sizes])
    (tmp_path / "a").write_bytes(data)
    assert (RecordIndex.build(tmp_path / "a").sizes - FRAME).tolist() == sizes


def test_large_text_survives_the_round_trip(tmp_path):
    sizes = np.random.default_rng(0).integers(16, 10**9, 200_000)
    index = RecordIndex(np.cumsum(sizes) - sizes, sizes)
    index.save(tmp_path / "idx")
    lines = [f"{offset} {size}\n" for offset, size in zip(index.offsets.tolist(), sizes.tolist(), strict=True)]
    assert (tmp_path / "idx").read_text() == "".join(lines)
    assert RecordIndex.load(tmp_path / "idx") == index


@pytest.mark.parametrize("text", ["0 19\n19 16\n", "0 19\n19 16", "0 19\r\n19 16\r\n", " 0\t19 \n\n19  16\n\n"])
def test_blanks_and_line_ends_of_other_writers_are_taken(tmp_path, text):
    (tmp_path / "idx").write_text(text, newline="")
    assert RecordIndex.load(tmp_path / "idx") == RecordIndex([0, 19], [19, 16])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 19\n19\n", 'line 2: expected "offset size", got "19"'),
        ("0 19 7\n", "line 1: expected"),
        ("0,19\n", "line 1: expected"),
        ("0 19\n19 x\n", 'line 2: expected "offset size", got "19 x"'),
        ("0 19\n\n19 -16\n", "line 3: expected"),
        ("0 19\n19 99999999999999999999\n", "line 2: expected"),
        ("0 19\n9223372036854775800 100\n", "line 2: size 100 is more"),
        ("0 15\n", "line 1: size 15 is less than the 16"),
        ("0 19\n18 19\n", "line 2: offset 18 lies before byte 19"),
        ("0 19\n0 19\n", "line 2: offset 0 lies before byte 19"),
        ("0 19\n" + " " * 3_000_000 + "\n", "a line of more than"),
        ("7" * 3_000_000, "line 1: expected .*…"),
        ("0 19\n\0\xff\n", 'line 2: .* got "\\?'),
    ],
)
def test_wrong_text_is_named_by_its_line(tmp_path, text, words):
    (tmp_path / "bad.idx").write_text(text)
    with pytest.raises(InvalidArgumentError, match=f"bad.idx: {words}"):
        RecordIndex.load(tmp_path / "bad.idx")


@pytest.mark.parametrize("arrays", [([0], [15]), ([0, 5], [19, 19]), ([-1], [19]), ([0, 1], [19]), ([2**63 - 1], [16])])
def test_impossible_arrays_are_refused(arrays):
    with pytest.raises(InvalidArgumentError):
        RecordIndex(*arrays)


def test_saving_replaces_and_leaves_nothing_else(path, tmp_path):
    (tmp_path / "idx").write_text("old")
    RecordIndex.build(path).save(tmp_path / "idx")
    assert (tmp_path / "idx").read_bytes() == text_index(path.read_bytes())
    assert sorted(os.listdir(tmp_path)) == ["a.tfrecord", "idx"]


def test_saving_writes_through_a_link(path, tmp_path):
    (tmp_path / "idx").symlink_to(tmp_path / "target")
    RecordIndex.build(path).save(tmp_path / "idx")
    assert (tmp_path / "idx").is_symlink()
    assert len(RecordIndex.load(tmp_path / "target")) == len(RECORDS)


def test_saving_where_there_is_no_folder_names_the_path(path, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        RecordIndex.build(path).save(tmp_path / "no" / "idx")
    assert caught.value.filename == str(tmp_path / "no" / "idx")


@pytest.mark.parametrize("make", [RecordIndex.build, RecordIndex.load, lambda path: len(IndexedReader(path))])
def test_missing_file_is_named(tmp_path, make):
    with pytest.raises(FileNotFoundError) as caught:
        make(tmp_path / "missing")
    assert caught.value.filename == str(tmp_path / "missing")


def test_pipe_can_not_be_indexed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    holder = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(InvalidArgumentError, match="not a regular file"):
            RecordIndex.build(tmp_path / "pipe")
    finally:
        os.close(holder)


# ---- Damage ----


def test_every_cut_of_a_file_is_found(tmp_path):
    data = frames(RECORDS[:3])
    ends = offsets(RECORDS[:3])
    for length in range(len(data)):
        (tmp_path / "a").write_bytes(data[:length])
        if length in ends:
            assert len(RecordIndex.build(tmp_path / "a")) == ends.index(length)
            continue
        with pytest.raises(DataLossError, match="truncated record") as caught:
            RecordIndex.build(tmp_path / "a")
        at = sum(end <= length for end in ends) - 1
        assert (caught.value.path, caught.value.offset, caught.value.record_index) == (
            str(tmp_path / "a"), ends[at], at)  # fmt: skip


@pytest.mark.parametrize("bit", range(8 * HEADER))
def test_every_flip_in_a_header_is_found(tmp_path, bit):
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
def test_index_of_another_file_is_found_out(tmp_path, way):
    paths = write(tmp_path, [[b"abc", b"defg"], [b"abcd", b"efg"]])
    reader = IndexedReader(paths[0], indexes=RecordIndex.build(paths[1]))
    with pytest.raises(DataLossError, match="the index expects 4 bytes, the header says 3.*Does the index belong") as caught:
        reads(reader, 0)[way]()
    assert caught.value.record_index == 0
    with pytest.raises(DataLossError, match="CRC of its length is wrong.*Does the index belong") as caught:
        reads(reader, 1)[way]()
    assert (caught.value.offset, caught.value.record_index) == (20, 1)


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


@pytest.mark.parametrize("options", ["GZIP", "ZLIB", "ZSTD"])
def test_compressed_file_with_an_index_is_told(path, tmp_path, options):
    with tf.io.TFRecordWriter(tmp_path / "packed", options) as writer:
        writer.write_batch([os.urandom(3000)])
    reader = IndexedReader(tmp_path / "packed", indexes=RecordIndex.build(path))
    with pytest.raises(InvalidArgumentError, match=options):
        reader[0]
    with pytest.raises(InvalidArgumentError, match=options):
        reader.take([0])


@pytest.mark.parametrize("way", range(4))
def test_file_cut_behind_our_back_is_an_error(tmp_path, way):
    (path,) = write(tmp_path, [MANY])
    reader = IndexedReader(path)
    assert reader[:].tolist() == MANY  # mapped, and all its pages touched
    os.truncate(path, 5000)
    with pytest.raises(DataLossError, match="the file ends at byte 5000"):
        reads(reader, 1500)[way]()
    assert reader[0] == MANY[0]


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


@pytest.mark.parametrize("when", ["before", "after"])
def test_cut_file_is_survived_beside_faulthandler(tmp_path, when):
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


def test_bus_error_that_is_not_ours_ends_the_process_as_ever(path):
    assert run(SIGNAL.format(before=""), path).returncode == -signal.SIGBUS


def test_bus_error_that_is_not_ours_goes_to_the_handler_before(path):
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


# ---- IndexedReader ----

PARTS = [MANY[:700], [], MANY[700:701], [b"", b"", b""], MANY[701:], [bytes([i]) * 40_000 for i in range(20)]]
ALL = [record for part in PARTS for record in part]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write(tmp_path_factory.mktemp("parts"), PARTS)


@pytest.fixture(scope="module")
def reader(paths):
    return IndexedReader(paths)


@pytest.fixture(scope="module", params=[(True, 128), (False, 128), (True, 1), (False, 2)], ids=str)
def any_reader(paths, request):
    map_files, max_open_files = request.param
    return core_reader(paths, map_files=map_files, max_open_files=max_open_files, num_threads=3)


def test_len_counts_the_records_of_all_files(reader):
    assert len(reader) == len(ALL)


def test_iterating_gives_all_records_in_order(reader):
    assert list(reader) == ALL


@given(indices=st.lists(st.integers(-len(ALL), len(ALL) - 1), max_size=300))
def test_take_is_list_indexing(any_reader, indices):
    assert any_reader.take(np.array(indices, np.int64)).tolist() == [ALL[i] for i in indices]


@given(start=st.integers(0, len(ALL)), step=st.integers(1, 9), count=st.integers(0, 800), seed=st.integers(0, 99))
def test_take_of_neighbours_in_any_order_is_list_indexing(any_reader, start, step, count, seed):
    indices = np.arange(start, len(ALL), step)[:count]
    np.random.default_rng(seed).shuffle(indices)
    assert any_reader.take(indices).tolist() == [ALL[i] for i in indices]


@given(st.slices(len(ALL)))
def test_slices_are_list_slices(reader, piece):
    assert reader[piece].tolist() == ALL[piece]


@given(i=st.integers(-len(ALL), len(ALL) - 1))
def test_one_record_is_list_indexing(reader, any_reader, i):
    assert reader[i] == any_reader.record(i) == ALL[i]


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64])
def test_numpy_integers_are_indices(reader, kind):
    assert reader[kind(7)] == ALL[7]
    assert reader.take(np.array([7, 3], kind)).tolist() == reader.__getitems__([kind(7), kind(3)]) == [ALL[7], ALL[3]]


@pytest.mark.parametrize("indices", [(5, 3), range(9, 2, -3), {4: None}.keys(), iter([1, 2]), np.array([3, 1])[::-1]])
def test_any_kind_of_indices_is_taken(reader, indices):
    expected = [ALL[i] for i in indices] if not hasattr(indices, "__next__") else ALL[1:3]
    assert reader.take(indices).tolist() == expected


@pytest.mark.parametrize("indices", [[], (), np.array([]), np.empty(0, int), range(0)])
def test_no_indices_give_no_records(reader, indices):
    assert reader.take(indices).tolist() == reader.__getitems__(indices) == []


@pytest.mark.parametrize("i", [len(ALL), -len(ALL) - 1, 2**62, 2**63, -(2**63) - 1, 2**64 - 1, 10**30])
def test_index_out_of_range_raises(reader, i):
    for read in (lambda: reader[i], lambda: reader.take([0, i]), lambda: reader.__getitems__([i])):
        with pytest.raises(IndexError, match=str(i) if abs(i) < 2**62 else ""):
            read()


def test_unsigned_indices_do_not_wrap_around(reader):
    with pytest.raises(IndexError):
        reader.take(np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize("i", [1.0, "1", None, b"1", [1], np.float32(1)])
def test_what_is_no_integer_is_no_index(reader, i):
    with pytest.raises(TypeError):
        reader[i]
    with pytest.raises(TypeError):
        reader.take([i])


@pytest.mark.parametrize("indices", [[True, False], np.array([True]), [[1, 2]], np.array(3), 3, [1.5]])
def test_what_are_no_integers_are_no_indices(reader, indices):
    with pytest.raises(TypeError):
        reader.take(indices)


def test_a_batch_outlives_the_reader_and_the_files(tmp_path):
    (path,) = write(tmp_path, [MANY])
    batch = IndexedReader(path).take(range(2000))
    os.truncate(path, 0)
    assert batch.tolist() == MANY


def test_records_may_be_as_long_as_they_like(tmp_path):
    records = [os.urandom(size) for size in (5_000_000, 1, 3_000_000, 0)]
    (path,) = write(tmp_path, [records])
    assert IndexedReader(path).take([2, 3, 0, 1]).tolist() == [records[i] for i in (2, 3, 0, 1)]


def test_what_is_not_in_the_page_cache_is_read(tmp_path):
    (path,) = write(tmp_path, [MANY])
    for _ in range(2):
        with open(path) as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        reader = IndexedReader(path, indexes=RecordIndex(*index_arrays(MANY)))
        for _ in range(2):
            assert reader.take(range(1999, -1, -1)).tolist() == MANY[::-1]


def index_arrays(records):
    return offsets(records)[:-1], [len(record) + FRAME for record in records]


def test_records_appended_later_are_not_there_yet(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    reader = IndexedReader(path)
    assert len(reader) == len(RECORDS)
    with open(path, "ab") as file:
        file.write(frame(b"more"))
    assert reader[-1] == RECORDS[-1]
    assert IndexedReader(path)[-1] == b"more"


def test_a_file_that_grew_is_read_where_the_index_says(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    reader = IndexedReader(path, indexes=RecordIndex(*index_arrays([*RECORDS, b"more"])))
    assert reader[0] == RECORDS[0]  # the file is open, and mapped
    with open(path, "ab") as file:
        file.write(frame(b"more"))
    assert reader[-1] == reader.take([-1])[0] == b"more"


# ---- Files and indexes as arguments ----


def test_patterns_and_lists_are_taken(paths):
    folder = os.path.dirname(paths[0])
    assert list(IndexedReader([f"{folder}/0000[0-3]*", [folder + "/00004.tfrecord"], paths[5]])) == ALL


def test_files_are_told(paths):
    assert IndexedReader(paths).files == paths


def test_pattern_without_a_match_raises_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        IndexedReader(f"{tmp_path}/*.tfrecord")


def test_no_files_are_no_records():
    reader = IndexedReader([])
    assert (len(reader), list(reader), reader[:].tolist()) == (0, [], [])


@pytest.mark.parametrize("url", ["s3://bucket/a.tfrecord", "https://host/a.tfrecord"])
def test_url_is_refused(url):
    with pytest.raises(ValueError, match="local"):
        IndexedReader(url)
    with pytest.raises(ValueError, match="local"):
        RecordIndex.build(url)


@pytest.mark.parametrize("make", [IndexedReader, RecordIndex.build, RecordIndex.load])
def test_file_object_is_refused(path, make):
    with open(path, "rb") as file, pytest.raises(TypeError, match="only a path"):
        make(file)


def test_indexes_are_taken_in_every_form(paths, tmp_path):
    built = [RecordIndex.build(path) for path in paths]
    for i, index in enumerate(built):
        index.save(tmp_path / f"{i}.idx")
    forms = [built[0], tmp_path / "1.idx", None, str(tmp_path / "3.idx"), built[4], os.fsencode(tmp_path / "5.idx")]
    reader = IndexedReader(paths, indexes=forms)
    assert reader.indexes == built
    assert list(reader) == ALL
    assert IndexedReader(paths, indexes=f"{tmp_path}/*.idx").indexes == built


@pytest.mark.parametrize("indexes", [[], [None], [None] * 7])
def test_as_many_indexes_as_files_are_needed(paths, indexes):
    with pytest.raises(ValueError, match="6 files"):
        IndexedReader(paths, indexes=indexes)


def test_index_beside_the_file_is_not_used_unasked(path):
    path.with_suffix(".tfrecord.idx").write_text("0 17\n")
    assert list(IndexedReader(path)) == RECORDS


def test_error_of_the_first_file_is_the_one_reported(tmp_path):
    paths = write(tmp_path, [MANY] * 8)
    os.truncate(paths[3], 100)
    os.truncate(paths[6], 100)
    for _ in range(10):
        with pytest.raises(DataLossError) as caught:
            len(IndexedReader(paths, num_threads=4))
        assert caught.value.path == paths[3]


def test_reader_recovers_when_a_file_comes(tmp_path):
    reader = IndexedReader(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        len(reader)
    (tmp_path / "a").write_bytes(frames(RECORDS))
    assert len(reader) == len(RECORDS)


# ---- Features ----

FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "name": tf.FixedLenFeature([], tf.string),
    "list": tf.VarLenFeature(tf.float32),
}


def examples(count):
    return [
        example(
            [
                (b"id", feature("int64", [i])),
                (b"name", feature("bytes", [b"n%d" % i])),
                (b"list", feature("float", [0.5] * (i % 4))),
            ]
        )
        for i in range(count)
    ]


def test_take_gives_columns(tmp_path):
    records = examples(500)
    reader = IndexedReader(write(tmp_path, [records[:300], records[300:]]), FEATURES)
    got = reader.take([400, 3, 3, -1])
    assert got["id"].tolist() == [400, 3, 3, 499]
    assert got["name"].tolist() == [b"n400", b"n3", b"n3", b"n499"]
    assert got["list"].row_splits.tolist() == [0, 0, 3, 6, 9]
    assert reader[10:13]["id"].tolist() == [10, 11, 12]


def test_one_record_gives_values(tmp_path):
    records = examples(50)
    reader = IndexedReader(write(tmp_path, [records]), FEATURES)
    assert (reader[7]["id"], reader[7]["name"], reader[7]["list"].values.tolist()) == (7, b"n7", [0.5] * 3)
    assert [item["id"] for item in reader.__getitems__([4, 2])] == [4, 2]
    assert [item["id"] for item in reader] == list(range(50))


@pytest.mark.parametrize("read", [lambda r: r[1], lambda r: r.take([0, 1]), lambda r: r.__getitems__([0, 1]), list])
def test_record_that_does_not_fit_is_named(tmp_path, read):
    records = examples(2)
    records[1] = example([(b"id", feature("bytes", [b"x"]))])
    paths = write(tmp_path, [records])
    with pytest.raises(InvalidArgumentError, match=f"(?s){paths[0]}.*record 1"):
        read(IndexedReader(paths, FEATURES))


def test_features_that_can_not_be_are_refused_at_once(path):
    with pytest.raises(ValueError):
        IndexedReader(path, {"id": tf.FixedLenFeature([], "no such type")})
    with pytest.raises(ValueError):
        IndexedReader(path, {})


# ---- Life ----


def descriptors(folder):
    """How many files under `folder` this process has open."""
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            pass
    return sum(link.startswith(str(folder)) for link in links)


def test_open_files_are_bounded(tmp_path):
    parts = [[b"%d/%d" % (f, i) for i in range(20)] for f in range(300)]
    reader = IndexedReader(write(tmp_path, parts), num_threads=4)
    indices = np.random.default_rng(0).integers(0, 6000, 5000)
    for _ in range(3):
        assert reader.take(indices).tolist() == [b"%d/%d" % divmod(i, 20) for i in indices.tolist()]
        assert 0 < descriptors(tmp_path) <= 128
    for i in indices[:500].tolist():
        assert reader[i] == b"%d/%d" % divmod(i, 20)
    assert descriptors(tmp_path) <= 128
    del reader
    assert descriptors(tmp_path) == 0


def test_several_threads_share_a_reader(paths):
    reader = IndexedReader(paths, num_threads=2)
    barrier = threading.Barrier(8)

    def work(seed):
        barrier.wait()
        indices = np.random.default_rng(seed).integers(0, len(ALL), 700).tolist()
        return all(
            reader.take(indices).tolist() == [ALL[i] for i in indices] and reader[indices[0]] == ALL[indices[0]]
            for _ in range(20)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_no_thread_is_left_after_a_call(paths):
    reader = IndexedReader(paths, num_threads=8)
    before = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        reader.take(range(len(ALL)))
        assert len(os.listdir("/proc/self/task")) <= before


@pytest.mark.parametrize("built", [False, True])
def test_reader_pickles(paths, built):
    reader = IndexedReader(paths, verify_crc=False, num_threads=3)
    if built:
        len(reader)
    copy = pickle.loads(pickle.dumps(reader))
    assert (copy.files, list(copy)) == (paths, ALL)


def test_pickle_carries_the_index(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    reader = IndexedReader(path)
    len(reader)
    with open(path, "ab") as file:
        file.write(b"not a record")  # building it anew would fail
    assert list(pickle.loads(pickle.dumps(reader))) == RECORDS


def test_reader_with_features_pickles(tmp_path):
    reader = IndexedReader(write(tmp_path, [examples(5)]), FEATURES)
    assert pickle.loads(pickle.dumps(reader))[3]["id"] == 3


def child_reads(reader, indices, results):
    results.put(reader.take(indices).tolist())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_reader_works_in_child_processes(paths, method):
    reader = IndexedReader(paths)
    reader.take([0])
    context = get_context(method)
    results = context.Queue()
    children = [context.Process(target=child_reads, args=(reader, [5, 900, -1], results)) for _ in range(2)]
    for child in children:
        child.start()
    assert [results.get(timeout=60) for _ in children] == [[ALL[5], ALL[900], ALL[-1]]] * 2
    for child in children:
        child.join()
    assert reader.take([5]).tolist() == [ALL[5]]


def test_fork_while_threads_read_does_not_hang_the_child(paths):
    reader = IndexedReader(paths, num_threads=2)
    len(reader)
    stop = threading.Event()

    def hammer():
        while not stop.is_set():
            reader.take(range(0, len(ALL), 3))

    threads = [threading.Thread(target=hammer) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0 if reader.take([3, 1]).tolist() == [ALL[3], ALL[1]] and reader[2] == ALL[2] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
