"""What a ShardReader says that it will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..naming.location import shown_name
from .assignment import SharingOptions
from .epochs import ENDLESS
from .outputs import Wanted
from .shards import Shard

__all__ = ["describe"]

_LONGEST = 60  # of a path that is shown as it is


def describe(
    files: Sequence[Any],
    wanted: Wanted,
    order: Mapping[str, Any],
    epoch: int,
    how: SharingOptions,
) -> str:
    """Without looking at any file."""
    said = [
        _files(files),
        _features(wanted),
        f"batches of {order['batch_size']}" + (" without the remainder" if order["drop_remainder"] else ""),
        _shuffling(order, how.global_shuffle) + ("" if how.deterministic else ", as batches are ready"),
        _epochs(epoch, order["num_epochs"]),
        _rank(how.shard),
        None if how.equal_shards is None else f"equal_shards={how.equal_shards!r}",
    ]
    return f"<ShardReader of {', '.join(part for part in said if part is not None)}>"


def _files(files: Sequence[Any]) -> str:
    if len(files) != 1:
        return f"{len(files)} files"
    text = repr(shown_name(files[0]))
    return text if len(text) <= _LONGEST else f"{text[:20]}…{text[-_LONGEST + 20 :]}"


def _features(wanted: Wanted) -> str:
    features, groups = wanted.features, len(wanted.groups)
    if features is None:
        return "records"
    grouped = f"{groups} group" + "s" * (groups != 1)
    if isinstance(features, Mapping):
        count = f"{len(features)} feature" + "s" * (len(features) != 1)
        return f"{count} ({sum(len(keys) for _, keys in wanted.groups)} in {grouped})" if groups else count
    if isinstance(features, str):
        return "features to be inferred" + (f" (with {grouped})" if groups else "")
    return "SequenceExamples"


def _shuffling(order: Mapping[str, Any], global_shuffle: bool) -> str:
    of = [
        *(["all records"] if global_shuffle else []),
        *(["files"] if order["shuffle_files"] else []),
        *([f"a buffer of {order['shuffle_buffer']}"] if order["shuffle_buffer"] else []),
    ]
    turns = f"{order['cycle_length']} files in turn, " if order["cycle_length"] > 1 else ""
    return turns + (f"shuffled ({', '.join(of)}; seed {order['seed']})" if of else "not shuffled")


def _epochs(epoch: int, count: int) -> str:
    if not 0 <= count < ENDLESS:
        return f"endless from epoch {epoch}"
    return f"epoch {epoch}" if count == 1 else f"epochs {epoch} to {epoch + count - 1}" if count else "no epochs"


def _rank(shard: Shard) -> str | None:
    try:
        index, count = shard.part()
    except ValueError as error:
        return str(error)
    if shard.is_auto:
        return f"rank {index} of {count}"
    return f"part {index} of {count}" if count > 1 else None
