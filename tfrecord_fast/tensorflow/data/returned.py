"""A check of what functions of datasets return."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.handle import Handle
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...values.elements.nests import leaves, normalize

_STRINGS = (bytes, str)


def check_tensors(value: Any, function: str) -> None:
    """Raise an error unless tensors, or datasets, can hold what a function returned.

    Raises:
      TypeError: a component is another object.
      InvalidArgumentError: there are no components, as without a `return`.
    """
    components = leaves(normalize(value))
    if all(component is None for component in components):
        raise InvalidArgumentError(
            f"the function {function} must return tensors, got {value!r:.100}: is a `return` missing?"
        )
    for component in components:
        if not _is_held(component):
            raise TypeError(
                f"the function {function} returned {component!r:.100} of the type {type(component).__name__}, "
                "which no tensor can hold: return numbers, strings, arrays or tensors"
            )


def _is_held(component: Any) -> bool:
    if component is None or isinstance(component, (*_STRINGS, Handle)) or hasattr(type(component), "row_splits"):
        return True
    if not hasattr(component, "__array__"):
        return False
    array = np.asarray(component)
    if array.dtype.kind == "O":
        return all(isinstance(item, _STRINGS) for item in array.flat)
    try:
        as_dtype(array.dtype)
    except TypeError:
        return False
    return True
