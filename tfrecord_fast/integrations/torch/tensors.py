"""Conversion of columns to tensors, without a copy if the column is an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from ... import _core
from ...errors import InvalidArgumentError
from ...values.columns.bytes_array import BytesArray
from ...values.columns.ragged import RaggedTensor
from ...values.columns.sparse import SparseTensor, to_dense
from ...values.elements.attrs_classes import attrs_like, is_attrs, items_of

Strings: TypeAlias = Literal["list", "uint8"]
Ragged: TypeAlias = Literal["jagged", "padded"]


class Choices(NamedTuple):
    """The types of columns for which torch has several types, or none."""

    strings: Strings
    ragged: Ragged
    sparse: frozenset[Any] | None = None  # the keys of SparseFeatures; None: not known

    @classmethod
    def checked(cls, strings: Strings, ragged: Ragged) -> Choices:
        if strings not in ("list", "uint8"):
            raise InvalidArgumentError(f'strings must be "list" or "uint8", got {strings!r}')
        if ragged not in ("jagged", "padded"):
            raise InvalidArgumentError(f'ragged must be "jagged" or "padded", got {ragged!r}')
        return cls(strings, ragged)


def tensors_of(columns: Mapping[Any, Any], choices: Choices) -> dict[Any, Any]:
    tensors = {}
    for key, column in columns.items():
        if type(column) is np.ndarray and column.dtype.kind in "fiub" and column.flags.writeable:
            tensors[key] = torch.from_numpy(column)
        else:
            tensors[key] = tensor_of(column, choices, key)
    return tensors


def tensor_of(column: Any, choices: Choices, key: object) -> Any:
    """Convert a column to a tensor or a list; errors name `key`."""
    if isinstance(column, np.ndarray):
        return _array_tensor(column)
    if isinstance(column, BytesArray):
        return column.tolist() if choices.strings == "list" else _string_tensor(column, choices.ragged, key)
    if isinstance(column, SparseTensor):
        if _is_sparse(column, choices, key):
            return _sparse_tensor(column, key)
        return _ragged_tensor(_as_ragged(column), choices, key)
    if isinstance(column, RaggedTensor):
        return _ragged_tensor(column, choices, key)
    if isinstance(column, np.generic):
        return _array_tensor(np.asarray(column))
    if isinstance(column, Mapping):
        return tensors_of(column, choices)
    if type(column) is list and any(isinstance(item, np.ndarray) for item in column):  # images of different sizes
        return [tensor_of(item, choices, key) for item in column]
    if isinstance(column, tuple):
        items = (tensor_of(item, choices, key) for item in column)
        return type(column)(*items) if hasattr(column, "_fields") else tuple(items)
    if is_attrs(column):
        return attrs_like(column, [tensor_of(item, choices, key) for item in items_of(column)])
    return column


def _is_sparse(column: SparseTensor, choices: Choices, key: object) -> bool:
    return column.has_indices if choices.sparse is None else key in choices.sparse


def padded_keys(columns: Mapping[Any, Any], choices: Choices) -> frozenset[Any]:
    """Return the keys of columns whose tensors have zeros after shorter rows."""
    if choices.ragged != "padded":
        return frozenset()
    return frozenset(key for key, column in columns.items() if _is_padded(column, choices, key))


def _is_padded(column: Any, choices: Choices, key: object) -> bool:
    if isinstance(column, SparseTensor):
        if _is_sparse(column, choices, key):
            return False
        column = _as_ragged(column)
    values = column.flat_values if isinstance(column, RaggedTensor) else column
    return choices.strings == "uint8" if isinstance(values, BytesArray) else isinstance(column, RaggedTensor)


def row_of(columns: Mapping[Any, Any], choices: Choices, key: Any, number: int) -> Any:
    """Return a row of a padded column, without its padding."""
    column = columns[key]
    rows = _as_ragged(column) if isinstance(column, SparseTensor) else column
    return tensor_of(rows[number : number + 1], choices, key)[0]


def padded(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    """Stack tensors of different sizes, with zeros after shorter ones."""
    longest = [max(sizes) for sizes in zip(*(row.shape for row in rows), strict=True)]
    stack: torch.Tensor = rows[0].new_zeros(len(rows), *longest)
    for target, row in zip(stack, rows, strict=True):
        target[tuple(map(slice, row.shape))] = row
    return stack


def _as_ragged(column: SparseTensor) -> RaggedTensor:
    rows = RaggedTensor.from_row_splits(column.values, column.row_splits, validate=False)
    if column.row_steps is None:
        return rows
    return RaggedTensor.from_row_splits(rows, column.row_steps, validate=False)


def _array_tensor(array: npt.NDArray[Any]) -> Any:
    if array.dtype.hasobject or array.dtype.kind in "SUT":
        return array.tolist()
    # Tensors are always writable, so a read-only array must be copied.
    if not array.flags.writeable or not array.dtype.isnative or any(step < 0 for step in array.strides):
        array = array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
    if array.dtype.name == "bfloat16":  # from the package ml_dtypes; torch doesn't know it
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _string_tensor(column: BytesArray, ragged: Ragged, key: object) -> torch.Tensor:
    if ragged == "padded":
        return torch.from_numpy(_padded_rows(column))
    if column.ndim != 1:
        what = f"strings of shape {list(column.shape[1:])} per record"
        raise _no_jagged(key, what, 'strings="list" for lists of bytes, or ')
    ends = np.zeros(len(column) + 1, np.int64)
    np.cumsum(column.lengths(), out=ends[1:])
    return _jagged(np.frombuffer(bytearray(_core.bytes_joined(column)), np.uint8), ends)


def _padded_rows(column: BytesArray) -> npt.NDArray[np.uint8]:
    """Return the bytes of each element, `[*shape, longest]`, with zeros after shorter elements."""
    longest = int(column.lengths().max()) if column.size else 0
    rows = np.zeros((column.size, longest), np.uint8)
    _core.bytes_copy_rows(column, rows, exact=False)
    return rows.reshape(*column.shape, longest)


def _ragged_tensor(column: RaggedTensor, choices: Choices, key: object) -> Any:
    if isinstance(column.flat_values, BytesArray):
        if choices.strings == "list":
            return column.to_list()
        if choices.ragged == "jagged":
            raise _no_jagged(key, "lists of strings", 'strings="list" for lists of bytes, or ')
        column = _with_values(column, _padded_rows(column.flat_values))
    if choices.ragged == "padded":
        return _array_tensor(to_dense(column))
    if column.ragged_rank > 1:
        raise _no_jagged(key, f"{column.ragged_rank} ragged dimensions")
    return _jagged(column.values, column.row_splits)


def _with_values(column: RaggedTensor, flat: npt.NDArray[Any]) -> RaggedTensor:
    values = _with_values(column.values, flat) if isinstance(column.values, RaggedTensor) else flat
    return RaggedTensor.from_row_splits(values, column.row_splits, validate=False)


def _jagged(values: npt.NDArray[Any], splits: npt.NDArray[Any]) -> torch.Tensor:
    tensor: torch.Tensor = torch.nested.nested_tensor_from_jagged(_array_tensor(values), _array_tensor(splits))
    return tensor


def _no_jagged(key: object, what: str, remedy: str = "") -> InvalidArgumentError:
    return InvalidArgumentError(
        f'feature {key!r}: a jagged tensor can\'t hold {what}; use {remedy}ragged="padded" for dense tensors'
    )


def _sparse_tensor(column: SparseTensor, key: object) -> torch.Tensor:
    if column.dtype.hasobject:
        raise InvalidArgumentError(f"feature {key!r}: torch's sparse tensors can't hold strings; use VarLenFeature")
    indices = _array_tensor(np.ascontiguousarray(column.indices.T))
    return torch.sparse_coo_tensor(indices, _array_tensor(column.values), column.shape, check_invariants=False)
