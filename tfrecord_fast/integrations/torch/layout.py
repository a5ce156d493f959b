"""Layouts of nests of tensors in one block of bytes, and views of the block on the other side."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from .batches import Batch, LabelledBatch, SequenceBatch

_ALIGNMENT = 64
_FEW_BYTES = 4096  # of strings; so few are pickled
# Methods without the underscore need a coalesced tensor, which adds up values with equal indices.
_indices_of, _values_of = operator.methodcaller("_indices"), operator.methodcaller("_values")
# Dtypes of views of a buffer of bytes; quantized ones are not among them.
_DTYPES = frozenset(
    getattr(torch, name)
    for name in (
        *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
        *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    )
)
_MAPPINGS: dict[type, Callable[..., Any]] = {dict: dict, Batch: Batch}
_TUPLES: dict[type, Callable[..., Any]] = {
    tuple: lambda *items: items,
    LabelledBatch: LabelledBatch,
    SequenceBatch: SequenceBatch,
}


class _Leaf(NamedTuple):
    dtype: torch.dtype
    shape: tuple[int, ...]
    offset: int
    size: int  # elements


class _Group(NamedTuple):
    """Adjacent tensors of one dtype."""

    dtype: torch.dtype
    members: tuple[int, ...]
    offset: int
    size: int  # elements


class Layout(NamedTuple):
    """Offsets of the leaves of a nest. Batches whose tensors have the same shapes have equal layouts."""

    skeleton: Any
    leaves: tuple[_Leaf, ...]
    groups: tuple[_Group, ...]
    size: int  # of the block, in bytes


class Parts:
    """The leaves of a nest."""

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []  # dense, on the CPU: copied into the block
        self.types: list[tuple[torch.dtype, torch.Size]] = []  # of the tensors
        self.others: list[Any] = []  # pickled

    def take(self, value: Any) -> Any:
        """Collect the leaves of a value, and return its skeleton. An int in a skeleton is the number of a tensor."""
        value_class = type(value)
        if value_class is torch.Tensor:
            # Nested tensors also have the strided layout, but no single shape.
            if value.layout is torch.strided and _is_plain(value) and not value.is_nested:
                return self._put(value)
            return self._take_tensor(value)
        if value_class in _MAPPINGS:
            return (value_class, tuple(value), tuple(map(self.take, value.values())))
        if value_class in _TUPLES:
            return (value_class, *map(self.take, value))
        if value_class is list:
            return self._take_list(value)
        if _is_jagged(value):
            return ("jagged", self._put(value.values()), self._put(value.offsets()))
        return self._other(value)

    def _take_tensor(self, value: torch.Tensor) -> Any:
        if value.layout is not torch.sparse_coo or not _is_plain(value):
            return self._other(value)
        parts = self._put(_indices_of(value)), self._put(_values_of(value))
        return ("sparse", *parts, tuple(value.shape), value.is_coalesced())

    def _take_list(self, value: list[Any]) -> Any:
        if not value or not all(type(item) is bytes for item in value):
            holds_tensors = bool(value) and isinstance(value[0], torch.Tensor | dict | tuple)
            return (list, *map(self.take, value)) if holds_tensors else self._other(value)
        joined = b"".join(value)
        if len(joined) < _FEW_BYTES:
            return self._other(value)
        sizes = torch.tensor(list(map(len, value)))
        return ("strings", self._put(sizes), self._put(torch.frombuffer(bytearray(joined), dtype=torch.uint8)))

    def _put(self, tensor: torch.Tensor) -> int:
        self.tensors.append(tensor)
        self.types.append((tensor.dtype, tensor.shape))
        return len(self.tensors) - 1

    def _other(self, value: Any) -> Any:
        self.others.append(value)
        return ("other", len(self.others) - 1)


def parts_of(nest: Any) -> tuple[Parts, Any]:
    """Return the leaves of a nest, and its hashable skeleton."""
    parts = Parts()
    return parts, parts.take(nest)


def _is_plain(value: torch.Tensor) -> bool:
    """Return True for a tensor that is only values in main memory."""
    return value.is_cpu and value.dtype in _DTYPES and not value.requires_grad


def _is_jagged(value: Any) -> bool:
    """Return True for a jagged tensor without gaps between its rows."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.jagged or not _is_plain(value):
        return False
    jagged: Any = value  # torch has no type for it
    return jagged.is_contiguous() and jagged.lengths() is None


