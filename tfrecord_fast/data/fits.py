"""Checks of elements against an element_spec."""

from __future__ import annotations

from typing import Any

from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..values.elements.nests import leaves, map_leaves, pack, spec_of
from ..values.elements.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec


def is_composite(value: Any) -> bool:
    """Return True for a RaggedTensor or a SparseTensor."""
    return hasattr(type(value), "row_splits")


def lengths_of(shape: Any) -> tuple[int | None, ...] | None:
    """Return a shape as a tuple, with None for unknown lengths; None if the rank is unknown."""
    if shape is None or getattr(shape, "rank", 0) is None:
        return None
    lengths = shape.as_list() if hasattr(shape, "as_list") else shape
    if not hasattr(lengths, "__iter__"):
        return None
    return tuple(None if length is None or length == -1 else int(length) for length in lengths)


def known(spec: Any) -> TensorSpec:
    """Return a spec, which may be TensorFlow's, as one of `values.elements.specs`; its shape is None without a rank."""
    shape, dtype = lengths_of(getattr(spec, "shape", None)), as_dtype(spec.dtype)
    if hasattr(spec, "ragged_rank"):
        return RaggedTensorSpec(shape, dtype, spec.ragged_rank, as_dtype(spec.row_splits_dtype))
    return (SparseTensorSpec if "Sparse" in type(spec).__name__ else TensorSpec)(shape, dtype)


def fitted(specs: Any, origin: str, element: Any) -> Any:
    """Return the element, in the structure of the specs."""
    components, flat_specs = leaves(element), leaves(map_leaves(known, specs))
    if len(components) != len(flat_specs):
        raise InvalidArgumentError(
            f"{origin}: element has {len(components)} components, but the spec has {len(flat_specs)}"
        )
    for number, (spec, component) in enumerate(zip(flat_specs, components, strict=True)):
        actual = spec_of(component)
        if not _fits(actual, spec):
            raise InvalidArgumentError(
                f"{origin}: component {number} of an element is {_words(actual)}, expected {_words(spec)}"
            )
    return pack(specs, components)


def _fits(actual: TensorSpec, spec: TensorSpec) -> bool:
    if type(actual) is not type(spec) or actual.dtype != spec.dtype:
        return False
    if isinstance(spec, RaggedTensorSpec) and isinstance(actual, RaggedTensorSpec):
        if (actual.ragged_rank, actual.row_splits_dtype) != (spec.ragged_rank, spec.row_splits_dtype):
            return False
    return spec.shape is None or (
        len(actual.shape) == len(spec.shape)
        and all(length in (None, have) for have, length in zip(actual.shape, spec.shape, strict=True))
    )


def _words(spec: TensorSpec) -> str:
    name = type(spec).__name__.removesuffix("Spec")
    lengths = "any shape" if spec.shape is None else f"shape {tuple(spec.shape)}"
    return f"a {name} of {getattr(spec.dtype, 'name', spec.dtype)}, {lengths}"
