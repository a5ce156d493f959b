"""data.TFRecordDataset: what may name a file, in what order records come, and what is refused."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import drain, frames
from tests.support.lettered_files import ALL, A, records_of
from tfrecord_fast.errors import InvalidArgumentError

Dataset = tf.data.TFRecordDataset


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


@pytest.mark.parametrize("pattern", ["a-*", "a-[0-2]"])
def test_a_glob_is_read_in_sorted_order(folder, pattern):
    assert list(Dataset(str(folder / pattern))) == A


def test_globs_are_read_one_after_the_other(folder):
    assert list(Dataset([str(folder / "a-?"), str(folder / "b*")])) == ALL


def test_a_recursive_glob_goes_down(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "a-3").write_bytes(frames([b"deep"]))
    assert list(Dataset(str(folder / "**" / "a-3"))) == [b"deep"]


def test_a_glob_that_matches_nothing_is_file_not_found(folder):
    with pytest.raises(FileNotFoundError, match="no file matches") as caught:
        list(Dataset(str(folder / "c-*")))
    assert caught.value.filename == str(folder / "c-*")


@pytest.mark.parametrize("kind", [str, os.fsencode])
def test_a_file_whose_name_looks_like_a_glob_is_a_file(folder, kind):
    (folder / "what[1]?").write_bytes(frames([b"odd"]))
    assert list(Dataset(kind(folder / "what[1]?"))) == [b"odd"]


def test_a_glob_may_be_bytes(folder):
    assert list(Dataset(os.fsencode(folder / "a-*"))) == A


def test_a_glob_may_be_a_path(folder):
    assert list(Dataset(folder / "a-*")) == A


def test_a_file_url_is_a_path(folder):
    assert list(Dataset(f"file://{folder}/a-1")) == records_of("a-1", 2)


def test_a_file_url_may_be_a_glob(folder):
    assert list(Dataset(f"file://{folder}/a-*")) == A


@pytest.fixture
def in_memory(folder):
    """The same files at memory://dataset."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for path in sorted(folder.iterdir()):
        memory.pipe(f"/dataset/{path.name}", path.read_bytes())
    yield
    memory.rm("/dataset", recursive=True)


@pytest.mark.usefixtures("in_memory")
def test_an_fsspec_url_is_read():
    assert list(Dataset("memory://dataset/a-1")) == records_of("a-1", 2)


@pytest.mark.usefixtures("in_memory")
def test_a_glob_of_fsspec_urls_is_read():
    assert list(Dataset("memory://dataset/*")) == ALL


@pytest.mark.usefixtures("in_memory")
@pytest.mark.parametrize("name", ["c-*", "none"])
def test_an_fsspec_url_of_no_file_is_file_not_found(name):
    with pytest.raises(FileNotFoundError):
        list(Dataset(f"memory://dataset/{name}"))


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


def test_each_iteration_starts_at_the_beginning(folder):
    dataset = Dataset(str(folder / "a-*"))
    first = iter(dataset)
    next(first)
    assert list(dataset) == A
    assert list(first) == A[1:]


def test_as_numpy_iterator_is_the_same(folder):
    assert list(Dataset(str(folder / "a-*")).as_numpy_iterator()) == A


def test_a_loop_is_given_batches_that_copy_nothing(folder):
    assert type(next(iter(Dataset(str(folder / "a-*")).batch(2)))) is tf.RecordBatch


@pytest.mark.parametrize(
    "make",
    [lambda batches: batches, lambda batches: batches.map(lambda batch: batch), lambda batches: batches.prefetch(1)],
    ids=["batch", "map", "prefetch"],
)
def test_as_numpy_iterator_gives_arrays_of_bytes(folder, make):
    arrays = list(make(Dataset(str(folder / "a-*")).batch(2)).as_numpy_iterator())
    assert {type(array) for array in arrays} == {np.ndarray} and arrays[0].dtype == object
    assert [item for array in arrays for item in array.tolist()] == A


def test_as_numpy_iterator_shuffles_as_a_loop_does(folder):
    one, other = (Dataset(str(folder / "a-*")).shuffle(99, seed=1).batch(2) for _ in range(2))
    for _ in range(2):  # each iteration has an order of its own
        assert [array.tolist() for array in one.as_numpy_iterator()] == [batch.tolist() for batch in other]


