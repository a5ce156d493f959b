"""How batches go to another process: as one block of shared memory, whatever the number of their tensors."""

from __future__ import annotations

import collections
import pickle
from multiprocessing.reduction import ForkingPickler
from typing import Any, cast

import torch
from torch.utils.data import get_worker_info

from .batches import Batch, LabelledBatch, SequenceBatch
from .blocks import Full, filled, place_for
from .layout import Layout, layout_of, parts_of, put, restored

__all__ = ["register", "restore"]

_KEPT = 64  # layouts; a batch of fixed shapes has the same one each time


class _Kept(collections.OrderedDict[Any, Any]):
    """The values used last."""

    def keep(self, key: Any, value: Any) -> Any:
        self[key] = value
        while len(self) > _KEPT:
            self.popitem(last=False)
        return value


_layouts = _Kept()  # by skeleton, dtypes and shapes: the layout, and its pickle
_received = _Kept()  # by pickle


def _reduce(batch: Any) -> tuple[Any, ...]:
    try:
        return _as_a_block(batch)
    except Exception:
        # The thread that sends would print the error and drop the batch, for which the consumer waits forever.
        return _as_torch_does(batch)


def _as_torch_does(batch: Any) -> tuple[Any, ...]:
    """Each tensor by itself."""
    return type(batch), (dict(batch),) if isinstance(batch, Batch) else tuple(batch)


def _as_a_block(batch: Any) -> tuple[Any, ...]:
    parts, skeleton = parts_of(batch)
    key = skeleton, tuple(parts.kinds)
    found = _layouts.get(key)
    if found is None:
        layout = layout_of(*key)
        found = _layouts.keep(key, (layout, pickle.dumps(layout)))
    layout, pickled = found
    return restore, (_sent(layout, parts.tensors), pickled, parts.others)


def _sent(layout: Layout, tensors: list[torch.Tensor]) -> Full | torch.Tensor | bytearray | None:
    """The block, and the way in which it goes."""
    if not layout.size:
        return None
    if get_worker_info() is None:
        # torch takes care of where it goes, and for how long it is needed.
        block: Any = torch.empty(layout.size, dtype=torch.uint8)
        block.share_memory_()
        put(layout, tensors, block.numpy())
        return cast(torch.Tensor, block)
    place = place_for(layout.size)
    if place is None:  # so many batches are being held that this one goes through the pipe
        data = bytearray(layout.size)
        put(layout, tensors, data)
        return data
    with place:
        put(layout, tensors, place.buffer)
        return place.full()


def restore(block: Full | torch.Tensor | bytearray | None, pickled: bytes, others: list[Any]) -> Any:
    """The batch that was sent."""
    layout = _received.get(pickled)
    if layout is None:
        layout = _received.keep(pickled, pickle.loads(pickled))
    if isinstance(block, Full):
        return restored(layout, filled(block), others)
    return restored(layout, block.numpy() if isinstance(block, torch.Tensor) else block, others)


def register() -> None:
    """Lets multiprocessing send batches in this way."""
    for kind in (Batch, LabelledBatch, SequenceBatch):
        ForkingPickler.register(kind, _reduce)
