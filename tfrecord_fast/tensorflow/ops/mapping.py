"""`map_fn` and `scan`, which call a function for the slices along the first axis.

Arguments and results are structures as in `tf.nest`: a list is a structure here, not a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError, OutOfRangeError
from ...values.columns.ragged import RaggedTensor as Plain
from ...values.elements import nests
from ...values.elements.composites import stack_ragged
from .. import nest
from ..fallback import tf_module
from ..tensors.ragged_rows import uniform_rows
from ..tensors.tensor_dtypes import array_dtype
from ..tensors.tensor_specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec
from ..tensors.wrapping import unwrap, wrap
from .arguments import as_array


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Call a function for the slices along the first axis, and stack its results.

    Results must match `fn_output_signature`, or, without it, the slices.
    """
    slices = _Slices(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    signature = slices.signature() if signature is None else signature
    specs = [leaf if isinstance(leaf, TypeSpec) else TensorSpec(None, leaf) for leaf in nest.flatten(signature)]
    columns: list[list[Any]] = [[] for _ in specs]
    for row in slices:
        result = fn(row)
        nest.assert_same_structure(signature, result)
        for column, spec, leaf in zip(columns, specs, nest.flatten(result), strict=True):
            column.append(_fitting(leaf, spec))
    return nest.pack_sequence_as(signature, map(_stacked, columns, specs))


def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Call a function with its previous result and the next slice, and stack all results."""
    rows = iter(_Slices(elems, dense=True, reverse=reverse))
    if initializer is None:
        total = next(rows, None)
        if total is None:
            raise OutOfRangeError(message="an empty tensor needs an initializer")
    else:
        total = nest.map_structure(lambda leaf: wrap(_leaf(leaf)), initializer)
    specs = [TensorSpec(leaf.shape, leaf.dtype) for leaf in nest.flatten(total)]
    columns: list[list[Any]] = [[] for _ in specs]

    def add(leaves: list[Any]) -> list[Any]:
        values = [_fitting(leaf, spec) for leaf, spec in zip(leaves, specs, strict=True)]
        for column, leaf in zip(columns, values, strict=True):
            column.append(leaf)
        return values

    if initializer is None:
        add(nest.flatten(total))
    for row in rows:
        result = fn(total, row)
        nest.assert_same_structure(total, result)
        total = nest.pack_sequence_as(total, map(wrap, add(nest.flatten(result))))
    stacked = (_stacked(column[::-1] if reverse else column, spec) for column, spec in zip(columns, specs, strict=True))
    return nest.pack_sequence_as(total, stacked)


class _Slices:
    """The slices of all tensors in a structure; the tensors must have one length."""

    def __init__(self, elems: Any, *, dense: bool = False, reverse: bool = False) -> None:
        self._like = elems
        self._leaves = [_leaf(leaf) for leaf in nest.flatten(elems)]
        self._reverse = reverse
        if not self._leaves:
            raise InvalidArgumentError("elems contains no tensor")
        for leaf in self._leaves:
            if dense and not isinstance(leaf, np.ndarray):
                raise InvalidArgumentError(f"expected a dense tensor, got a {type(leaf).__name__}")
            if not len(leaf.shape):
                raise InvalidArgumentError(f"a scalar has no slices: {leaf!r:.100}")
        lengths = {nests.column_length(leaf) for leaf in self._leaves}
        if len(lengths) > 1:
            raise InvalidArgumentError(f"the structure's tensors have different lengths: {sorted(lengths)}")

    def __iter__(self) -> Iterator[Any]:
        columns = [list(nests.rows(leaf))[::-1] if self._reverse else nests.rows(leaf) for leaf in self._leaves]
        for row in zip(*columns, strict=True):
            yield nest.pack_sequence_as(self._like, map(wrap, row))

    def signature(self) -> Any:
        """Return the specs of a slice."""
        return nest.pack_sequence_as(self._like, map(_row_spec, self._leaves))


def _leaf(value: Any) -> Any:
    """Return the plain value of a tensor, or of a value that becomes one."""
    plain = unwrap(value)
    return plain if hasattr(plain, "dense_shape") or hasattr(plain, "row_splits") else as_array(value)


def _row_spec(leaf: Any) -> Any:
    if hasattr(leaf, "dense_shape"):
        return SparseTensorSpec(leaf.shape[1:], leaf.dtype)
    if hasattr(leaf, "row_splits"):
        return RaggedTensorSpec(leaf.shape[1:], leaf.dtype, leaf.ragged_rank - 1, leaf.row_splits.dtype)
    return TensorSpec(None, array_dtype(leaf))


def _fitting(leaf: Any, spec: Any) -> Any:
    plain = _leaf(leaf)
    if isinstance(plain, np.ndarray):
        plain = as_array(leaf, spec.dtype)
    if isinstance(spec, SparseTensorSpec) != hasattr(plain, "dense_shape") or (
        isinstance(spec, TensorSpec) and not isinstance(plain, np.ndarray)
    ):
        raise InvalidArgumentError(f"a result is a {type(plain).__name__}, expected {spec!r}")
    if array_dtype(plain) != spec.dtype:
        raise InvalidArgumentError(f"a result has the dtype {array_dtype(plain).name}, expected {spec.dtype.name}")
    if not spec.shape.is_compatible_with(plain.shape):
        raise InvalidArgumentError(f"a result has the shape {tuple(plain.shape)}, expected {spec.shape}")
    return plain


def _stacked(results: list[Any], spec: Any) -> Any:
    if not results:
        return _nothing(spec)
    is_ragged = hasattr(spec, "ragged_rank") and not hasattr(results[0], "row_splits")
    return wrap(stack_ragged(results) if is_ragged else nests.stack(results))


def _nothing(spec: Any) -> Any:
    if hasattr(spec, "ragged_rank"):
        return wrap(_no_rows(spec))
    lengths = () if spec.shape.rank is None else [length or 0 for length in spec.shape.as_list()]
    empty = np.zeros((0, *lengths), unwrap(spec.dtype))
    return tf_module("sparse").from_dense(empty) if isinstance(spec, SparseTensorSpec) else wrap(empty)


def _no_rows(spec: Any) -> Any:
    """Return no ragged rows, with the lengths that the spec has."""
    lengths = [None] * (spec.ragged_rank + 1) if spec.shape.rank is None else spec.shape.as_list()
    inner = [length or 0 for length in lengths[spec.ragged_rank + 1 :]]
    splits_dtype: Any = spec.row_splits_dtype.as_numpy_dtype
    rows: Any = np.zeros((0, *inner), unwrap(spec.dtype))
    for length in reversed(lengths[: spec.ragged_rank + 1]):
        rows = (
            Plain.from_row_splits(rows, np.zeros(1, splits_dtype))
            if length is None
            else uniform_rows(rows, length, 0, splits_dtype)
        )
    return rows