def test_as_numpy_iterator_gives_arrays_inside_dicts():
    strings = tf.data.Dataset.from_tensor_slices({"s": A, "n": np.arange(len(A))}).batch(2)
    [first] = strings.take(1).as_numpy_iterator()
    assert type(first["s"]) is np.ndarray and first["s"].tolist() == A[:2] and first["n"].tolist() == [0, 1]


def test_records_are_given_up_to_the_error_and_nothing_after(folder):
    (folder / "a-1").write_bytes(frames(records_of("a-1", 2))[:-1])
    records, error = drain(Dataset(str(folder / "a-*")))
    assert records == A[:6]
    assert (error.path, error.record_index) == (str(folder / "a-1"), 1)


def test_a_missing_file_among_others_raises_when_its_turn_comes(folder):
    records = iter(Dataset([folder / "a-1", folder / "none", folder / "b-0"]))
    assert [next(records), next(records)] == records_of("a-1", 2)
    with pytest.raises(FileNotFoundError) as caught:
        next(records)
    assert caught.value.filename == str(folder / "none")


KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]


def packed(path, kind):
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write_batch(A)
    return path


@pytest.mark.parametrize("kind", [*KINDS, b"GZIP"])
def test_a_compression_type_may_be_given(tmp_path, kind):
    name = kind.decode() if isinstance(kind, bytes) else kind
    assert list(Dataset(packed(tmp_path / "a", name), kind)) == A


@pytest.mark.parametrize(("kind", "other"), [*itertools.permutations(KINDS, 2)])
def test_another_compression_type_than_the_files_is_data_loss(tmp_path, kind, other):
    with pytest.raises(tf.DataLossError):
        list(Dataset(packed(tmp_path / "a", kind), other))


def test_files_of_different_compression_are_told_apart(tmp_path):
    for i, kind in enumerate(["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]):
        with tf.io.TFRecordWriter(tmp_path / f"{i}", kind) as writer:
            writer.write(kind)
    assert list(Dataset(str(tmp_path / "*"))) == [b"", b"GZIP", b"ZLIB", b"ZSTD", b"SNAPPY"]


# ---- Arguments ----


@pytest.mark.parametrize("kind", ["LZ4", "nothing", 1, "GZIP "])
def test_an_unknown_compression_type_is_a_value_error(kind):
    with pytest.raises(ValueError, match="unknown compression"):
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


# ---- Batches ----


@pytest.mark.parametrize("size", [1, 2, 3, 11, 12, 1000])
def test_batches_have_that_size_and_the_last_holds_the_rest(folder, size):
    batches = [batch.tolist() for batch in Dataset(str(folder / "a-*")).batch(size)]
    assert batches == [A[i : i + size] for i in range(0, len(A), size)]


@pytest.mark.parametrize(("size", "sizes"), [(4, [4, 4]), (11, [11])])
def test_drop_remainder_drops_a_small_last_batch(folder, size, sizes):
    assert [len(batch) for batch in Dataset(str(folder / "a-*")).batch(size, drop_remainder=True)] == sizes


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


def test_a_path_like_object_is_a_name(folder):
    class Named(os.PathLike):
        def __fspath__(self):
            return str(folder / "a-1")

    assert list(Dataset(Named())) == list(Dataset(Path(folder / "a-1")))


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        (tf.data.Dataset.range(3).repeat(), "The dataset is infinite."),
        (tf.data.Dataset.range(3).filter(bool), "The dataset length is unknown."),
    ],
    ids=["infinite", "unknown"],
)
def test_a_length_that_is_no_number_is_told(dataset, said):
    with pytest.raises(TypeError, match=f"^{said}"):
        len(dataset)


@pytest.mark.parametrize("nothing", [{}, (), {"a": ()}], ids=repr)
def test_zip_takes_a_dataset_at_least(nothing):
    with pytest.raises(InvalidArgumentError, match="at least one dataset"):
        tf.data.Dataset.zip(nothing)


# ---- Iterators ----


@pytest.mark.parametrize("steps", [lambda data: data, lambda data: data.map(len), lambda data: data.batch(2)])
@pytest.mark.parametrize("iterate", [iter, lambda data: data.as_numpy_iterator()])
def test_iterators_have_tensorflows_methods(folder, steps, iterate):
    data = steps(Dataset([folder / "a-0"]))
    iterator = iterate(data)
    for i, element in enumerate(iterate(data)):
        assert np.array_equal(iterator.next() if i % 2 else iterator.get_next(), element)
    with pytest.raises(StopIteration):
        iterator.next()
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
