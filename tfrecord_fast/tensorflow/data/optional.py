"""`tf.experimental.Optional`: an element of a dataset, or none at its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.elements.nests import normalize, spec_of
from ..tensors.tensor_specs import as_spec
from ..tensors.wrapping import unwrap, wrap

_NOTHING = object()


class Optional:
    """A value, or none. `element_spec` describes the value."""

    def __init__(self, element_spec: Any, value: Any = _NOTHING) -> None:
        self.element_spec = element_spec
        self._value = value

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Return an Optional that has this value, as tensors."""
        element = normalize(unwrap(value))
        return Optional(as_spec(spec_of(element)), wrap(element))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Return an Optional without a value."""
        return Optional(element_spec)

    def has_value(self, name: str | None = None) -> Any:
        """Return True, as a tensor, if there is a value."""
        return wrap(np.bool_(self._value is not _NOTHING))

    def get_value(self, name: str | None = None) -> Any:
        """Return the value.

        Raises:
          errors.InvalidArgumentError: there is none.
        """
        if self._value is _NOTHING:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._value


def get_next_as_optional(iterator: Any) -> Optional:
    """Return the iterator's next element as an Optional."""
    optional: Optional = iterator.get_next_as_optional()
    return optional
