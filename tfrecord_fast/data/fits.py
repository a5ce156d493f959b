"""Elements that are to be what somebody's specs say."""

from __future__ import annotations

from typing import Any

from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..values.elements.nests import leaves, map_leaves, pack, spec_of
from ..values.elements.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec

__all__ = ["fitted", "is_composite", "known", "lengths_of"]


def is_composite(value: Any) -> bool:
    """Whether it is a RaggedTensor or a SparseTensor."""
    return hasattr(value, "row_splits")


def lengths_of(shape: Any) -> tuple[int | None, ...] | None:
    """A shape as a tuple, with None for a length that is not known; None if its rank is not."""
    if shape is None or getattr(shape, "rank", 0) is None:
        return None
    given = shape.as_list() if hasattr(shape, "as_list") else shape
    if not hasattr(given, "__iter__"):
        return None
    return tuple(None if length is None or length == -1 else int(length) for length in given)


def known(spec: Any) -> TensorSpec:
    """A spec of ours, of the face or of TensorFlow's, as one of ours; its shape is None without a rank."""
    shape, dtype = lengths_of(getattr(spec, "shape", None)), as_dtype(spec.dtype)
    if hasattr(spec, "ragged_rank"):
        return RaggedTensorSpec(shape, dtype, spec.ragged_rank, as_dtype(spec.row_splits_dtype))
    return (SparseTensorSpec if "Sparse" in type(spec).__name__ else TensorSpec)(shape, dtype)


def fitted(specs: Any, origin: str, element: Any) -> Any:
    """The element, in the structure of the specs.

    Raises:
      errors.InvalidArgumentError: it has more components or fewer, or one of another dtype, shape or kind.
    """
    components, wanted = leaves(element), leaves(map_leaves(known, specs))
    if len(components) != len(wanted):
        raise InvalidArgumentError(
            f"{origin}: an element has {len(components)} components, where the specs have {len(wanted)}"
        )
    for number, (spec, component) in enumerate(zip(wanted, components, strict=True)):
        found = spec_of(component)
        if not _is_one_of(found, spec):
            raise InvalidArgumentError(
                f"{origin}: component {number} of an element is {_words(found)}, where the spec says {_words(spec)}"
            )
    return pack(specs, components)


def _is_one_of(found: TensorSpec, spec: TensorSpec) -> bool:
    if type(found) is not type(spec) or found.dtype != spec.dtype:
        return False
    if isinstance(spec, RaggedTensorSpec) and isinstance(found, RaggedTensorSpec):
        if (found.ragged_rank, found.row_splits_dtype) != (spec.ragged_rank, spec.row_splits_dtype):
            return False
    return spec.shape is None or (
        len(found.shape) == len(spec.shape)
        and all(length in (None, have) for have, length in zip(found.shape, spec.shape, strict=True))
    )


def _words(spec: TensorSpec) -> str:
    kind = type(spec).__name__.removesuffix("Spec")
    lengths = "any shape" if spec.shape is None else f"shape {tuple(spec.shape)}"
    return f"a {kind} of {getattr(spec.dtype, 'name', spec.dtype)}, {lengths}"
