"""The framing and io rooms: every kind of input, read in pieces of every size by any number of threads."""

import contextlib
import gzip
import io
import os
import pickle
import random
import threading
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.damage import flip, insert, remove
from tests.frames import agrees, drain, frame, frames, header, offsets, read, stream
from tfrecord_fast._files import CoreFile

RECORDS = [b"one", b"", bytes(range(256)), b"four" * 300, b"\0"]
DATA = frames(RECORDS)
THREADS = [0, 1, 3]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(DATA)
    return path


def draw_records(rng, count=60, largest=300):
    """Many small, some longer than a region, some empty."""
    return [rng.randbytes(rng.choice([0, 1, rng.randrange(20), rng.randrange(largest)])) for _ in range(count)]


# ---- Inputs ----


class OnlyRead:
    """A file object with the least there can be; gives at most `most` bytes a call."""

    def __init__(self, data, most=None):
        self.file = io.BytesIO(data)
        self.most = most

    def read(self, size=-1):
        return self.file.read(size if self.most is None else min(size, self.most))


@pytest.mark.parametrize("kind", [str, os.fsencode, os.fspath, lambda path: path])
def test_a_path_of_any_kind_is_read(path, kind):
    assert list(tf.data.TFRecordDataset(kind(path))) == RECORDS


@pytest.mark.parametrize("kind", [bytearray, lambda data: memoryview(data), lambda data: memoryview(bytearray(data))])
def test_memory_is_read(kind):
    assert list(tf.data.TFRecordDataset(kind(DATA))) == RECORDS


@pytest.mark.parametrize(
    "kind", [io.BytesIO, OnlyRead, lambda data: OnlyRead(data, 1), lambda data: io.BufferedReader(io.BytesIO(data))]
)
def test_a_file_object_is_read_and_left_open(kind):
    file = kind(DATA)
    assert list(tf.data.TFRecordDataset(file)) == RECORDS
    assert not getattr(file, "closed", False)


@pytest.mark.parametrize("buffering", [0, -1])
def test_an_open_file_is_read_from_where_it_stands(path, buffering):
    with open(path, "rb", buffering) as file:
        file.seek(offsets(RECORDS)[2])
        assert list(tf.data.TFRecordDataset(file)) == RECORDS[2:]
        assert not file.closed


@pytest.mark.parametrize("kind", [io.BytesIO, "buffered", "raw", "gzip"])
def test_a_file_object_is_read_as_often_as_is_wanted(path, tmp_path, kind):
    with contextlib.ExitStack() as stack:
        if kind == "gzip":
            (tmp_path / "a.gz").write_bytes(gzip.compress(DATA))
            file = stack.enter_context(gzip.open(tmp_path / "a.gz"))
        else:
            opened = kind(DATA) if callable(kind) else open(path, "rb", -1 if kind == "buffered" else 0)
            file = stack.enter_context(opened)
        file.seek(offsets(RECORDS)[1])
        wanted = RECORDS[1:]
        dataset = tf.data.TFRecordDataset(file)
        assert list(dataset) == list(dataset) == wanted
        assert list(zip(dataset, dataset, strict=True)) == list(zip(wanted, wanted, strict=True))
        assert list(dataset.repeat(3)) == wanted * 3
        file.seek(0)
        reader = tf.ShardReader(file, num_epochs=3)
        assert [r for batch in reader for r in batch] == [r for batch in reader for r in batch] == RECORDS * 3


def test_what_can_not_seek_is_read_once(tmp_path):
    dataset = tf.data.TFRecordDataset(OnlyRead(DATA))
    assert list(dataset) == RECORDS
    with pytest.raises(tf.errors.InvalidArgumentError, match="can't seek, so it can be read only once"):
        list(dataset)
    with pytest.raises(ValueError, match="only once"):
        list(tf.data.TFRecordDataset(OnlyRead(DATA)).repeat(2))
    for buffering in (0, -1):
        out, into = os.pipe()
        with open(out, "rb", buffering) as file:
            os.write(into, DATA)
            os.close(into)
            dataset = tf.data.TFRecordDataset(file)
            assert list(dataset) == RECORDS
            with pytest.raises(ValueError, match="only once"):
                list(dataset)


def test_a_dataset_of_a_file_object_pickles():
    file = io.BytesIO(b"x" + DATA)
    file.seek(1)
    dataset = tf.data.TFRecordDataset(file)
    assert list(dataset) == list(pickle.loads(pickle.dumps(dataset))) == RECORDS


