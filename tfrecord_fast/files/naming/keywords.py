"""Keywords: their older spellings, and the right names for those of other libraries."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ...values.text import did_you_mean

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OLDER = {"compression_type": "compression", "options": "compression"}
_RIGHT = {
    "batch": "batch_size",
    "buffer_size": "prefetch_bytes, or shuffle_buffer",
    "check_crc": "verify_crc",
    "check_integrity": "verify_crc",
    "drop_last": "drop_remainder",
    "epochs": "num_epochs",
    "feature_description": "features",
    "ignore_errors": 'on_corrupt="skip"',
    "num_parallel_calls": "num_threads",
    "num_parallel_reads": "cycle_length",
    "num_workers": "num_threads",
    "prefetch": "prefetch_bytes",
    "rank": "shard=(rank, world_size)",
    "repeat": "num_epochs",
    "schema": "features",
    "shards": "num_shards",
    "shuffle": "shuffle_buffer=N, shuffle_files=True or global_shuffle=True",
    "shuffle_buffer_size": "shuffle_buffer",
    "threads": "num_threads",
    "workers": "num_threads",
    "world_size": "shard=(rank, world_size)",
}


def respelled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reader's options with `compression` for its older spelling."""
    if "compression_type" in options and "compression" in options:
        raise TypeError("compression and compression_type are two spellings of one argument; pass compression alone")
    return {_OLDER.get(name, name): value for name, value in options.items()}


def checks_keywords(function: _Function) -> _Function:
    """Accept older spellings of a function's keywords; an unknown one is a TypeError that names the right one."""
    known = list(inspect.signature(function).parameters)
    older = {old: name for old, name in _OLDER.items() if name in known and old not in known}
    name = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if not options.keys() <= set(known):
            for keyword in [keyword for keyword in options if keyword not in known]:
                if keyword not in older:
                    raise TypeError(_unknown(name, keyword, known))
                if older[keyword] in options:
                    raise TypeError(f"{name}: {keyword} is an older spelling of {older[keyword]}; pass one of the two")
                options[older[keyword]] = options.pop(keyword)
        return function(*arguments, **options)

    return checked  # type: ignore[return-value]


def _unknown(name: str, keyword: str, known: list[str]) -> str:
    right = _RIGHT.get(keyword, "")
    if not any(word.partition("=")[0].strip(",") in known for word in right.split()):
        return f"{name} has no argument {keyword!r}{did_you_mean(keyword, known, str)}"
    return f"{name} has no argument {keyword!r}; did you mean {right}?"
