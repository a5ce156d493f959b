"""Features as the columns of Arrow tables, and record batches of the parsed values.

A row without a feature is null, unless the feature has a default. So the core reports which rows have which features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...dtypes import as_dtype, string
from ...errors import InvalidArgumentError
from ...typing import Features, Key, Records, SequenceFeatures
from ...values.columns.arrow_arrays import ArrowArrays
from ...values.columns.ragged import RaggedTensor, ragged_of
from ..features import FixedLenFeature, FixedLenSequenceFeature, OwnFeature, RaggedFeature, SparseFeature
from . import user_columns as results
from .core_columns import CONTEXT_KINDS, EXAMPLE_KINDS, LIST_KINDS, DenseColumn, RawColumns, index_keys_of
from .partitions import RowError
from .user_columns import Result

_Presence = dict[Any, npt.NDArray[np.uint8] | None]


class _Column(NamedTuple):
    """A column of the table: the result under `key` of `sources[source]`."""

    source: int  # 0: Examples or contexts; 1: feature lists
    key: Any
    presence_key: Any  # of the raw column that reports which rows have the feature
    type: Any


class TablePlan:
    """How a stream parses records into the record batches of an Arrow table.

    Args:
      features: of Examples; or a pair, of contexts and of feature lists.
      arrays: makes the types and arrays.
      nullable: a FixedLenFeature without a default may be absent, and the row is null.
      only_these: if not empty, a value under another key is an error with this text.
      order: the keys of the columns, in order; None for those of the features, contexts first.

    Attributes:
      schema: the pyarrow.Schema.
      core, checks_rows, finish: as of `plans.ExamplePlan`.
    """

    def __init__(
        self,
        features: Features | SequenceFeatures,
        arrays: ArrowArrays,
        *,
        nullable: bool = False,
        only_these: str = "",
        order: Sequence[Key] | None = None,
    ) -> None:
        self._arrays = arrays
        self.core: _core.ExamplePlan | _core.SequencePlan
        if isinstance(features, Mapping):
            self._sources = [RawColumns(features, EXAMPLE_KINDS)]
            for key in self._sources[0].images:
                raise InvalidArgumentError(
                    f"feature {key!r}: tables have no decoded images; use FixedLenFeature([], string)"
                )
        else:
            context, lists = features
            self._sources = [RawColumns(context or {}, CONTEXT_KINDS), RawColumns(lists or {}, LIST_KINDS)]
        first = self._sources[0]
        may_be_null = _prepare(first, nullable, padded_as_lists=len(self._sources) == 1)
        if len(self._sources) == 1:
            self.core = _core.ExamplePlan(first.specs(may_be_null), only_these=only_these)
        else:
            self.core = _core.SequencePlan(
                first.specs(may_be_null), self._sources[1].specs(self._sources[1].keys), only_these=only_these
            )
        self.checks_rows = any(raw.checks_rows for raw in self._sources)
        columns = self._named_columns()
        names = list(columns) if order is None else [_arrow_name(key) for key in order]
        self._columns = [columns[name] for name in names]
        self.schema = arrays.schema([(name, columns[name].type) for name in names])

    @property
    def columns(self) -> RawColumns:
        """The columns of Examples or contexts, as of `plans.ExamplePlan`."""
        return self._sources[0]

    def _named_columns(self) -> dict[str, _Column]:
        named: dict[str, _Column] = {}
        key: Any
        for source, raw in enumerate(self._sources):
            for key, feature in raw.features.items():
                name = _arrow_name(key)
                if name in named:
                    raise InvalidArgumentError(f"two features have the same column name, {name!r}")
                dense = raw.dense.get(key)
                type = _type_of(feature, () if dense is None else dense.shape, self._arrays)
                if source == 1 and not isinstance(feature, FixedLenSequenceFeature):
                    type = self._arrays.list(type)
                named[name] = _Column(source, key, _raw_key(key, feature), type)
        return named

    def finish(self, parsed: Any, records: Records | None = None) -> Any:
        """Return the parsed columns as a pyarrow.RecordBatch; a plan that `checks_rows` needs `records`."""
        try:
            if isinstance(parsed, tuple):
                sources = [self._example_results(parsed[0]), self._list_results(parsed[1])]
            else:
                sources = [self._example_results(parsed)]
        except RowError as error:
            raise error.located(records) from None
        arrays = []
        for column in self._columns:
            values, presence = sources[column.source]
            try:
                arrays.append(self._arrays.array(column.type, values[column.key], presence[column.presence_key]))
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"feature {column.key!r}: {error}") from None
        return self._arrays.record_batch(arrays, self.schema)

    def _example_results(self, columns: list[Any]) -> tuple[Result, _Presence]:
        raw = self._sources[0]
        values, presence = [], {}
        for key, column in zip(raw.keys, columns, strict=True):
            presence[key] = getattr(column, "present", None)
            if isinstance(column, _core.FixedColumn):
                values.append(column.values)
            elif key in raw.dense and isinstance(column, _core.ListColumn):
                values.append(_steps(column, raw.dense[key]))
            else:
                values.append(column)
        return results.of_batch(raw, values), presence

    def _list_results(self, columns: list[Any]) -> tuple[Result, _Presence]:
        raw = self._sources[1]
        values, lengths = results.of_lists(raw, columns, single=False)
        for key in raw.dense:
            values[key] = _without_padding(values[key], lengths[key])
        return values, {key: column.present for key, column in zip(raw.keys, columns, strict=True)}


def _prepare(raw: RawColumns, nullable: bool, padded_as_lists: bool) -> set[Any]:
    """Adapt the raw columns to a table; return the keys whose rows may be null."""
    may_be_null = {*raw.sparse, *raw.ragged}
    for key, column in raw.dense.items():
        if column.layout == "padded" and padded_as_lists:
            raw.dense[key] = column._replace(layout="list", default=None)
            may_be_null.add(key)
        elif nullable and column.default is None:
            count = int(np.prod(column.shape, dtype=np.int64))
            zero: bytes | list[bytes] = [b""] * count if column.dtype == string else bytes(count * column.dtype.size)
            raw.dense[key] = column._replace(default=zero)
            may_be_null.add(key)
    return may_be_null


def _raw_key(key: Any, feature: OwnFeature) -> Any:
    if isinstance(feature, SparseFeature | RaggedFeature) and feature.value_key is not None:
        return feature.value_key
    return key


def _type_of(feature: OwnFeature, shape: tuple[int, ...], arrays: ArrowArrays) -> Any:
    value = arrays.type_of(as_dtype(feature.dtype))
    if isinstance(feature, FixedLenFeature):
        return arrays.fixed(value, shape)
    if isinstance(feature, SparseFeature):
        return arrays.entries(value, len(index_keys_of(feature)))
    if not isinstance(feature, RaggedFeature):
        return arrays.list(arrays.fixed(value, shape))
    is_dense = True
    for partition in reversed(feature.partitions):
        is_dense = is_dense and isinstance(partition, RaggedFeature.UniformRowLength)
        value = arrays.fixed(value, [partition.length]) if is_dense else arrays.list(value)  # type: ignore[union-attr]
    return arrays.list(value)


def _steps(column: _core.ListColumn, dense: DenseColumn) -> RaggedTensor:
    per_step = int(np.prod(dense.shape, dtype=np.int64))
    return ragged_of(column.values.reshape(len(column.values) // per_step, *dense.shape), column.splits // per_step)


def _without_padding(values: Any, lengths: npt.NDArray[np.int64]) -> RaggedTensor:
    """Drop the padding of `[n, longest, …]`: row i has `lengths[i]` steps."""
    rows, longest, *shape = values.shape
    splits = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    if splits[-1] == rows * longest:
        return ragged_of(values.reshape(rows * longest, *shape), splits)
    return ragged_of(values[np.arange(longest) < lengths[:, None]], splits)


def _arrow_name(key: Key) -> str:
    """Return a key as the name of an Arrow column, which must be UTF-8 without NULs."""
    try:
        name = key.decode() if isinstance(key, bytes) else key
        name.encode()
    except UnicodeError:
        raise InvalidArgumentError(
            f"feature {key!r}: Arrow column names must be UTF-8; select other columns with columns= or features="
        ) from None
    if "\0" in name:
        raise InvalidArgumentError(f"feature {key!r}: Arrow cuts names at a NUL; rename the feature")
    return name
