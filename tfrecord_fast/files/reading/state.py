"""Saved states of a ShardReader: their format and checks."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from typing import Any

from ... import _core
from ...errors import DataLossError
from ..streams.core_files import CoreFile
from .epochs import MOST_EPOCHS, end_of

Mark = list[int | str | None]  # a size, and a digest

STATE_VERSION = 2
_BEFORE_EPOCHS = 1  # the version in which all iterations began with epoch 0
MOST = (1 << 63) - 1  # the core's largest integer
_MOST_MARKS, _MOST_MARKED, _DIGITS = 1000, 1 << 20, 12  # files; bytes of a first record; of its digest in hex
_OF_STATE = {"version", "stream"}
_OF_BEGUN_STATE = {"order", "files"}
_OF_SOME_ORDERS = {"equal_shards", "shard", "batches", "global_shuffle"}
_OF_GLOBAL_SHUFFLE = {"epoch", "position", "records"}
_OF_STREAM = {"epoch", "next_file", "cursor", "visit", "slots", "random", "random_started", "draining", "shuffled"}


def check_state(state: object) -> None:
    if not isinstance(state, Mapping):
        raise TypeError(f"the state of a ShardReader must be a dict, got {type(state).__name__}")
    version = state.get("version")
    if version not in (STATE_VERSION, _BEFORE_EPOCHS):
        raise ValueError(f"not a state of ShardReader, as state_dict() returns it: its version is {version!r}")
    _check_keys(state, _OF_STATE if version == _BEFORE_EPOCHS else _OF_STATE | {"epoch", "order"}, "state")
    if "order" in state:
        _check_keys(state["order"], {"seed"}, "state's order")
        if not _is_number(state["order"]["seed"], 0, 2 * MOST + 1):
            raise ValueError("not a state of ShardReader: the seed is out of range")
    following = state.get("next_epoch")
    if not all(_is_number(epoch, 0, MOST_EPOCHS) for epoch in (epoch_of(state), 0 if following is None else following)):
        raise ValueError("not a state of ShardReader: an epoch is missing or out of range")
    stream = state["stream"]
    if stream is None:
        return
    _check_keys(state, _OF_BEGUN_STATE, "state")
    if state["order"].get("batches") is not None and not _is_number(state.get("given"), 0, state["order"]["batches"]):
        raise ValueError("not a state of ShardReader: the number of batches is missing or out of range")
    if state["order"].get("global_shuffle"):
        _check_keys(stream, _OF_GLOBAL_SHUFFLE, "state's stream")
        numbers = [stream[name] for name in _OF_GLOBAL_SHUFFLE]
        if not all(_is_number(number, 0, MOST) for number in numbers) or stream["epoch"] < epoch_of(state):
            raise ValueError("not a state of ShardReader: a number is out of range")
        return
    _check_keys(stream, _OF_STREAM, "state's stream")
    files: list[Any] = []
    slots, next_file = _list(stream["slots"]), stream["next_file"]
    numbers = [stream[name] for name in ("epoch", "next_file", "cursor", "visit")]
    for triple in [*slots, *_list(stream["shuffled"])]:
        if len(_list(triple)) != 3:
            raise ValueError(f"not a state of ShardReader: {triple!r:.60} is not the position of a record")
        numbers += triple[1:]
        files.append(triple[0])
    is_valid = (
        all(_is_number(number, 0, MOST) for number in numbers)
        and stream["epoch"] >= epoch_of(state)
        and all(_is_number(file, -MOST - 1, MOST) for file in files)
        and _is_number(stream["random"], 0, 2 * MOST + 1)
        and isinstance(stream["random_started"], bool)
        and isinstance(stream["draining"], bool)
    )
    if not is_valid:
        raise ValueError("not a state of ShardReader: a number is missing or out of range")
    # Slots hold distinct files that the epoch has begun. Two slots with the same file would wait for each other.
    slot_files = [file for file, _, _ in slots if file >= 0]
    if len(set(slot_files)) < len(slot_files) or any(file >= next_file for file in slot_files):
        raise ValueError("not a state of ShardReader: it holds a file twice, or one that the epoch has not begun")


def check_fits(
    state: Mapping[str, Any], files: list[str] | list[CoreFile], order: Mapping[str, Any], epochs: int
) -> None:
    """Raise ValueError if the state is of a reader with other files or another order."""
    saved = state["order"]
    for name in [*order, *sorted(_OF_SOME_ORDERS & saved.keys() - order.keys())]:
        if saved.get(name) != order.get(name):
            was, value = saved.get(name), order.get(name)
            raise ValueError(f"the saved state is of another reader: {name} was {was!r}, is {value!r}{_hint(name)}")
    end = end_of(epoch_of(state), epochs)
    if 0 <= end < state["stream"]["epoch"]:
        raise ValueError(f"not a state of ShardReader: epoch {state['stream']['epoch']} is past the end, {end}")
    if state["files"] != digest_of(files):
        raise ValueError(f"the saved state is of another reader: the list of files differs{_hint('shard')}")
    for file, was, mark in zip(_sample(files), _list(state.get("marks", ())), marks_of(files), strict=False):
        if any(None not in pair and pair[0] != pair[1] for pair in zip(_list(was), mark, strict=False)):
            name = file if isinstance(file, str) else os.fsdecode(file.name)
            raise ValueError(f"the saved state is of another {name}: its size or first record has changed since")


def _hint(name: str) -> str:
    return "; resume with the shard and the num_workers with which it was saved" if "shard" in name else ""


def epoch_of(state: Mapping[str, Any]) -> int:
    return 0 if state["version"] == _BEFORE_EPOCHS else state["epoch"]


def epoch_reached(stream: Mapping[str, Any], first: int) -> int:
    """Return the epoch of the last record yielded, given the state of a stream that began with epoch `first`."""
    # At the end of an epoch, the state is already in the next one, even with records left in the shuffle buffer.
    is_ahead = stream["draining"] if "draining" in stream else stream["position"] == 0
    return max(first, int(stream["epoch"]) - bool(is_ahead))


def begin_of_epoch(epoch: int) -> dict[str, Any] | None:
    """Return the state of a stream that has read nothing; None for epoch 0, a stream's default."""
    if epoch == 0:
        return None
    position: dict[str, Any] = {"epoch": epoch, "next_file": 0, "cursor": 0, "visit": 0, "slots": [], "shuffled": []}
    return {**position, "random": 0, "random_started": False, "draining": False}


