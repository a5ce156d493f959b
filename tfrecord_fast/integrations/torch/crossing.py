"""Pickling of batches for other processes: one block of shared memory for all tensors of a batch."""

from __future__ import annotations

import collections
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any, cast

import torch
from torch.utils.data import get_worker_info

from .batches import Batch, LabelledBatch, SequenceBatch
from .blocks import Full, filled, room_for
from .layout import Layout, layout_of, parts_of, put, restored

_KEPT = 64  # layouts; batches of fixed shapes share one


class _Kept(collections.OrderedDict[Any, Any]):
    def keep(self, key: Any, value: Any) -> Any:
        self[key] = value
        while len(self) > _KEPT:
            self.popitem(last=False)
        return value


_layouts = _Kept()  # by skeleton, dtypes and shapes: the layout, and its pickle
_received = _Kept()  # by pickle


def _reduce(batch: Any) -> tuple[Any, ...]:
    try:
        return _reduced_to_block(batch)
    except Exception:
        # The sending thread would print the error and drop the batch, and the consumer would wait forever.
        return type(batch), (dict(batch),) if isinstance(batch, Batch) else tuple(batch)  # torch sends each tensor


def _reduced_to_block(batch: Any) -> tuple[Any, ...]:
    parts, skeleton = parts_of(batch)
    key = skeleton, tuple(parts.types)
    entry = _layouts.get(key)
    if entry is None:
        layout = layout_of(*key)
        entry = _layouts.keep(key, (layout, pickle.dumps(layout)))
    layout, pickled = entry
    return restore, (_sent(layout, parts.tensors), pickled, parts.others)


def _sent(layout: Layout, tensors: list[torch.Tensor]) -> Full | torch.Tensor | bytearray | None:
    """Copy the tensors into a block; its type is the way in which it is sent."""
    if not layout.size:
        return None
    if get_worker_info() is None:
        # torch sends the shared memory, and frees it.
        block: Any = torch.empty(layout.size, dtype=torch.uint8)
        block.share_memory_()
        put(layout, tensors, block.numpy())
        return cast(torch.Tensor, block)
    room = room_for(layout.size)
    if room is None:  # the consumer holds too many batches, so this one goes through the pipe
        data = bytearray(layout.size)
        put(layout, tensors, data)
        return data
    with room:
        put(layout, tensors, room.buffer)
        return room.full()


def restore(block: Full | torch.Tensor | bytearray | None, pickled: bytes, others: list[Any]) -> Any:
    layout = _received.get(pickled)
    if layout is None:
        layout = _received.keep(pickled, pickle.loads(pickled))
    if isinstance(block, Full):
        return restored(layout, filled(block), others)
    return restored(layout, block.numpy() if isinstance(block, torch.Tensor) else block, others)


def register() -> None:
    """Make multiprocessing send batches as blocks."""
    for batch_class in (Batch, LabelledBatch, SequenceBatch):
        ForkingPickler.register(batch_class, _reduce)
