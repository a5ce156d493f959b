"""`tf.compat.v1.io`: `tf.io` with TensorFlow 1's order of arguments, and the iterator over records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy.typing as npt

from .. import io as _io
from ..files.streams.record_iterator import tf_record_iterator
from ..typing import Columns, DTypeLike, Features, Key, Record, Records

__all__ = ["decode_raw", "parse_example", "parse_single_example", "tf_record_iterator"]


def parse_example(
    serialized: Records | Record,
    features: Features,
    name: str | None = None,
    example_names: Sequence[Key] | None = None,
) -> Columns:
    """Call `tf.io.parse_example` with TensorFlow 1's order of arguments."""
    return _io.parse_example(serialized, features, example_names, name)


def parse_single_example(
    serialized: Record, features: Features, name: str | None = None, example_names: Key | None = None
) -> Columns:
    """Call `tf.io.parse_single_example` with TensorFlow 1's order of arguments."""
    return _io.parse_single_example(serialized, features, example_names, name)


def decode_raw(
    input_bytes: Records | Record | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Records | Record | None = None,
) -> npt.NDArray[Any]:
    """Call `tf.io.decode_raw` with TensorFlow 1's arguments; `bytes` is the old name of `input_bytes`."""
    data: Any = bytes if input_bytes is None else input_bytes
    return _io.decode_raw(data, cast(DTypeLike, out_type), little_endian, name=name)


def __getattr__(name: str) -> Any:
    return getattr(_io, name)
