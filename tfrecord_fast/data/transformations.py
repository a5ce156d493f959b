"""Functions of `tf.data.experimental` that return a transformation for `Dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import InvalidArgumentError, OutOfRangeError
from ..files.writing.writer import TFRecordWriter as RecordWriter
from .functions import call
from .handle import Handle, node_of, same_of
from .nodes.elements.checks import Counted
from .nodes.joins.joining import InterleaveAhead
from .nodes.native.running import run
from .numbers import check_count

__all__ = [
    "Reducer",
    "TFRecordWriter",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "map_and_batch",
    "parallel_interleave",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unique",
]
Transformation = Callable[[Any], Any]  # from a dataset to another


class Reducer(NamedTuple):
    """The functions of `group_by_reducer`.

    Args:
      init_func: returns the first state, from the group's number.
      reduce_func: returns the next state, from a state and an element.
      finalize_func: returns the group's element, from the last state; a tuple is unpacked into arguments.
    """

    init_func: Callable[[Any], Any]
    reduce_func: Callable[[Any, Any], Any]
    finalize_func: Callable[[Any], Any]


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Return a transformation that sets `cardinality()`; iterating raises FailedPreconditionError if it is wrong."""
    expected = check_count("expected_cardinality", expected_cardinality, -2)
    return lambda dataset: same_of(dataset, Counted(node_of(dataset), expected))


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map` and `batch`.

    Raises:
      ValueError: both `num_parallel_batches` and `num_parallel_calls`.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set")
    calls = num_parallel_calls if num_parallel_batches is None else num_parallel_batches
    return lambda dataset: dataset.map(map_func, calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`interleave` in another order: a dataset that ends uses up its turn. The order is always deterministic."""

    def applied(dataset: Any) -> Any:
        interleaved = dataset.interleave(map_func, cycle_length, block_length)
        node: Any = node_of(interleaved)
        ahead = InterleaveAhead(node.input, node.open, node.name, node.cycle_length, node.block_length)
        return same_of(interleaved, ahead)

    return applied


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle` and `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def enumerate_dataset(start: int = 0) -> Transformation:
    """`Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """`Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def unique() -> Transformation:
    """`Dataset.unique`."""
    return lambda dataset: dataset.unique()


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[[Any, Any], Any],
    window_size: Any = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """`Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """Return a transformation that reduces the elements of each key; results are sorted by key."""

    def applied(dataset: Any) -> Any:
        def reduced(key: Any, group: Any) -> Any:
            state = group.reduce(reducer.init_func(key), reducer.reduce_func)
            return type(group).from_tensors(call(reducer.finalize_func, False)(state))

        return dataset.group_by_window(key_func, reduced, (1 << 63) - 1)

    return applied


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Any, bucket_batch_sizes: Any, *args: Any, **kwargs: Any
) -> Transformation:
    """`Dataset.bucket_by_sequence_length`, with the same arguments."""
    arguments = (element_length_func, bucket_boundaries, bucket_batch_sizes, *args)
    return lambda dataset: dataset.bucket_by_sequence_length(*arguments, **kwargs)


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = "int64"
) -> Transformation:
    """`Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """`Dataset.sparse_batch`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """`Dataset.rejection_resample`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def snapshot(path: Any, compression: Any = "AUTO", **options: Any) -> Transformation:
    """`Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, **options)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """The same dataset: there is one device."""
    return lambda dataset: dataset


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The same dataset: there is one device."""
    return lambda dataset: dataset


def at(dataset: Any, index: Any) -> Any:
    """Return the element with that number, from 0; the elements before it are computed as well.

    Raises:
      errors.OutOfRangeError: the dataset has fewer elements.
    """
    number = check_count("index", index, 0)
    for element in dataset.skip(number).take(1):
        return element
    raise OutOfRangeError(f"index {number} is out of range: the dataset has {int(dataset.cardinality())} elements")


def get_single_element(dataset: Any) -> Any:
    """`Dataset.get_single_element`."""
    return dataset.get_single_element()


def get_structure(dataset: Any) -> Any:
    """`dataset.element_spec`."""
    return dataset.element_spec


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Any:
    """`Dataset.choose_from_datasets`, which by default continues when a dataset is empty."""
    return choice_dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Any:
    """`Dataset.sample_from_datasets`."""
    nonempty = list(datasets)
    if not nonempty:
        raise InvalidArgumentError("`datasets` should not be empty.")
    return nonempty[0].sample_from_datasets(nonempty, weights, seed, stop_on_empty_dataset)


def save(dataset: Any, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
    """`Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


class TFRecordWriter:
    """Writer of a dataset of strings into one file.

    >>> import tfrecord_fast as tf
    >>> strings = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> tf.data.experimental.TFRecordWriter("/tmp/strings.tfrecord").write(strings)
    >>> list(tf.data.TFRecordDataset("/tmp/strings.tfrecord"))
    [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename, self._compression_type = filename, compression_type

    def write(self, dataset: Any) -> None:
        """Write all elements.

        Raises:
          TypeError: an element is not a scalar string.
        """
        if not isinstance(dataset, Handle):
            raise TypeError(f"`dataset` must be a dataset, got {type(dataset).__name__}")
        with RecordWriter(self._filename, options=self._compression_type or "") as writer:
            for record in run(node_of(dataset)):
                if not isinstance(record, bytes):
                    raise TypeError(f"`dataset` must produce scalar strings, got {type(record).__name__}")
                writer.write(record)
