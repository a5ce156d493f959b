"""Examples from dicts of values: what everyone writes helper functions for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from ...errors import InvalidArgumentError
from ..encoding.column import as_key, naming, refuse_twice
from ..encoding.encode import encode_example, encode_plain
from ..encoding.sequences import is_missing
from .protobuf import message

__all__ = ["example", "feature", "sequence_example"]

_NO_STEPS = (str, bytes, bytearray, memoryview, Mapping, Set)


def feature(value: Any) -> Any:
    """A Feature with these values.

    Args:
      value: a number, bool, str or bytes-like; a list, tuple or array of them, of any shape, in row-major order.
        Integers and bools make an int64 list, floats a float list, str (as UTF-8) and bytes a bytes list. None, an
        array with all its values masked and an empty list make a Feature without a kind; an empty array has its
        dtype's.

    Raises:
      TypeError: a value of another type, or several kinds at once.
      ValueError: an integer that int64 does not hold; an array with some of its values masked.

    >>> import tfrecord_fast as tf
    >>> tf.train.feature([1.5, 2]).float_list.value
    [1.5, 2.0]
    """
    made = message("Feature")()
    found = message("Example").FromString(_encoded(value)).features.feature
    if "" in found:
        made.CopyFrom(found[""])
    return made


def example(values: Mapping[str, object]) -> Any:
    """An Example with the values of a dict.

    Args:
      values: by key, whatever `feature` takes; a key with the value None, or with pandas' NA or NaT, is left out. No
        key may be there twice, as str and as bytes.

    >>> import numpy as np, tfrecord_fast as tf
    >>> made = tf.train.example({"id": 7, "name": "x", "pixels": np.arange(4, dtype=np.uint8)})
    >>> made.features.feature["pixels"].int64_list.value
    [0, 1, 2, 3]
    """
    plain = encode_plain(values)
    if plain is not None and len(plain) > 2:  # an empty dict makes an empty message, without `features`
        return message("Example").FromString(plain)
    made = message("Example")()
    _fill_features(made.features.feature, values)
    return made


def sequence_example(
    context: Mapping[str, object] | None = None, sequences: Mapping[str, Iterable[object]] | None = None
) -> Any:
    """A SequenceExample.

    Args:
      context: by key, whatever `feature` takes.
      sequences: by key, a list or array of steps, each of them whatever `feature` takes.

    >>> import tfrecord_fast as tf
    >>> made = tf.train.sequence_example({"length": 2}, {"tokens": [[1], [2, 3]]})
    >>> made.feature_lists.feature_list["tokens"].feature[1].int64_list.value
    [2, 3]
    """
    made = message("SequenceExample")()
    _fill_features(made.context.feature, context or {})
    refuse_twice(list(sequences or {}), "feature list")
    for key, steps in (sequences or {}).items():
        with naming(key, "feature list"):
            if isinstance(steps, _NO_STEPS) or hasattr(steps, "columns"):
                raise TypeError(f"expected a list of steps, got {type(steps).__name__}")
            steps_made = made.feature_lists.feature_list[as_key(key)].feature
            for step in steps:
                steps_made.add().CopyFrom(feature(step))
    return made


def _fill_features(features: Any, values: Mapping[str, object]) -> None:
    refuse_twice(list(values))
    for key, value in values.items():
        with naming(key):
            if not is_missing(value):
                features[as_key(key)].CopyFrom(feature(value))


def _encoded(value: Any) -> bytes:
    """An Example with the value under an empty key."""
    plain = encode_plain({"": value})
    if plain is not None:
        return plain
    try:
        return encode_example({"": value})[0]
    except (TypeError, InvalidArgumentError) as error:
        text = str(error)
        for unnamed in ("feature '': ", "feature '', row 0: "):
            text = text.removeprefix(unnamed)
        raise type(error)(text) from None
