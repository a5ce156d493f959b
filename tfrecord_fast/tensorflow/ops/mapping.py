"""Functions that are called for the slices along the first axis: `map_fn`, `foldl`, `foldr`, `scan`.

Arguments and results are structures as `tf.nest` sees them: lists are structures here, and no tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError, OutOfRangeError
from ...values.columns.ragged import RaggedTensor as Plain
from ...values.elements import nests
from ...values.elements.composites import stack_ragged
from .. import border, nest
from ..fallback import part_of_face
from ..specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec
from ..types import dtype_of
from ..uniform import uniform_rows
from .arguments import array_of

__all__ = ["foldl", "foldr", "map_fn", "scan", "vectorized_map"]


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
    """The function's results for the slices along the first axis, stacked.

    Raises:
      TypeError, ValueError, errors.InvalidArgumentError: a result is not as `fn_output_signature` says, or, without
        one, not like a slice.
    """
    slices = _Slices(elems)
    wanted = fn_output_signature if fn_output_signature is not None else dtype
    wanted = slices.signature() if wanted is None else wanted
    specs = [_spec(one) for one in nest.flatten(wanted)]
    columns: list[list[Any]] = [[] for _ in specs]
    for row in slices:
        result = fn(row)
        nest.assert_same_structure(wanted, result)
        for column, spec, leaf in zip(columns, specs, nest.flatten(result), strict=True):
            column.append(_fitting(leaf, spec))
    return nest.pack_sequence_as(wanted, map(_stacked, columns, specs))


def vectorized_map(
    fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True, name: str | None = None
) -> Any:
    """The function's results for the slices along the first axis, stacked. Of no slice, it is called for zeros."""
    slices = _Slices(elems)
    results = [fn(row) for row in slices]
    if not results:
        like = fn(slices.zeros())
        return nest.map_structure(lambda leaf: border.raised(_leaf(leaf)[None][:0]), like)
    columns = zip(*([_leaf(leaf) for leaf in nest.flatten(result)] for result in results), strict=True)
    return nest.pack_sequence_as(results[0], (border.raised(nests.stack(list(column))) for column in columns))


def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last of the function's results, each of the one before and the next slice."""
    return _fold(fn, iter(_Slices(elems, dense=True)), initializer)


def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last of the function's results, from the last slice to the first."""
    return _fold(fn, iter(_Slices(elems, dense=True, reverse=True)), initializer)


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
    """All of the function's results, each of the one before and the next slice, stacked."""
    rows = iter(_Slices(elems, dense=True, reverse=reverse))
    total = _first(rows) if initializer is None else _tensors(initializer)
    specs = [TensorSpec(leaf.shape, leaf.dtype) for leaf in nest.flatten(total)]
    columns: list[list[Any]] = [[] for _ in specs]

    def add(leaves: list[Any]) -> list[Any]:
        made = [_fitting(leaf, spec) for leaf, spec in zip(leaves, specs, strict=True)]
        for column, leaf in zip(columns, made, strict=True):
            column.append(leaf)
        return made

    if initializer is None:
        add(nest.flatten(total))
    for row in rows:
        result = fn(total, row)
        nest.assert_same_structure(total, result)
        total = nest.pack_sequence_as(total, map(border.raised, add(nest.flatten(result))))
    stacked = (_stacked(column[::-1] if reverse else column, spec) for column, spec in zip(columns, specs, strict=True))
    return nest.pack_sequence_as(total, stacked)


def _fold(fn: Callable[..., Any], rows: Iterator[Any], initializer: Any) -> Any:
    # As it is given: Python's numbers take the dtype of the tensors that they meet.
    total = _first(rows) if initializer is None else initializer
    for row in rows:
        result = fn(total, row)
        nest.assert_same_structure(total, result)
        total = result
    return _tensors(total)


def _first(rows: Iterator[Any]) -> Any:
    for row in rows:
        return row
    raise OutOfRangeError(message="there is no slice to begin with, and no initializer")


