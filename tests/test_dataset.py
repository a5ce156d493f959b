"""data.TFRecordDataset: what may name a file, in which order records come, and what is refused."""

import io
import itertools
import os
import random
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.frames import drain, frames

Dataset = tf.data.TFRecordDataset


@pytest.fixture
def folder(tmp_path):
    """Files a-0, a-1, a-2 and b-0, each with records that tell their file and number."""
    for name, count in (("a-0", 5), ("a-1", 2), ("a-2", 4), ("b-0", 3)):
        (tmp_path / name).write_bytes(frames(records_of(name, count)))
    return tmp_path


def records_of(name, count):
    return [f"{name}.{i}".encode() for i in range(count)]


A = records_of("a-0", 5) + records_of("a-1", 2) + records_of("a-2", 4)
ALL = A + records_of("b-0", 3)


# ---- Names ----


def test_the_names_are_the_same_thing():
    assert tf.TFRecordDataset is tf.data.TFRecordDataset


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda names: [names[:1], (names[1], [names[2:]])]])
def test_files_are_read_in_the_order_of_any_list(folder, kind):
    names = [str(folder / name) for name in ("a-0", "a-1", "a-2", "b-0")]
    assert list(Dataset(kind(names))) == ALL


def test_a_list_may_hold_names_of_every_kind(folder):
    first, second, third = folder / "a-0", str(folder / "a-1"), os.fsencode(folder / "a-2")
    last = bytearray((folder / "b-0").read_bytes())
    assert list(Dataset([first, second, third, last])) == ALL


def test_no_files_are_no_records():
    assert list(Dataset([])) == []


def test_a_glob_is_read_in_sorted_order(folder):
    assert list(Dataset(str(folder / "a-*"))) == A
    assert list(Dataset(folder / "a-[0-2]")) == A
    assert list(Dataset([str(folder / "a-?"), str(folder / "b*")])) == ALL


def test_a_recursive_glob_goes_down(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "a-3").write_bytes(frames([b"deep"]))
    assert list(Dataset(str(folder / "**" / "a-3"))) == [b"deep"]


def test_a_glob_that_matches_nothing_is_file_not_found(folder):
    with pytest.raises(FileNotFoundError, match="no file matches") as caught:
        list(Dataset(str(folder / "c-*")))
    assert caught.value.filename == str(folder / "c-*")


def test_a_file_whose_name_looks_like_a_glob_is_a_file(folder):
    (folder / "what[1]?").write_bytes(frames([b"odd"]))
    assert list(Dataset(str(folder / "what[1]?"))) == [b"odd"]


def test_a_glob_may_be_bytes(folder):
    assert list(Dataset(os.fsencode(folder / "a-*"))) == A
    (folder / "what[1]?").write_bytes(frames([b"odd"]))
    assert list(Dataset(os.fsencode(folder / "what[1]?"))) == [b"odd"]


def test_a_file_url_is_a_path(folder):
    assert list(Dataset(f"file://{folder}/a-1")) == records_of("a-1", 2)
    assert list(Dataset(f"file://{folder}/a-*")) == A


def test_fsspec_urls_and_their_globs_are_read(folder):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path in sorted(folder.iterdir()):
        memory.pipe(f"/dataset/{path.name}", path.read_bytes())
    assert list(Dataset("memory://dataset/a-1")) == records_of("a-1", 2)
    assert list(Dataset("memory://dataset/*")) == ALL
    with pytest.raises(FileNotFoundError):
        list(Dataset("memory://dataset/c-*"))
    with pytest.raises(FileNotFoundError):
        list(Dataset("memory://dataset/none"))


def test_an_error_in_a_url_names_it():
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/dataset/cut", frames(A)[:-1])
    records, error = drain(Dataset("memory://dataset/cut"))
    assert records == A[:-1]
    assert error.path == "memory://dataset/cut" and error.record_index == len(A) - 1


def test_a_dataset_of_names_is_read_when_iterated(folder):
    class Names(tf.data.Dataset):
        def __iter__(self):
            return iter([os.fsencode(folder / "a-1"), str(folder / "b-0")])

    dataset = Dataset(Names())
    assert list(dataset) == list(dataset) == records_of("a-1", 2) + records_of("b-0", 3)


@pytest.mark.parametrize("names", [7, None, 1.5, [1], ["a", None], {"a": 1}, np.array([1, 2])])
def test_what_names_no_file_is_a_type_error(names):
    with pytest.raises(TypeError):
        Dataset(names)


def test_an_iterator_of_names_is_a_value_error(folder):
    with pytest.raises(ValueError, match="iterator"):
        Dataset(iter([str(folder / "a-0")]))


def test_nothing_is_opened_before_the_first_iteration(tmp_path):
    dataset = Dataset(str(tmp_path / "later"))
    (tmp_path / "later").write_bytes(frames([b"now"]))
    assert list(dataset) == [b"now"]


# ---- Iterating ----


def test_records_are_bytes(folder):
    assert all(type(record) is bytes for record in Dataset(str(folder / "a-0")))


