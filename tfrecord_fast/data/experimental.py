"""`tf.data.experimental`: files to batches of columns in one call, and transformations for `Dataset.apply`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import InvalidArgumentError, OutOfRangeError
from ..examples.features import copied
from ..examples.parsing.groups import check_label, frozen_groups
from ..examples.parsing.parse import parse_example
from ..typing import Groups, PathLike
from ..values.elements.nests import normalize, stack
from .dataset import Dataset
from .files.csv_files import CsvDataset, make_csv_dataset
from .files.records import TFRecordDataset
from .functions import call
from .handle import node_of, same_of
from .nodes.elements.checks import Counted
from .nodes.joins.groups import whole
from .nodes.joins.joining import InterleaveAhead
from .numbers import AUTOTUNE, INFINITE, UNKNOWN, check_count
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    Options,
    ThreadingOptions,
)
from .saving.record_files import TFRecordWriter

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Options",
    "RandomDataset",
    "Reducer",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "from_list",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_tf_record_dataset",
    "map_and_batch",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN

Transformation = Callable[[Any], Any]  # from a dataset to another

# TensorFlow's defaults.
_PARALLEL_READS = 24
_PARSER_CALLS = 2
_PREFETCH = 2
_SHUFFLE_BUFFER = 10000


def cardinality(dataset: Dataset[Any]) -> int:
    """`dataset.cardinality()`."""
    return dataset.cardinality()


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors` for `Dataset.apply`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def unbatch() -> Transformation:
    """`Dataset.unbatch` for `Dataset.apply`."""
    return lambda dataset: dataset.unbatch()


def parse_example_dataset(
    features: Any,
    num_parallel_calls: int | None = 1,
    deterministic: bool | None = None,
    *,
    groups: Groups | None = None,
) -> Transformation:
    """Return a transformation, for `Dataset.apply`, of batches of serialized Examples to dicts of columns.

    Args:
      features: dict of keys to features.
      num_parallel_calls, deterministic: accepted; a batch is parsed on several threads in any case.
      groups: groups of features that form one column, as for `io.parse_example`.

    Raises:
      ValueError: no features.

    >>> import tfrecord_fast as tf
    >>> records = [tf.train.example({"a": i}).SerializeToString() for i in range(3)]
    >>> batches = tf.data.Dataset.from_tensor_slices(records).batch(2)
    >>> parse = tf.data.experimental.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)})
    >>> [columns["a"].tolist() for columns in batches.apply(parse)]
    [[0, 1], [2]]
    """
    if not features:
        raise ValueError("Missing: features was None or empty.")
    fixed, named = copied(features), None if groups is None else dict(frozen_groups(groups))  # later changes don't show

    def parse(serialized: Any) -> Any:
        return parse_example(serialized, fixed, groups=named)

    parse.__qualname__ = "parse_example"  # for repr
    return lambda dataset: dataset.map(parse)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Callable[[Any], Dataset[Any]] | None = None,
    label_key: Any = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
    *,
    groups: Groups | None = None,
) -> Dataset[Any]:
    """Read files of Examples as batches of columns.

    Args:
      file_pattern: a pattern, or a list of files and patterns.
      features: dict of keys to features, as for `io.parse_example`.
      reader: a function from a file to a dataset; TFRecordDataset by default.
      label_key: a feature, or a group, to move out of the dict; elements are then (dict, label).
      reader_args: further arguments of the reader.
      num_epochs: None or -1: endless.
      shuffle: shuffles files, and records within `shuffle_buffer_size`; `shuffle_seed` makes the order repeatable.
      prefetch_buffer_size: batches to prefetch.
      reader_num_threads: number of files to interleave; 1 by default.
      parser_num_threads: accepted; a batch is parsed on several threads in any case.
      sloppy_ordering: accepted; the order is always deterministic.
      drop_final_batch: leaves out a smaller last batch. Endless batches continue from epoch to epoch.
      groups: groups of features that form one column, as for `io.parse_example`.

    Returns:
      A Dataset of dicts of columns; of tuples (dict, column) with `label_key`.

    Raises:
      errors.InvalidArgumentError: no file matches.
      ValueError: `label_key` is neither a feature nor a group, or is part of a group.
    """
    if label_key is not None:
        check_label(label_key, frozen_groups(groups), features)

    def open_file(path: Any) -> Any:
        return (reader or TFRecordDataset)(path, *(reader_args or ()))

    shuffling = (shuffle_buffer_size, shuffle_seed) if shuffle else None
    records = _records(file_pattern, open_file, reader_num_threads or 1, shuffling, num_epochs)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    parsed: Dataset[Any] = batches.apply(parse_example_dataset(features, groups=groups))
    if label_key is not None:

        def take_label(columns: dict[Any, Any]) -> tuple[dict[Any, Any], Any]:
            return columns, columns.pop(label_key)

        parsed = parsed.map(take_label)
    return parsed.prefetch(_PREFETCH if prefetch_buffer_size is None else prefetch_buffer_size)


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: int,
    parser_fn: Callable[[Any], Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int | None = None,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    num_parallel_parser_calls: int | None = None,
    drop_final_batch: bool = False,
) -> Dataset[Any]:
    """Read files of records as batches, after mapping `parser_fn` over the records.

    The other arguments are those of `make_batched_features_dataset`.

    Args:
      num_parallel_parser_calls: number of threads that call the function; 2 by default.
      num_parallel_reads: number of files to interleave; 24 by default.

    Raises:
      errors.InvalidArgumentError: no file matches.
    """
    cycle_length = _PARALLEL_READS if num_parallel_reads is None else num_parallel_reads
    buffer_size = _SHUFFLE_BUFFER if shuffle_buffer_size is None else shuffle_buffer_size
    shuffling = (buffer_size, shuffle_seed) if shuffle else None
    records = _records(file_pattern, TFRecordDataset, cycle_length, shuffling, num_epochs)
    if parser_fn is not None:
        records = records.map(parser_fn, num_parallel_parser_calls or _PARSER_CALLS)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    return batches.prefetch(_PREFETCH if prefetch_buffer_size is None else prefetch_buffer_size)


def _records(
    file_pattern: Any,
    open_file: Callable[[Any], Any],
    cycle_length: int,
    shuffling: tuple[int, int | None] | None,
    num_epochs: int | None,
) -> Dataset[Any]:
    """Return the records of the matching files, in TensorFlow's order; `shuffling` is a buffer size and a seed."""
    patterns = [file_pattern] if isinstance(file_pattern, str | bytes | os.PathLike) else list(file_pattern)
    seed = None if shuffling is None else shuffling[1]
    files = Dataset.list_files(patterns, shuffle=shuffling is not None, seed=seed)
    records: Dataset[Any] = files.interleave(open_file, cycle_length=cycle_length)
    if shuffling is not None:
        records = records.shuffle(*shuffling)
    return records if num_epochs == 1 else records.repeat(num_epochs)


