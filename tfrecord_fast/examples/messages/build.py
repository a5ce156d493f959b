"""Example messages from dicts of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from ...errors import InvalidArgumentError
from ..encoding.column import as_key, naming, refuse_twice
from ..encoding.encode import encode_example, encode_plain
from ..encoding.sequences import is_missing
from .protobuf import message

_NO_STEPS = (str, bytes, bytearray, memoryview, Mapping, Set)


def feature(value: Any) -> Any:
    """Make a Feature with these values.

    Args:
      value: a number, bool, str or bytes-like; or a list, tuple or array of them, of any shape, in row-major order.
        Integers and bools make an int64 list, floats a float list, str (as UTF-8) and bytes a bytes list. None, an
        empty list and an array with all values masked set no list; an empty array sets the list of its dtype.

    Raises:
      TypeError: a value of another type, or several kinds at once.
      ValueError: an integer that does not fit int64; an array with some of its values masked.

    >>> import tfrecord_fast as tf
    >>> tf.train.feature([1.5, 2]).float_list.value
    [1.5, 2.0]
    """
    built = message("Feature")()
    features = message("Example").FromString(_encoded(value)).features.feature
    if "" in features:
        built.CopyFrom(features[""])
    return built


def example(values: Mapping[str, object]) -> Any:
    """Make an Example with the values of a dict.

    Args:
      values: by key, the values that `feature` accepts. None, and pandas' NA and NaT, leave their key out. A key must
        not be given twice, as str and as bytes.

    >>> import numpy as np, tfrecord_fast as tf
    >>> made = tf.train.example({"id": 7, "name": "x", "pixels": np.arange(4, dtype=np.uint8)})
    >>> made.features.feature["pixels"].int64_list.value
    [0, 1, 2, 3]
    """
    plain = encode_plain(values)
    if plain is not None and len(plain) > 2:  # an empty dict makes an empty message, without `features` set
        return message("Example").FromString(plain)
    built = message("Example")()
    _fill_features(built.features.feature, values)
    return built


def sequence_example(
    context: Mapping[str, object] | None = None, sequences: Mapping[str, Iterable[object]] | None = None
) -> Any:
    """Make a SequenceExample.

    Args:
      context: by key, the values that `feature` accepts.
      sequences: by key, a list or array of steps; a step is a value that `feature` accepts.

    >>> import tfrecord_fast as tf
    >>> made = tf.train.sequence_example({"length": 2}, {"tokens": [[1], [2, 3]]})
    >>> made.feature_lists.feature_list["tokens"].feature[1].int64_list.value
    [2, 3]
    """
    built = message("SequenceExample")()
    _fill_features(built.context.feature, context or {})
    refuse_twice(list(sequences or {}), "feature list")
    for key, steps in (sequences or {}).items():
        with naming(key, "feature list"):
            if isinstance(steps, _NO_STEPS) or hasattr(steps, "columns"):
                raise TypeError(f"expected a list of steps, got {type(steps).__name__}")
            built_steps = built.feature_lists.feature_list[as_key(key)].feature
            for step in steps:
                built_steps.add().CopyFrom(feature(step))
    return built


def _fill_features(features: Any, values: Mapping[str, object]) -> None:
    refuse_twice(list(values))
    for key, value in values.items():
        with naming(key):
            if not is_missing(value):
                features[as_key(key)].CopyFrom(feature(value))


def _encoded(value: Any) -> bytes:
    """Serialize an Example with the value under an empty key."""
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
