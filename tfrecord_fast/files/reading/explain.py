"""`repr` of a ShardReader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..naming.location import shown_name
from .epochs import ENDLESS
from .iteration_plan import ShardingOptions
from .outputs import Outputs
from .shard_division import Shard

_LONGEST = 60  # characters of a path that is not abbreviated


def describe(
    files: Sequence[Any],
    outputs: Outputs,
    order: Mapping[str, Any],
    epoch: int,
    options: ShardingOptions,
) -> str:
    """Return the text without opening any file."""
    phrases = [
        _files(files),
        _features(outputs),
        f"batches of {order['batch_size']}" + (" without the remainder" if order["drop_remainder"] else ""),
        _shuffling(order, options.global_shuffle) + ("" if options.deterministic else ", as batches are ready"),
        _epochs(epoch, order["num_epochs"]),
        _rank(options.shard),
        None if options.equal_shards is None else f"equal_shards={options.equal_shards!r}",
    ]
    return f"<ShardReader of {', '.join(phrase for phrase in phrases if phrase is not None)}>"


def _files(files: Sequence[Any]) -> str:
    if len(files) != 1:
        return f"{len(files)} files"
    text = repr(shown_name(files[0]))
    return text if len(text) <= _LONGEST else f"{text[:20]}…{text[-_LONGEST + 20 :]}"


def _features(outputs: Outputs) -> str:
    features, groups = outputs.features, len(outputs.groups)
    if features is None:
        return "records"
    grouped = f"{groups} group" + "s" * (groups != 1)
    if isinstance(features, Mapping):
        count = f"{len(features)} feature" + "s" * (len(features) != 1)
        return f"{count} ({sum(len(keys) for _, keys in outputs.groups)} in {grouped})" if groups else count
    if isinstance(features, str):
        return "features to be inferred" + (f" (with {grouped})" if groups else "")
    return "SequenceExamples"


def _shuffling(order: Mapping[str, Any], global_shuffle: bool) -> str:
    shuffled = [
        *(["all records"] if global_shuffle else []),
        *(["files"] if order["shuffle_files"] else []),
        *([f"a buffer of {order['shuffle_buffer']}"] if order["shuffle_buffer"] else []),
    ]
    turns = f"{order['cycle_length']} files in turn, " if order["cycle_length"] > 1 else ""
    return turns + (f"shuffled ({', '.join(shuffled)}; seed {order['seed']})" if shuffled else "not shuffled")


def _epochs(epoch: int, count: int) -> str:
    if not 0 <= count < ENDLESS:
        return f"endless from epoch {epoch}"
    return f"epoch {epoch}" if count == 1 else f"epochs {epoch} to {epoch + count - 1}" if count else "no epochs"


def _rank(shard: Shard) -> str | None:
    try:
        index, count = shard.worker_rank()
    except ValueError as error:
        return str(error)
    if shard.is_auto:
        return f"rank {index} of {count}"
    return f"shard {index} of {count}" if count > 1 else None