def test_a_pattern_may_be_bytes(tmp_path):
    for name in ("f1.x", "f2.x", "g1.x"):
        (tmp_path / name).write_bytes(frames([name.encode()]))
    pattern = os.fsencode(tmp_path / "f?.x")
    assert list(tf.data.TFRecordDataset(pattern)) == [b"f1.x", b"f2.x"]
    assert list(tf.IndexedReader(pattern)) == [b"f1.x", b"f2.x"]
    both = tf.data.Dataset.from_tensor_slices([pattern]).interleave(tf.data.TFRecordDataset, cycle_length=2)
    assert list(both) == [b"f1.x", b"f2.x"]
    with pytest.raises(FileNotFoundError, match="no file matches"):
        list(tf.data.TFRecordDataset(os.fsencode(tmp_path / "nope*")))
    (tmp_path / "a[1]").write_bytes(frames([b"itself"]))
    assert list(tf.data.TFRecordDataset(os.fsencode(tmp_path / "a[1]"))) == [b"itself"]


@pytest.mark.parametrize("reads", [10**6, 2**40])
def test_more_parallel_reads_than_files(path, reads):
    assert list(tf.data.TFRecordDataset([path, path], num_parallel_reads=reads)) == [r for r in RECORDS for _ in "ab"]
    with pytest.raises(ValueError, match="num_parallel_reads"):
        tf.data.TFRecordDataset(path, num_parallel_reads=2**64)


def test_a_pipe_is_read(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(DATA,))
    writer.start()
    assert list(tf.data.TFRecordDataset(str(fifo))) == RECORDS
    writer.join()


def test_records_of_a_slow_pipe_come_as_they_are_written():
    out, into = os.pipe()
    with open(out, "rb", 0) as reading, open(into, "wb", 0) as writing:
        records = iter(tf.data.TFRecordDataset(reading, ""))
        for record in (b"first", b"second"):
            writing.write(frame(record))
            assert next(records) == record
        writing.close()
        assert next(records, None) is None


def test_what_a_file_object_raises_is_raised():
    class Broken:
        def read(self, size):
            raise ZeroDivisionError("at home")

    with pytest.raises(ZeroDivisionError, match="at home"):
        list(tf.data.TFRecordDataset(Broken()))


def test_records_before_a_file_objects_error_are_given():
    class Broken(OnlyRead):
        def read(self, size=-1):
            data = super().read(size)
            if not data:
                raise ConnectionResetError("gone")
            return data

    records = iter(tf.data.TFRecordDataset(Broken(DATA, 64)))
    assert [next(records) for _ in RECORDS] == RECORDS
    with pytest.raises(ConnectionResetError, match="gone"):
        next(records)


@pytest.mark.parametrize("given", ["text", 7, None])
def test_a_file_object_that_gives_no_bytes_is_a_type_error(given):
    class Wrong:
        def read(self, size):
            return given

    with pytest.raises(TypeError):
        list(tf.data.TFRecordDataset(Wrong()))


def test_a_missing_file_is_file_not_found_with_its_name(tmp_path):
    missing = str(tmp_path / "none")
    with pytest.raises(FileNotFoundError) as caught:
        list(tf.data.TFRecordDataset(missing))
    assert caught.value.filename == missing