def _is_number(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and least <= value <= most


def _check_keys(value: object, keys: set[str], name: str) -> None:
    missing = sorted(keys - set(value)) if isinstance(value, Mapping) else sorted(keys)
    if missing:
        raise ValueError(f"not a state of ShardReader: the {name} lacks {', '.join(missing)}")


def _list(value: object) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"not a state of ShardReader: expected a list, got {type(value).__name__}")
    return value


def digest_of(files: list[str] | list[CoreFile]) -> str:
    digest = hashlib.sha256()
    for file in files:
        name = file.encode() if isinstance(file, str) else file.name
        digest.update(len(name).to_bytes(8, "little") + name)
        if not isinstance(file, str) and file.part is not None:
            digest.update(repr(file.part).encode())
    return digest.hexdigest()


def marks_of(files: list[str] | list[CoreFile]) -> list[Mark]:
    """Return the size, and a digest of the first record, of up to 1,000 local files; None for what can't be known."""
    return [_mark_of(file) for file in _sample(files)]


def _sample(files: list[Any]) -> list[Any]:
    return files[:: -(-len(files) // _MOST_MARKS) or 1]


def _mark_of(file: str | CoreFile) -> Mark:
    is_local = isinstance(file, str) or (file.opener is None and file.object is None)
    name = file if isinstance(file, str) else os.fsdecode(file.name)
    with contextlib.suppress(OSError, ValueError, DataLossError, StopIteration):
        status = os.stat(name) if is_local else None
        if status is not None and stat.S_ISREG(status.st_mode):
            first: str | None = None
            with contextlib.suppress(OSError, DataLossError, StopIteration):
                record = next(_core.RecordStream([name], max_record_bytes=_MOST_MARKED, num_threads=0).records())
                first = hashlib.sha256(record).hexdigest()[:_DIGITS]
            return [status.st_size, first]
    return [None, None]
