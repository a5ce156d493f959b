"""`tf.data.experimental` of the face."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ..data import experimental as plain
from ..data.handle import node_of
from ..errors import FailedPreconditionError
from ..files.writer import TFRecordWriter as PlainWriter
from .border import lowered, raised
from .datasets import Dataset, Elements, plain_of
from .fallback import face_names

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "CsvDataset",
    "TFRecordWriter",
    "assert_cardinality",
    "cardinality",
    "choose_from_datasets",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]  # fmt: skip

Transformation = Callable[[Any], Any]  # of datasets


class AutoShardPolicy:
    """How datasets would be divided among workers; without effect."""

    OFF, AUTO, FILE, DATA, HINT = -1, 0, 1, 2, 3


def cardinality(dataset: Dataset) -> Any:
    """The number of elements, -1 or -2."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """The same dataset, which raises FailedPreconditionError if it has another number of elements."""
    expected = int(lowered(expected_cardinality))

    def applied(dataset: Dataset) -> Dataset:
        def elements() -> Any:
            count = 0
            for element in dataset:
                count += 1
                if 0 <= expected < count:
                    raise FailedPreconditionError(
                        f"Input dataset was expected to contain {expected} elements but contained at least {count} "
                        "elements."
                    )
                yield element
            if expected >= 0 and count < expected:
                raise FailedPreconditionError(
                    f"Input dataset was expected to contain {expected} elements but contained only {count} elements."
                )

        return Dataset.from_generator(elements)

    return applied


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map` and `batch`."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`interleave`."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle` and `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors`."""
    return lambda dataset: Dataset(node_of(plain_of(dataset).ignore_errors(log_warning)))


def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


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


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = "int64"
) -> Transformation:
    """`Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """`Dataset.sparse_batch`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """`Dataset.rejection_resample`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """The same dataset: there is one device."""
    return lambda dataset: dataset


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Dataset:
    """`Dataset.choose_from_datasets`."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)  # type: ignore[return-value]


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """`Dataset.sample_from_datasets`."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)  # type: ignore[return-value]


def get_single_element(dataset: Dataset) -> Any:
    """`Dataset.get_single_element`."""
    return dataset.get_single_element()


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
        super().__init__(
            node_of(plain.CsvDataset(*map(lowered, args), **{key: lowered(value) for key, value in kwargs.items()}))
        )


def make_csv_dataset(*args: Any, **kwargs: Any) -> Dataset:
    """As of `tfrecord_fast.data.experimental`."""
    return raised(plain.make_csv_dataset(*map(lowered, args), **{key: lowered(value) for key, value in kwargs.items()}))  # type: ignore[no-any-return]


class TFRecordWriter:
    """Writes a dataset of strings into one file."""

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename, self._compression_type = lowered(filename), compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes all of its elements, which have to be strings."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a dataset, got {type(dataset).__name__}")
        with PlainWriter(self._filename, options=self._compression_type or "") as writer:
            for record in plain_of(dataset):
                if not isinstance(record, bytes):
                    raise TypeError(
                        f"`dataset` must produce scalar strings, got {type(record).__name__} {np.shape(record)}"
                    )
                writer.write(record)


_names = face_names(__name__, "tf.data.experimental")
__getattr__ = _names.getattr
__dir__ = _names.dir
