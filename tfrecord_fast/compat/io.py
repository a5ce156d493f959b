"""`tf.compat.v1.io`: `tf.io` with TensorFlow 1's order of arguments, and the iterator over records."""

from __future__ import annotations

from typing import Any

from .. import io as _io
from ..files.record_iterator import tf_record_iterator

__all__ = ["decode_raw", "parse_example", "parse_single_example", "tf_record_iterator"]


def parse_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[Any, Any]:
    """`tf.io.parse_example` with TensorFlow 1's order of arguments."""
    return _io.parse_example(serialized, features, example_names, name)


def parse_single_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> dict[Any, Any]:
    """`tf.io.parse_single_example` with TensorFlow 1's order of arguments."""
    return _io.parse_single_example(serialized, features, example_names, name)


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Any:
    """`tf.io.decode_raw` with TensorFlow 1's arguments; `bytes` is an old name of `input_bytes`."""
    return _io.decode_raw(bytes if input_bytes is None else input_bytes, out_type, little_endian, name=name)


def __getattr__(name: str) -> Any:
    return getattr(_io, name)