def test_each_iteration_starts_anew(folder):
    dataset = Dataset(str(folder / "a-*"))
    first = iter(dataset)
    next(first)
    assert list(dataset) == A
    assert list(first) == A[1:]


def test_as_numpy_iterator_is_the_same(folder):
    assert list(Dataset(str(folder / "a-*")).as_numpy_iterator()) == A


def test_as_numpy_iterator_gives_arrays_of_bytes(folder):
    """Where a loop over the dataset is given batches that copy nothing."""
    batches = Dataset(str(folder / "a-*")).batch(2)
    assert type(next(iter(batches))) is tf.RecordBatch
    for dataset in (batches, batches.map(lambda batch: batch), batches.prefetch(1)):
        arrays = list(dataset.as_numpy_iterator())
        assert {type(array) for array in arrays} == {np.ndarray} and arrays[0].dtype == object
        assert [item for array in arrays for item in array.tolist()] == A
    orders = [Dataset(str(folder / "a-*")).shuffle(99, seed=1).batch(2) for _ in range(2)]
    for _ in range(2):  # as many iterations as of a loop, so the same orders
        assert [array.tolist() for array in orders[0].as_numpy_iterator()] == [b.tolist() for b in orders[1]]
    strings = tf.data.Dataset.from_tensor_slices({"s": A, "n": np.arange(len(A))}).batch(2)
    [first] = strings.take(1).as_numpy_iterator()
    assert type(first["s"]) is np.ndarray and first["s"].tolist() == A[:2] and first["n"].tolist() == [0, 1]


def test_records_are_given_up_to_the_error_and_nothing_after(folder):
    (folder / "a-1").write_bytes(frames(records_of("a-1", 2))[:-1])
    records, error = drain(Dataset(str(folder / "a-*")))
    assert records == A[:6]
    assert (error.path, error.record_index) == (str(folder / "a-1"), 1)


def test_a_missing_file_among_others_raises_in_its_turn(folder):
    records = iter(Dataset([folder / "a-1", folder / "none", folder / "b-0"]))
    assert [next(records), next(records)] == records_of("a-1", 2)
    with pytest.raises(FileNotFoundError) as caught:
        next(records)
    assert caught.value.filename == str(folder / "none")


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY", b"GZIP"])
def test_a_compression_type_is_held_to(tmp_path, kind):
    name = kind.decode() if isinstance(kind, bytes) else kind
    with tf.io.TFRecordWriter(tmp_path / "a", name) as writer:
        writer.write_batch(A)
    assert list(Dataset(tmp_path / "a", kind)) == A
    for other in {"", "GZIP", "ZLIB", "ZSTD", "SNAPPY"} - {name}:
        with pytest.raises(tf.DataLossError):
            list(Dataset(tmp_path / "a", other))


def test_files_of_different_compression_are_told_apart(tmp_path):
    for i, kind in enumerate(["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]):
        with tf.io.TFRecordWriter(tmp_path / f"{i}", kind) as writer:
            writer.write(kind)
    assert list(Dataset(str(tmp_path / "*"))) == [b"", b"GZIP", b"ZLIB", b"ZSTD", b"SNAPPY"]


# ---- Arguments ----


@pytest.mark.parametrize("kind", ["gzip", "LZ4", "none", 1, "GZIP "])
def test_an_unknown_compression_type_is_a_value_error(kind):
    with pytest.raises(ValueError, match="compression_type"):
        Dataset("a", kind)


@pytest.mark.parametrize("size", [None, -1, 0, 1, 7, 1 << 16, 64 << 20])
def test_any_buffer_size_gives_the_same(folder, size):
    assert list(Dataset(str(folder / "a-*"), buffer_size=size)) == A


@pytest.mark.parametrize("argument", [{"buffer_size": -2}, {"num_parallel_reads": 0}, {"num_parallel_reads": -2}])
def test_an_argument_out_of_range_is_named(argument):
    with pytest.raises(tf.errors.InvalidArgumentError, match=next(iter(argument))):
        Dataset("a", **argument)


def test_arguments_keep_tensorflows_order(folder):
    assert list(Dataset(str(folder / "a-0"), "", 1000, 2, "a name")) == records_of("a-0", 5)


# ---- Interleaving ----


def interleave(files, slots):
    """TensorFlow's order: slots in turn, one record each; a visit that finds its file at the end yields nothing, and
    the slot's next visit begins the next file. Slots that no file is left for are passed over."""
    waiting = iter(files)
    cycle = [None] * slots
    order, left = [], True
    while left or any(slot is not None for slot in cycle):
        for i in range(slots):
            if cycle[i] is None:
                cycle[i] = next(waiting, None)
                cycle[i] = iter(cycle[i]) if cycle[i] is not None else None
                left = left and cycle[i] is not None
            if cycle[i] is not None:
                record = next(cycle[i], None)
                if record is None:
                    cycle[i] = None
                else:
                    order.append(record)
    return order


def test_two_and_three_slots_as_tensorflow_was_seen_to_do():
    files = [[f"{file}.{i}" for i in range(count)] for file, count in enumerate([5, 2, 4, 3])]
    assert " ".join(interleave(files, 2)) == "0.0 1.0 0.1 1.1 0.2 0.3 2.0 0.4 2.1 2.2 3.0 2.3 3.1 3.2"
    assert " ".join(interleave(files, 3)) == "0.0 1.0 2.0 0.1 1.1 2.1 0.2 2.2 0.3 3.0 2.3 0.4 3.1 3.2"


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 100])
def test_parallel_reads_keep_tensorflows_order(folder, slots):
    names = ["a-0", "a-1", "a-2", "b-0"]
    files = [records_of(name, count) for name, count in zip(names, [5, 2, 4, 3], strict=True)]
    assert list(Dataset([folder / name for name in names], num_parallel_reads=slots)) == interleave(files, slots)


