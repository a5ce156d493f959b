"""`tf.experimental.Optional`: an element, or none."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from ..values.elements.nests import normalize
from .border import lowered, raised
from .specs import spec_of

__all__ = ["Optional"]


class Optional:
    """An element, or none; made by `from_value`, `empty` and `get_next_as_optional`."""

    def __init__(self, *value: Any, element_spec: Any = None) -> None:
        self._value, self._spec = value, element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """With that element."""
        return Optional(raised(normalize(lowered(value))))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """With none, whose spec would be that."""
        return Optional(element_spec=element_spec)

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is an element."""
        return raised(normalize(bool(self._value)))

    def get_value(self, name: str | None = None) -> Any:
        """The element.

        Raises:
          errors.InvalidArgumentError: there is none.
        """
        if not self._value:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._value[0]

    @property
    def element_spec(self) -> Any:
        """What is known of the element."""
        return self._spec if self._spec is not None else spec_of(lowered(self._value[0]))

    value_structure = element_spec

    def __repr__(self) -> str:
        return f"<tf.experimental.Optional {'with' if self._value else 'without'} a value>"