@pytest.mark.parametrize("path", ["a\0b", b"a\0b"])
@pytest.mark.parametrize("kind", [lambda path: path, lambda path: [path, path]])
def test_a_path_with_a_null_byte_names_no_file(tmp_path, monkeypatch, path, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(DATA)
    for reads in (tf.data.TFRecordDataset, tf.ShardReader):
        with pytest.raises(ValueError, match="null byte"):
            list(reads(kind(path)))


@pytest.mark.parametrize("names", [["a", "b"], ["a", "é"], ["b", "[ab]"], ["a:b", "a"], ["*"], ["a", b"b"]])
@pytest.mark.parametrize("reads", [tf.data.TFRecordDataset, lambda files: chain.from_iterable(tf.ShardReader(files))])
def test_a_list_of_paths_of_any_kind_is_read_in_its_order(tmp_path, monkeypatch, names, reads):
    monkeypatch.chdir(tmp_path)
    expected = []
    for name in names:
        found = ["a", "b"] if name in ("[ab]", "*") else [os.fsdecode(name)]
        for file in found:
            (tmp_path / file).write_bytes(frames([file.encode()]))
        expected += [file.encode() for file in found]
    assert list(reads(names)) == expected


def test_a_directory_is_refused_with_its_name(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        list(tf.data.TFRecordDataset(str(tmp_path)))
    assert caught.value.filename == str(tmp_path)


# ---- The four results ----


def test_an_empty_file_has_no_records():
    assert read(b"") == ([], None)


def test_a_clean_end_is_no_error():
    assert read(DATA) == (RECORDS, None)


def test_a_truncated_record_says_where_and_what_was_expected():
    records, error = read(DATA[:-1])
    assert records == RECORDS[:-1]
    assert (error.offset, error.record_index) == (offsets(RECORDS)[4], 4)
    assert "truncated record" in error.reason and "claims 1 bytes" in error.reason


def test_a_truncated_header_says_so():
    records, error = read(DATA + b"\0" * 5)
    assert records == RECORDS
    assert "expected a header of 12 bytes, got 5" in error.reason


def test_a_wrong_length_says_so():
    records, error = read(flip(DATA, 0))
    assert records == [] and "Is this even a TFRecord file?" in error.reason


def test_wrong_data_says_so():
    records, error = read(flip(DATA, 8 * 12))
    assert records == [] and "the CRC of its 3 data bytes is wrong" in error.reason


def test_errors_name_the_file(path):
    path.write_bytes(DATA[:-1])
    records, error = drain(tf.data.TFRecordDataset(str(path)))
    assert (records, error.path) == (RECORDS[:-1], str(path))


def test_a_file_name_that_is_no_text_is_named(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"\xff\xfe.tfrecord")
    with open(name, "wb") as file:
        file.write(DATA[:-1])
    _, error = drain(tf.data.TFRecordDataset(name))
    assert os.fsencode(error.path) == name


@pytest.mark.parametrize("claim", [2**40, 2**62 + 1, 2**63, 2**64 - 17, 2**64 - 1])
def test_a_claim_beyond_the_end_is_data_loss(claim, path):
    path.write_bytes(DATA + header(claim) + b"x" * 100)
    for source in (path, path.read_bytes()):
        records, error = read(source)
        assert records == RECORDS
        assert (error.offset, error.record_index) == (len(DATA), len(RECORDS))
        assert str(claim) in error.reason


def test_unverified_data_is_handed_on_unchecked():
    damaged = flip(DATA, 8 * 12)
    assert read(damaged, verify_crc=False)[0] == [b"nne", *RECORDS[1:]]


def test_an_unverified_header_is_checked_all_the_same():
    assert read(flip(DATA, 0), verify_crc=False)[1] is not None


def test_a_file_that_is_cut_while_it_is_read_gives_an_error_or_what_there_was(tmp_path):
    path = tmp_path / "shrinks"
    records = [bytes([i]) * 5000 for i in range(200)]
    path.write_bytes(frames(records))
    opened = stream(path, chunk_bytes=4096).records()
    first = [next(opened) for _ in range(10)]
    os.truncate(path, 300_000)
    try:
        rest = list(opened)
    except (tf.DataLossError, OSError):
        rest = []
    assert first == records[:10] and rest == records[10 : 10 + len(rest)]


# ---- Pieces ----


@pytest.mark.parametrize("threads", THREADS)
def test_region_edges_on_every_byte_of_a_record_change_nothing(tmp_path, threads):
    rng = random.Random(threads)
    path = tmp_path / "regions"
    for chunk in range(64, 401):
        records = draw_records(rng)
        path.write_bytes(frames(records))
        assert read(path, num_threads=threads, chunk_bytes=chunk) == (records, None), f"{chunk=}"


@pytest.mark.parametrize("threads", THREADS)
def test_region_edges_on_every_byte_of_a_record_find_the_same_damage(tmp_path, threads):
    rng = random.Random(threads)
    path = tmp_path / "regions"
    for chunk in range(64, 401):
        data = frames(draw_records(rng, 20)) + b"?"
        place = rng.randrange(len(data))
        for damaged in (data[:place], flip(data, 8 * place), insert(data, place, 7), remove(data, place)):
            path.write_bytes(damaged)
            assert agrees(read(path, num_threads=threads, chunk_bytes=chunk), damaged), f"{chunk=} {place=}"


@pytest.mark.parametrize("threads", THREADS)
def test_one_region_edge_on_every_byte_of_the_damage(tmp_path, threads):
    """The second of three records is damaged in header, data or footer; the edge moves over all of it."""
    path = tmp_path / "edge"
    for place in (0, 11, 12, 60, 111, 112, 115):
        for before in range(64):
            first = b"a" * before
            data = frames([first, b"b" * 100, b"c" * 200])
            damaged = flip(data, 8 * (16 + before + place))
            path.write_bytes(damaged)
            answer = read(path, num_threads=threads, chunk_bytes=64)
            assert agrees(answer, damaged) and answer[0] == [first], f"{place=} {before=}"


@pytest.mark.parametrize("chunk", [64, 65, 100, 257, 1000, 1 << 19])
@pytest.mark.parametrize("kind", [bytes, io.BytesIO, lambda data: OnlyRead(data, 7)])
def test_streams_give_the_same_in_chunks_of_any_size(chunk, kind):
    records = draw_records(random.Random(chunk), largest=3000)
    opened = kind(frames(records))
    assert drain(stream_of(opened, chunk_bytes=chunk)) == (records, None)


def stream_of(opened, **options):
    return tf._core.RecordStream([CoreFile(b"x", lambda: opened)], num_threads=0, **options).records()


@given(
    sizes=st.lists(st.integers(0, 400), max_size=40),
    chunk=st.integers(64, 900),
    threads=st.sampled_from(THREADS),
    prefetch=st.sampled_from([0, 1, 500, 10_000, 8 << 20]),
    batch=st.integers(0, 50),
)
@settings(max_examples=150)
def test_any_way_of_reading_gives_the_same(tmp_path_factory, sizes, chunk, threads, prefetch, batch):
    records = [random.Random(i).randbytes(size) for i, size in enumerate(sizes)]
    path = tmp_path_factory.getbasetemp() / "any_way"
    path.write_bytes(frames(records))
    options = {"num_threads": threads, "chunk_bytes": chunk, "prefetch_bytes": prefetch, "batch_size": batch}
    batches = [b.tolist() for b in stream(path, **options).batches()]
    assert [record for b in batches for record in b] == records
    if batch > 0:
        assert all(len(b) == batch for b in batches[:-1])


@pytest.mark.parametrize("threads", THREADS)
def test_regions_of_many_files_are_read_in_order(tmp_path, threads):
    rng = random.Random(5)
    files = []
    for i in range(30):
        files.append(draw_records(rng, rng.choice([0, 1, 2, 40])))
        (tmp_path / f"{i}").write_bytes(frames(files[-1]))
    paths = [tmp_path / f"{i}" for i in range(30)]
    records = [record for file in files for record in file]
    assert read(*paths, num_threads=threads, chunk_bytes=100) == (records, None)


@pytest.mark.parametrize("threads", THREADS)
def test_the_first_damage_in_order_wins(tmp_path, threads):
    paths = [tmp_path / name for name in "abc"]
    paths[0].write_bytes(frames([b"x" * 50] * 200))
    paths[1].write_bytes(DATA[:-1])
    paths[2].write_bytes(b"rubbish, all of it")
    for _ in range(20):
        records, error = read(*paths, num_threads=threads, chunk_bytes=128)
        assert len(records) == 200 + len(RECORDS) - 1
        assert (error.path, error.record_index) == (str(paths[1]), len(RECORDS) - 1)


@pytest.mark.parametrize("size", [2**k + d for k in (12, 16, 19, 20) for d in (-17, -16, -13, -12, -1, 0, 1)])
def test_records_around_the_sizes_of_buffers_are_whole(size, tmp_path):
    records = [b"a", np.random.default_rng(size).bytes(size), b"b"]
    path = tmp_path / "large"
    path.write_bytes(frames(records))
    assert list(tf.data.TFRecordDataset(path)) == records
    assert list(tf.data.TFRecordDataset(io.BytesIO(path.read_bytes()))) == records


def test_an_iterator_that_is_dropped_half_way_stops_its_threads(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(frames([b"x" * 1000] * 20_000))
    before = threads_of_this_process()
    for _ in range(20):
        records = iter(stream(path, num_threads=3, chunk_bytes=4096).records())
        next(records)
        del records
    assert threads_of_this_process() <= before


def threads_of_this_process():
    return len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 0


def test_threads_that_share_an_iterator_get_every_record_once(tmp_path):
    path = tmp_path / "shared"
    records = [b"%d" % i for i in range(20_000)]
    path.write_bytes(frames(records))
    shared = iter(stream(path, num_threads=1, chunk_bytes=4096).records())
    taken = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda mine=mine: mine.extend(shared)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(record for mine in taken for record in mine) == sorted(records)
