"""Nests of tensors as one block of bytes: what lies where, and views of it on the other side."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from .batches import Batch, LabelledBatch, SequenceBatch

__all__ = ["Layout", "Parts", "layout_of", "parts_of", "put", "restored"]

_ALIGNMENT = 64
_FEW_BYTES = 4096  # of strings, which are as well pickled
# Those without the underscore want the tensor to be coalesced, which would add up what was given twice.
_indices_of, _values_of = operator.methodcaller("_indices"), operator.methodcaller("_values")
# Those that a buffer of bytes can be seen as; not the quantized ones.
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
    """A tensor in the block."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    offset: int
    size: int  # elements


class _Group(NamedTuple):
    """Tensors of one dtype, which lie side by side."""

    dtype: torch.dtype
    members: tuple[int, ...]
    offset: int
    size: int  # elements


class Layout(NamedTuple):
    """Where the leaves of a nest are; the same for each batch whose tensors have the same shapes."""

    skeleton: Any
    leaves: tuple[_Leaf, ...]
    groups: tuple[_Group, ...]
    size: int  # of the block, in bytes


class Parts:
    """A nest taken apart."""

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []  # dense, on the CPU: these go into the block
        self.kinds: list[tuple[torch.dtype, torch.Size]] = []  # of the tensors
        self.others: list[Any] = []  # these are pickled

    def take(self, value: Any) -> Any:
        """The skeleton of a value, whose leaves are noted: a number is that of a tensor."""
        kind = type(value)
        if kind is torch.Tensor:
            # Nested tensors say that they are strided, but have no one shape.
            if value.layout is torch.strided and _is_plain(value) and not value.is_nested:
                return self._put(value)
            return self._take_tensor(value)
        if kind in _MAPPINGS:
            return (kind, tuple(value), tuple(map(self.take, value.values())))
        if kind in _TUPLES:
            return (kind, *map(self.take, value))
        if kind is list:
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
        if not value or not all(type(one) is bytes for one in value):
            return (list, *map(self.take, value)) if _holds_tensors(value) else self._other(value)
        joined = b"".join(value)
        if len(joined) < _FEW_BYTES:
            return self._other(value)
        sizes = torch.tensor([len(one) for one in value])
        return ("strings", self._put(sizes), self._put(torch.frombuffer(bytearray(joined), dtype=torch.uint8)))

    def _put(self, tensor: torch.Tensor) -> int:
        self.tensors.append(tensor)
        self.kinds.append((tensor.dtype, tensor.shape))
        return len(self.tensors) - 1

    def _other(self, value: Any) -> Any:
        self.others.append(value)
        return ("other", len(self.others) - 1)


def parts_of(nest: Any) -> tuple[Parts, Any]:
    """The leaves of a nest, and its skeleton, which is hashable."""
    parts = Parts()
    return parts, parts.take(nest)


def _is_plain(value: torch.Tensor) -> bool:
    """Whether it is nothing but values in main memory."""
    return value.is_cpu and value.dtype in _DTYPES and not value.requires_grad


def _is_jagged(value: Any) -> bool:
    """Whether it is a jagged tensor whose rows are its values from end to end."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.jagged or not _is_plain(value):
        return False
    jagged: Any = value  # of a subclass
    return jagged.is_contiguous() and jagged.lengths() is None


def _holds_tensors(value: list[Any]) -> bool:
    return any(isinstance(one, torch.Tensor | dict | tuple) for one in value[:1])


def layout_of(skeleton: Any, kinds: tuple[tuple[torch.dtype, torch.Size], ...]) -> Layout:
    """Where tensors of these dtypes and shapes go: those of one dtype end to end."""
    members: dict[torch.dtype, list[int]] = {}
    for number, (dtype, _) in enumerate(kinds):
        members.setdefault(dtype, []).append(number)
    leaves: dict[int, _Leaf] = {}
    groups = []
    end = 0
    for dtype, numbers in members.items():
        begin = end = -(-end // _ALIGNMENT) * _ALIGNMENT
        for number in numbers:
            shape = kinds[number][1]
            leaves[number] = _Leaf(dtype, tuple(shape), end, shape.numel())
            end += shape.numel() * dtype.itemsize
        if end > begin:
            groups.append(_Group(dtype, tuple(numbers), begin, (end - begin) // dtype.itemsize))
    return Layout(skeleton, tuple(leaves[number] for number in range(len(kinds))), tuple(groups), end)


def put(layout: Layout, tensors: list[torch.Tensor], block: Any) -> None:
    """Copies the tensors into a block: a writable buffer of `layout.size` bytes or more."""
    with torch.no_grad():
        for dtype, members, offset, size in layout.groups:
            flat = [tensors[i] if tensors[i].dim() == 1 else tensors[i].reshape(-1) for i in members]
            torch.cat(flat, out=torch.frombuffer(block, dtype=dtype, count=size, offset=offset))


def restored(layout: Layout, block: Any, others: list[Any]) -> Any:
    """The nest again, with tensors that are views of the block, and hold it."""
    tensors = [_view(leaf, block) for leaf in layout.leaves]
    return _filled(layout.skeleton, tensors, others)


def _view(leaf: _Leaf, block: Any) -> torch.Tensor:
    dtype, shape, offset, size = leaf
    if not size:
        return torch.empty(shape, dtype=dtype)
    # Not slices of one tensor: each has a storage, and a count of changes, of its own.
    tensor = torch.frombuffer(block, dtype=dtype, count=size, offset=offset)
    return tensor if len(shape) == 1 else tensor.view(shape)


def _filled(skeleton: Any, tensors: list[torch.Tensor], others: list[Any]) -> Any:
    if type(skeleton) is int:
        return tensors[skeleton]
    kind, *parts = skeleton
    if kind in _MAPPINGS:
        keys, values = parts
        found = [tensors[part] if type(part) is int else _filled(part, tensors, others) for part in values]
        return _MAPPINGS[kind](zip(keys, found, strict=True))
    if kind in _TUPLES:
        return _TUPLES[kind](*(_filled(part, tensors, others) for part in parts))
    if kind is list:
        return [_filled(part, tensors, others) for part in parts]
    if kind == "jagged":
        return torch.nested.nested_tensor_from_jagged(tensors[parts[0]], tensors[parts[1]])
    if kind == "sparse":
        indices, values, shape, coalesced = parts
        return torch.sparse_coo_tensor(
            tensors[indices], tensors[values], shape, is_coalesced=coalesced, check_invariants=False
        )
    if kind == "strings":
        return _cut(tensors[parts[0]].tolist(), tensors[parts[1]])
    return others[parts[0]]


def _cut(sizes: list[int], joined: torch.Tensor) -> list[bytes]:
    bytes_of: Any = joined.numpy()
    whole = memoryview(bytes_of)
    strings, begin = [], 0
    for size in sizes:
        strings.append(bytes(whole[begin : begin + size]))
        begin += size
    return strings