class _Slices:
    """The slices of all tensors in a structure, which have one length."""

    def __init__(self, elems: Any, *, dense: bool = False, reverse: bool = False) -> None:
        self._like = elems
        self._leaves = [_leaf(leaf) for leaf in nest.flatten(elems)]
        self._reverse = reverse
        if not self._leaves:
            raise InvalidArgumentError("there is no tensor that has slices")
        for leaf in self._leaves:
            if dense and not isinstance(leaf, np.ndarray):
                raise InvalidArgumentError(f"a dense tensor was expected, got a {type(leaf).__name__}")
            if not len(leaf.shape):
                raise InvalidArgumentError(f"a scalar has no slices: {leaf!r:.100}")
        lengths = {nests.column_length(leaf) for leaf in self._leaves}
        if len(lengths) > 1:
            raise InvalidArgumentError(f"the structure's tensors have different lengths: {sorted(lengths)}")

    def __iter__(self) -> Iterator[Any]:
        for row in zip(*map(self._in_order, self._leaves), strict=True):
            yield self._packed(row)

    def _in_order(self, leaf: Any) -> Any:
        rows = nests.rows(leaf)
        return reversed(list(rows)) if self._reverse else rows

    def _packed(self, row: Any) -> Any:
        return nest.pack_sequence_as(self._like, map(border.raised, row))

    def signature(self) -> Any:
        """What a slice is, in place of each tensor."""
        return nest.pack_sequence_as(self._like, map(_spec_of_row, self._leaves))

    def zeros(self) -> Any:
        """A slice, where there is none."""
        return self._packed(
            np.full(leaf.shape[1:], b"" if leaf.dtype.kind == "O" else 0, leaf.dtype) for leaf in self._leaves
        )


def _leaf(value: Any) -> Any:
    """The package's value of a tensor, or of what becomes one."""
    given = border.lowered(value)
    return given if hasattr(given, "row_splits") or hasattr(given, "dense_shape") else array_of(value)


def _tensors(structure: Any) -> Any:
    return nest.map_structure(lambda leaf: border.raised(_leaf(leaf)), structure)


def _spec(wanted: Any) -> Any:
    """A spec, of a spec or a dtype."""
    return wanted if isinstance(wanted, TypeSpec) else TensorSpec(None, wanted)


def _spec_of_row(leaf: Any) -> Any:
    if hasattr(leaf, "dense_shape"):
        return SparseTensorSpec(leaf.shape[1:], leaf.dtype)
    if hasattr(leaf, "row_splits"):
        return RaggedTensorSpec(leaf.shape[1:], leaf.dtype, leaf.ragged_rank - 1, leaf.row_splits.dtype)
    return TensorSpec(None, dtype_of(leaf))


def _fitting(leaf: Any, spec: Any) -> Any:
    """The value, which is as the spec says.

    Raises:
      TypeError, ValueError, errors.InvalidArgumentError: it is not.
    """
    made = _leaf(leaf)
    if isinstance(made, np.ndarray):
        made = array_of(leaf, spec.dtype)
    if isinstance(spec, SparseTensorSpec) != hasattr(made, "dense_shape") or (
        isinstance(spec, TensorSpec) and not isinstance(made, np.ndarray)
    ):
        raise InvalidArgumentError(f"a result is a {type(made).__name__}, expected {spec!r}")
    if dtype_of(made) != spec.dtype:
        raise InvalidArgumentError(f"a result has the dtype {dtype_of(made).name}, expected {spec.dtype.name}")
    if not spec.shape.is_compatible_with(made.shape):
        raise InvalidArgumentError(f"a result has the shape {tuple(made.shape)}, expected {spec.shape}")
    return made


def _stacked(results: list[Any], spec: Any) -> Any:
    if not results:
        return _nothing(spec)
    is_ragged = hasattr(spec, "ragged_rank") and not hasattr(results[0], "row_splits")
    return border.raised(stack_ragged(results) if is_ragged else nests.stack(results))


def _nothing(spec: Any) -> Any:
    """No rows of that spec."""
    if hasattr(spec, "ragged_rank"):
        return border.raised(_no_rows(spec))
    lengths = () if spec.shape.rank is None else [length or 0 for length in spec.shape.as_list()]
    empty = np.zeros((0, *lengths), border.lowered(spec.dtype))
    return part_of_face("sparse").from_dense(empty) if isinstance(spec, SparseTensorSpec) else border.raised(empty)


def _no_rows(spec: Any) -> Any:
    """No ragged rows, of which all lengths are known that the spec says."""
    lengths = [None] * (spec.ragged_rank + 1) if spec.shape.rank is None else spec.shape.as_list()
    inner = [length or 0 for length in lengths[spec.ragged_rank + 1 :]]
    kind: Any = spec.row_splits_dtype.as_numpy_dtype
    made: Any = np.zeros((0, *inner), border.lowered(spec.dtype))
    for length in reversed(lengths[: spec.ragged_rank + 1]):
        made = Plain.from_row_splits(made, np.zeros(1, kind)) if length is None else uniform_rows(made, length, 0, kind)
    return made
