"""`tf.data.experimental` of the face, which is its `tf.experimental` too: of that, it has `Optional`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from ..data import experimental as plain
from ..data.experimental import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    Reducer,
    ThreadingOptions,
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
from ..data.handle import node_of
from .border import lowered, raised
from .datasets import Dataset, Elements, plain_of
from .fallback import face_names, of_tensorflow
from .optional import Optional

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
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
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
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

Transformation = Callable[[Any], Any]  # of datasets
SHARD_HINT = -1


def cardinality(dataset: Dataset) -> Any:
    """The number of elements, -1 or -2."""
    return dataset.cardinality()


def enable_debug_mode() -> None:
    """Nothing: functions are called in Python anyway."""


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors`."""
    return lambda dataset: Dataset(node_of(plain_of(dataset).ignore_errors(log_warning)))


def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


def Counter(start: Any = 0, step: Any = 1, dtype: Any = "int64") -> Dataset:
    """`Dataset.counter`."""
    return Dataset.counter(start, step, dtype)  # type: ignore[return-value]


def RandomDataset(seed: Any = None) -> Dataset:
    """`Dataset.random`."""
    return Dataset.random(seed)  # type: ignore[return-value]


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """The elements of a list, which may be structures."""
    return raised(plain.from_list([lowered(element) for element in elements]))  # type: ignore[no-any-return]


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Dataset:
    """`Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)  # type: ignore[return-value]


def get_next_as_optional(iterator: Elements) -> Any:
    """The next element, or nothing."""
    return iterator.get_next_as_optional()


def make_batched_features_dataset(*args: Any, **kwargs: Any) -> Dataset:
    """As of `tfrecord_fast.data.experimental`."""
    label = kwargs.get("label_key")
    kwargs["label_key"] = label
    return raised(plain.make_batched_features_dataset(*lowered(args), **kwargs))  # type: ignore[no-any-return]


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1, deterministic: Any = None) -> Transformation:
    """Batches of serialized Examples, parsed."""
    apply = plain.parse_example_dataset(features, num_parallel_calls, deterministic)
    return lambda dataset: raised(apply(plain_of(dataset)))


class CsvDataset(Dataset):
    """The records of CSV files. The arguments are those of the package's CsvDataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        named = {key: _each_lowered(value) for key, value in kwargs.items()}
        super().__init__(node_of(plain.CsvDataset(*map(_each_lowered, args), **named)))


def make_csv_dataset(*args: Any, **kwargs: Any) -> Dataset:
    """As of `tfrecord_fast.data.experimental`."""
    named = {key: _each_lowered(value) for key, value in kwargs.items()}
    return raised(plain.make_csv_dataset(*map(_each_lowered, args), **named))  # type: ignore[no-any-return]


def _each_lowered(value: Any) -> Any:
    """A list's items by themselves: the defaults of columns are no tensor, their dtypes differ."""
    return [lowered(item) for item in value] if type(value) is list else lowered(value)


class TFRecordWriter(plain.TFRecordWriter):
    """Writes a dataset of strings into one file."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        super().__init__(lowered(filename), lowered(compression_type))


_names = face_names(__name__, "tf.data.experimental")
__dir__ = _names.dir


def __getattr__(name: str) -> Any:
    try:
        return _names.getattr(name)
    except AttributeError:
        with contextlib.suppress(AttributeError):
            return of_tensorflow(f"tf.experimental.{name}")
        raise
