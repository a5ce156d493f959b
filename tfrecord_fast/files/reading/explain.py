"""`repr` of a ShardReader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..naming.location import shown_name
from .iteration_plan import ShardingOptions
from .outputs import Outputs
from .shard_division import Shard

_DEFAULTS = {"batch_size": 1024, "cycle_length": 1, "block_length": 1, "num_epochs": 1, "deterministic": True}
_DEFAULTS |= dict.fromkeys(("drop_remainder", "shuffle_files", "shuffle_buffer", "global_shuffle"), False)
_LONGEST = 60  # characters of a path that is not abbreviated


def describe(
    files: Sequence[Any], outputs: Outputs, order: Mapping[str, Any], epoch: int, options: ShardingOptions
) -> str:
    """Return the files, the features, and the arguments that are not the defaults, without opening any file."""
    arguments = {
        **order,
        "global_shuffle": options.global_shuffle,
        "equal_shards": options.equal_shards,
        "deterministic": options.deterministic,
    }
    if not any(arguments[name] for name in ("shuffle_files", "shuffle_buffer", "global_shuffle")):
        del arguments["seed"]
    shown = [f"{name}={value!r}" for name, value in arguments.items() if value != _DEFAULTS.get(name)]
    phrases = [_files(files), _features(outputs.features), *shown, *_rank(options.shard), f"epoch {epoch}"]
    return f"<ShardReader of {', '.join(phrases)}>"


def _files(files: Sequence[Any]) -> str:
    if len(files) != 1:
        return f"{len(files)} files"
    text = repr(shown_name(files[0]))
    return text if len(text) <= _LONGEST else f"{text[:20]}…{text[-_LONGEST + 20 :]}"


def _features(features: Any) -> str:
    if features is None:
        return "records"
    if isinstance(features, str):
        return "features to be inferred"
    if isinstance(features, Mapping):
        return f"{len(features)} feature" + "s" * (len(features) != 1)
    return "SequenceExamples"


def _rank(shard: Shard) -> list[str]:
    try:
        index, count = shard.worker_rank()
    except ValueError as error:
        return [str(error)]
    if shard.is_auto:
        return [f"rank {index} of {count}"]
    return [f"shard {index} of {count}"] if count > 1 else []
