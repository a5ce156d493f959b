"""`tf.data.experimental`: the names of `tfrecord_fast.data.experimental`, over tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...data import experimental as plain
from ..modules import module_lazy_names
from ..tensors.wrapping import unwrap, wrap
from .datasets import Dataset, plain_dataset

SHARD_HINT = -1


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: Any = None
) -> Callable[[Dataset], Dataset]:
    """Return a transformation that parses batches of serialized Examples."""
    # The plain dataset keeps the parser, so that the native reader can run it.
    parse = plain.parse_example_dataset(features, num_parallel_calls, deterministic)
    return lambda dataset: wrap(parse(plain_dataset(dataset)))


def make_csv_dataset(*args: Any, **kwargs: Any) -> Dataset:
    """Read CSV files as `tfrecord_fast.data.experimental.make_csv_dataset` does."""
    named = {key: _unwrap_items(value) for key, value in kwargs.items()}
    return wrap(plain.make_csv_dataset(*map(_unwrap_items, args), **named))  # type: ignore[no-any-return]


def _unwrap_items(value: Any) -> Any:
    """Unwrap the items of a list one by one: the defaults of columns differ in dtype."""
    return [unwrap(item) for item in value] if type(value) is list else unwrap(value)


class TFRecordWriter(plain.TFRecordWriter):
    """Writer of a dataset of strings into one file."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        super().__init__(unwrap(filename), unwrap(compression_type))


_names = module_lazy_names(
    __name__,
    {".data.optional": "Optional get_next_as_optional"},
    "tf.data.experimental",
    "tfrecord_fast.data.experimental",
    left_out="CsvDataset Options make_tf_record_dataset",
)
__getattr__ = _names.getattr
__dir__ = _names.dir
