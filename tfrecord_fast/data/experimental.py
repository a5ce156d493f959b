"""`tf.data.experimental`: files to batches of parsed columns in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from ..examples.features import copied
from ..examples.parsing.groups import check_label, frozen_groups
from ..examples.parsing.parse import parse_example
from ..typing import Groups, PathLike
from ..values.elements.nests import normalize, stack
from .dataset import Dataset
from .files.csv_files import CsvDataset, make_csv_dataset
from .files.records import TFRecordDataset
from .numbers import AUTOTUNE, INFINITE, UNKNOWN
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
from .transformations import (
    Reducer,
    TFRecordWriter,
    assert_cardinality,
    at,
    bucket_by_sequence_length,
    choose_from_datasets,
    copy_to_device,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_single_element,
    get_structure,
    group_by_reducer,
    group_by_window,
    map_and_batch,
    parallel_interleave,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    save,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    unique,
)

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

# TensorFlow's defaults.
_PARALLEL_READS = 24
_PARSER_CALLS = 2
_PREFETCH = 2


def cardinality(dataset: Dataset[Any]) -> int:
    """`dataset.cardinality()`."""
    return dataset.cardinality()


def ignore_errors(log_warning: bool = False) -> Callable[[Dataset[Any]], Dataset[Any]]:
    """`Dataset.ignore_errors` for `Dataset.apply`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def unbatch() -> Callable[[Dataset[Any]], Dataset[Any]]:
    """`Dataset.unbatch` for `Dataset.apply`."""
    return lambda dataset: dataset.unbatch()


def parse_example_dataset(
    features: Any,
    num_parallel_calls: int | None = 1,
    deterministic: bool | None = None,
    *,
    groups: Groups | None = None,
) -> Callable[[Dataset[Any]], Dataset[Any]]:
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
    if label_key is not None and label_key not in features and not groups:
        raise ValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {sorted(features)}."
        )
    if label_key is not None:
        check_label(label_key, frozen_groups(groups), features)
    records = _records(
        file_pattern, reader or TFRecordDataset, reader_args or [], reader_num_threads or 1, shuffle, shuffle_seed
    )
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
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
    records = _records(file_pattern, TFRecordDataset, [], cycle_length, shuffle, shuffle_seed)
    if shuffle:
        records = records.shuffle(10000 if shuffle_buffer_size is None else shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
    if parser_fn is not None:
        records = records.map(parser_fn, num_parallel_parser_calls or _PARSER_CALLS)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    return batches.prefetch(_PREFETCH if prefetch_buffer_size is None else prefetch_buffer_size)


def _records(
    file_pattern: Any, reader: Callable[..., Any], reader_args: Any, cycle_length: int, shuffle: bool, seed: int | None
) -> Dataset[Any]:
    """Return the records of the matching files, in TensorFlow's order."""
    patterns = (
        [file_pattern] if isinstance(file_pattern, str | bytes) or hasattr(file_pattern, "__fspath__") else file_pattern
    )
    if not len(patterns):
        raise InvalidArgumentError("no files: file_pattern is empty")
    files = Dataset.list_files(list(patterns), shuffle=shuffle, seed=seed)

    def open_file(path: Any) -> Any:
        return reader(path, *reader_args)

    return files.interleave(open_file, cycle_length=cycle_length)


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
