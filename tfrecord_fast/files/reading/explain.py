"""The attributes, the `repr` and the HTML of a ShardReader."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ...examples.features import copied
from ...typing import Features, SequenceFeatures
from ...values.text import html_table
from ..naming.location import shown_name
from ..streams.core_files import core_files
from .iteration_plan import Assigner, ShardingOptions
from .outputs import Outputs
from .shard_division import Shard

_DEFAULTS = {"batch_size": 1024, "cycle_length": 1, "block_length": 1, "num_epochs": 1, "deterministic": True}
_DEFAULTS |= dict.fromkeys(("drop_remainder", "shuffle_files", "shuffle_buffer", "global_shuffle"), False)
_LONGEST = 60  # characters of a path that is not abbreviated


class Described:
    """The arguments of a ShardReader, as attributes and in its `repr`."""

    _files: Any
    _settings: Any
    _outputs: Outputs
    _order: Any
    _options: Any
    _assigner: Assigner
    _infer: Callable[[], Any]

    @property
    def files(self) -> list[str]:
        """The paths of the files, in order; patterns and folders are listed anew. URLs have no credentials."""
        return [os.fsdecode(file.name) for file in core_files(self._files, self._settings)]

    @property
    def features(self) -> Features | SequenceFeatures | None:
        """The features to parse; None for records. With "infer", this reads the first records."""
        return cast("Features | SequenceFeatures | None", copied(self._outputs.known(self._infer)))

    @property
    def batch_size(self) -> int:
        """The number of records per batch."""
        return int(self._order["batch_size"])

    @property
    def compression(self) -> str | None:
        """The compression of the files: "GZIP", …, or "" for none; None if it is detected, file by file."""
        return cast("str | None", self._options["compression_type"])

    @property
    def epoch(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        return describe(self._files, self._outputs, self._order, self.epoch, self._assigner.options)

    def _repr_html_(self) -> str:
        features = self._outputs.inferred or self._outputs.features
        dicts = features if isinstance(features, tuple) else (features,)
        return html_table(repr(self), (item for keys in dicts if isinstance(keys, Mapping) for item in keys.items()))


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
