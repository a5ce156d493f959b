"""The saved state of a ShardReader: its form, and whether it fits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from .names import CoreFile

__all__ = ["MOST", "STATE_VERSION", "check_state", "digest_of"]

STATE_VERSION = 1
MOST = (1 << 63) - 1  # of what the core takes
_OF_STATE = {"version", "stream"}
_OF_BEGUN_STATE = {"order", "files"}
_OF_STREAM = {"epoch", "next_file", "cursor", "visit", "slots", "random", "random_started", "draining", "shuffled"}


def check_state(state: object) -> None:
    """Raises TypeError or ValueError if it is not the state of a ShardReader."""
    if not isinstance(state, Mapping):
        raise TypeError(f"a state of ShardReader is a dict, got {type(state).__name__}")
    if state.get("version") != STATE_VERSION:
        raise ValueError(f"not a state of ShardReader, version {STATE_VERSION}: {state.get('version')!r}")
    _check_keys(state, _OF_STATE, "state")
    stream = state["stream"]
    if stream is None:
        return
    _check_keys(state, _OF_BEGUN_STATE, "state")
    _check_keys(state["order"], {"seed"}, "state's order")
    _check_keys(stream, _OF_STREAM, "state's stream")
    files: list[Any] = []
    numbers = [stream[name] for name in ("epoch", "next_file", "cursor", "visit")]
    for triple in [*_list(stream["slots"]), *_list(stream["shuffled"])]:
        if len(_list(triple)) != 3:
            raise ValueError(f"not a state of ShardReader: {triple!r:.60} is not the place of a record")
        numbers += triple[1:]
        files.append(triple[0])
    good = (
        all(_is_number(number, 0, MOST) for number in numbers)
        and all(_is_number(file, -MOST - 1, MOST) for file in files)
        and _is_number(stream["random"], 0, 2 * MOST + 1)
        and isinstance(stream["random_started"], bool)
        and isinstance(stream["draining"], bool)
    )
    if not good:
        raise ValueError("not a state of ShardReader: a number is missing or out of range")


def _is_number(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and least <= value <= most


def _check_keys(part: object, keys: set[str], name: str) -> None:
    missing = sorted(keys - set(part)) if isinstance(part, Mapping) else sorted(keys)
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
    return digest.hexdigest()
