"""Examples from dicts of values: what everyone writes helper functions for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .encode import encode_plain
from .messages import message

__all__ = ["example", "feature", "sequence_example"]


def feature(value: Any) -> Any:
    """A Feature with these values.

    Args:
      value: a number, bool, str or bytes-like; a list, tuple or array of them, of any shape, in row-major order.
        Integers and bools make an int64 list, floats a float list, str (as UTF-8) and bytes a bytes list. None and
        an empty list make a Feature without a kind; an empty array has its dtype's.

    Raises:
      TypeError: a value of another type, or several kinds at once.
      ValueError: an integer that int64 does not hold.

    >>> import tfrecord_fast as tf
    >>> tf.train.feature([1.5, 2]).float_list.value
    [1.5, 2.0]
    """
    made = message("Feature")()
    _fill(made, value)
    return made


def example(values: Mapping[str, object]) -> Any:
    """An Example with the values of a dict.

    Args:
      values: by key, whatever `feature` takes; a key with the value None is left out.

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
    for key, steps in (sequences or {}).items():
        steps_made = made.feature_lists.feature_list[key].feature
        for step in steps:
            _fill(steps_made.add(), step)
    return made


def _fill_features(features: Any, values: Mapping[str, object]) -> None:
    for key, value in values.items():
        if value is not None:
            _fill(features[key], value)


def _fill(made: Any, value: object) -> None:
    """Puts the value into a Feature."""
    if isinstance(value, bytes | bytearray | memoryview):
        made.bytes_list.value.append(bytes(value))
    elif isinstance(value, str):
        made.bytes_list.value.append(value.encode())
    elif isinstance(value, bool | int):
        made.int64_list.value.append(int(value))
    elif isinstance(value, float):
        made.float_list.value.append(value)
    elif value is not None:
        _fill_array(made, value)


def _fill_array(made: Any, value: Any) -> None:
    if hasattr(value, "numpy") and not isinstance(value, np.ndarray | np.generic):
        value = value.numpy()  # another library's tensor
    if isinstance(value, bytes | str):
        _fill(made, value)
        return
    untyped = isinstance(value, list | tuple)
    if untyped and not len(value):
        return
    array = _bytes_of(value) if _holds_text(value) else np.asarray(value)
    kind = array.dtype.kind
    if untyped and kind in "OSU" and not _holds_text(value):
        raise TypeError(f"values of several kinds, or none that a Feature holds: {value!r:.100}")
    if kind in "biu":
        made.int64_list.value.extend(map(int, array.ravel().tolist()))
        made.int64_list.SetInParent()
    elif kind == "f" or array.dtype.name == "bfloat16":
        made.float_list.value.extend(array.ravel().astype(np.float32).tolist())
        made.float_list.SetInParent()
    elif kind in "OSU":
        made.bytes_list.value.extend(_encoded(item) for item in array.ravel().tolist())
        made.bytes_list.SetInParent()
    else:
        raise TypeError(f"a Feature holds integers, floats and bytes, not {array.dtype} ({value!r:.100})")


def _holds_text(value: object) -> bool:
    while isinstance(value, list | tuple) and len(value):
        value = value[0]
    return isinstance(value, bytes | bytearray | memoryview | str)


def _bytes_of(value: object) -> npt.NDArray[np.object_]:
    """The bytes in nested lists; NumPy's own string types would lose zeros at the end."""
    flat: list[object] = []

    def walk(item: object) -> None:
        if isinstance(item, list | tuple):
            for inner in item:
                walk(inner)
        else:
            flat.append(item)

    walk(value)
    array = np.empty(len(flat), dtype=object)
    array[:] = [bytes(item) if isinstance(item, bytearray | memoryview) else item for item in flat]
    return array


def _encoded(item: object) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes | bytearray | memoryview):
        return bytes(item)
    raise TypeError(f"a bytes list holds bytes and str, not {type(item).__name__} ({item!r:.100})")