@pytest.mark.parametrize("seed", range(40))
def test_parallel_reads_keep_their_order_whatever_the_files(tmp_path, seed):
    rng = random.Random(seed)
    files = [records_of(str(i), rng.choice([0, 0, 1, 2, rng.randrange(200)])) for i in range(rng.randrange(12))]
    for i, records in enumerate(files):
        with tf.io.TFRecordWriter(tmp_path / f"{i}", rng.choice(["", "", "GZIP", "ZSTD"])) as writer:
            writer.write_batch(records)
    paths = [tmp_path / f"{i}" for i in range(len(files))]
    for slots in (1, 2, 3, 7):
        dataset = Dataset(paths, num_parallel_reads=slots)
        assert list(dataset) == interleave(files, slots)
        assert [record for batch in dataset.batch(7) for record in batch] == interleave(files, slots)


def test_autotune_reads_one_file_after_the_other(folder):
    assert list(Dataset(str(folder / "a-*"), num_parallel_reads=tf.data.AUTOTUNE)) == A


def test_parallel_reads_of_memory_and_objects_keep_their_order():
    files = [records_of(str(i), i) for i in range(5)]
    sources = [bytearray(frames(records)) if i % 2 else io.BytesIO(frames(records)) for i, records in enumerate(files)]
    assert list(Dataset(sources, num_parallel_reads=2)) == interleave(files, 2)


def test_an_error_among_parallel_reads_comes_in_its_turn(folder):
    (folder / "a-1").write_bytes(frames(records_of("a-1", 2))[:-1])
    records, error = drain(Dataset([folder / "a-0", folder / "a-1"], num_parallel_reads=2))
    assert records == [b"a-0.0", b"a-1.0", b"a-0.1"] and error.record_index == 1


# ---- Batches ----


@pytest.mark.parametrize("size", [1, 2, 3, 11, 12, 1000])
def test_batches_hold_so_many_records_and_the_last_the_rest(folder, size):
    batches = [batch.tolist() for batch in Dataset(str(folder / "a-*")).batch(size)]
    assert batches == [A[i : i + size] for i in range(0, len(A), size)]


def test_drop_remainder_drops_a_small_last_batch(folder):
    assert [len(batch) for batch in Dataset(str(folder / "a-*")).batch(4, drop_remainder=True)] == [4, 4]
    assert [len(batch) for batch in Dataset(str(folder / "a-*")).batch(11, True)] == [11]


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_of_less_than_one_is_refused(size):
    with pytest.raises(ValueError, match="batch_size"):
        Dataset("a").batch(size)


def test_an_error_takes_the_place_of_its_batch(folder):
    (folder / "a-1").write_bytes(frames(records_of("a-1", 2))[:-1])
    batches = iter(Dataset(str(folder / "a-*")).batch(4))
    assert next(batches).tolist() == A[:4]
    with pytest.raises(tf.DataLossError):
        next(batches)
    assert next(batches, None) is None


def test_no_records_are_no_batches(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert list(Dataset(tmp_path / "empty").batch(3)) == []


# ---- tf_record_iterator ----


def test_tf_record_iterator_reads_one_file(folder):
    assert list(tf.python_io.tf_record_iterator(str(folder / "a-0"))) == records_of("a-0", 5)


def test_tf_record_iterator_takes_options(tmp_path):
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)
    with tf.python_io.TFRecordWriter(tmp_path / "a", options) as writer:
        writer.write(b"one")
    assert list(tf.python_io.tf_record_iterator(tmp_path / "a", options)) == [b"one"]


def test_tf_record_iterator_goes_on_in_a_file_that_grew(tmp_path):
    path = tmp_path / "grows"
    path.write_bytes(frames([b"one"]))
    records = tf.python_io.tf_record_iterator(path)
    assert list(records) == [b"one"]
    with path.open("ab") as file:
        file.write(frames([b"two"])[:-1])
    with pytest.raises(tf.DataLossError):
        next(records)
    with path.open("ab") as file:
        file.write(frames([b"two"])[-1:])
    assert list(itertools.islice(records, 2)) == [b"two"]


def test_a_closed_tf_record_iterator_is_at_its_end(folder):
    records = tf.python_io.tf_record_iterator(folder / "a-0")
    next(records)
    records.close()
    assert list(records) == []


def test_a_path_like_object_is_a_name(folder):
    class Named(os.PathLike):
        def __fspath__(self):
            return str(folder / "a-1")

    assert list(Dataset(Named())) == list(Dataset(Path(folder / "a-1")))