def layout_of(skeleton: Any, types: tuple[tuple[torch.dtype, torch.Size], ...]) -> Layout:
    """Return the layout of tensors of these dtypes and shapes, with tensors of one dtype next to each other."""
    members: dict[torch.dtype, list[int]] = {}
    for number, (dtype, _) in enumerate(types):
        members.setdefault(dtype, []).append(number)
    leaves: dict[int, _Leaf] = {}
    groups = []
    end = 0
    for dtype, numbers in members.items():
        begin = end = -(-end // _ALIGNMENT) * _ALIGNMENT
        for number in numbers:
            shape = types[number][1]
            leaves[number] = _Leaf(dtype, tuple(shape), end, shape.numel())
            end += shape.numel() * dtype.itemsize
        if end > begin:
            groups.append(_Group(dtype, tuple(numbers), begin, (end - begin) // dtype.itemsize))
    return Layout(skeleton, tuple(leaves[number] for number in range(len(types))), tuple(groups), end)


def put(layout: Layout, tensors: list[torch.Tensor], block: Any) -> None:
    """Copy the tensors into a block: a writable buffer of `layout.size` bytes or more."""
    with torch.no_grad():
        for dtype, members, offset, size in layout.groups:
            flat = [tensors[i] if tensors[i].dim() == 1 else tensors[i].reshape(-1) for i in members]
            torch.cat(flat, out=torch.frombuffer(block, dtype=dtype, count=size, offset=offset))


def restored(layout: Layout, block: Any, others: list[Any]) -> Any:
    """Return the nest, with tensors that are views of the block, and keep it alive."""
    tensors = [_view(leaf, block) for leaf in layout.leaves]
    return _filled(layout.skeleton, tensors, others)


def _view(leaf: _Leaf, block: Any) -> torch.Tensor:
    dtype, shape, offset, size = leaf
    if not size:
        return torch.empty(shape, dtype=dtype)
    # Not slices of one tensor: each needs its own storage and version counter.
    tensor = torch.frombuffer(block, dtype=dtype, count=size, offset=offset)
    return tensor if len(shape) == 1 else tensor.view(shape)


def _filled(skeleton: Any, tensors: list[torch.Tensor], others: list[Any]) -> Any:
    if type(skeleton) is int:
        return tensors[skeleton]
    node, *items = skeleton
    if node in _MAPPINGS:
        keys, skeletons = items
        values = [tensors[item] if type(item) is int else _filled(item, tensors, others) for item in skeletons]
        return _MAPPINGS[node](zip(keys, values, strict=True))
    if node in _TUPLES:
        return _TUPLES[node](*(_filled(item, tensors, others) for item in items))
    if node is list:
        return [_filled(item, tensors, others) for item in items]
    if node == "jagged":
        return torch.nested.nested_tensor_from_jagged(tensors[items[0]], tensors[items[1]])
    if node == "sparse":
        indices, values, shape, coalesced = items
        return torch.sparse_coo_tensor(
            tensors[indices], tensors[values], shape, is_coalesced=coalesced, check_invariants=False
        )
    if node == "strings":
        return _cut(tensors[items[0]].tolist(), tensors[items[1]])
    return others[items[0]]


def _cut(sizes: list[int], joined: torch.Tensor) -> list[bytes]:
    array: Any = joined.numpy()
    whole = memoryview(array)
    strings, begin = [], 0
    for size in sizes:
        strings.append(bytes(whole[begin : begin + size]))
        begin += size
    return strings
