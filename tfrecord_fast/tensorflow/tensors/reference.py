"""References to tensors, by identity: TensorFlow's `Tensor.ref()`."""

from __future__ import annotations

from typing import Any


class Reference:
    """A key of a dict for a tensor, equal to other references to the same tensor."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._tensor!r}>"