def Counter(start: int = 0, step: int = 1, dtype: Any = None) -> Dataset[Any]:
    """`Dataset.counter`."""
    return Dataset.counter(start, step, dtype)


def RandomDataset(seed: int | None = None) -> Dataset[Any]:
    """`Dataset.random`."""
    return Dataset.random(seed)


def from_list(elements: Any, name: str | None = None) -> Dataset[Any]:
    """Return a dataset of a list's elements, which may be structures.

    Raises:
      ValueError: no elements.
    """
    normalized = [normalize(element) for element in elements]
    if not normalized:
        raise ValueError("Empty list of elements is not supported.")
    return Dataset.from_tensor_slices(stack(normalized))


def load(path: PathLike, element_spec: Any = None, compression: str | None = None, reader_func: Any = None) -> Any:
    """`Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


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
    """Return a transformation that reduces the elements of each key; results are sorted by key.

    Raises:
      ValueError: when applied: not a function; when iterated: a key is not an integer.
    """

    def key_of(*items: Any) -> Any:
        key = key_func(*items)
        try:
            return whole("the key of an element", key)
        except TypeError as error:
            raise ValueError(f"invalid `key_func`: {error}") from None

    def applied(dataset: Any) -> Any:
        for function in (key_func, reducer.init_func, reducer.reduce_func, reducer.finalize_func):
            if not callable(function):
                raise ValueError(f"group_by_reducer needs functions, got {function!r:.100}")

        def reduced(key: Any, group: Any) -> Any:
            state = group.reduce(reducer.init_func(key), reducer.reduce_func)
            return type(group).from_tensors(call(reducer.finalize_func, False)(state))

        return dataset.group_by_window(key_of, reduced, (1 << 63) - 1)

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
