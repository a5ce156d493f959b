"""Features as the columns of Arrow tables, and the record batches of what is parsed by them.

A row without a feature is null, unless the feature has a default. So the core is asked which rows have which features.
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
from . import results
from .partitions import RowError
from .raw_columns import CONTEXT_KINDS, EXAMPLE_KINDS, LIST_KINDS, DenseColumn, RawColumns, index_keys_of
from .results import Result

__all__ = ["TablePlan"]

_Presence = dict[Any, npt.NDArray[np.uint8] | None]


class _Column(NamedTuple):
    """A column of the table."""

    part: int  # 0: of Examples or contexts; 1: of feature lists
    key: Any
    present: Any  # the key of the raw column that says which rows have it
    type: Any


class TablePlan:
    """What a stream parses for a table, and the record batches made of it.

    Args:
      features: of Examples; or a pair, of contexts and of feature lists.
      arrays: makes the types and arrays.
      nullable: a FixedLenFeature without a default may be absent, and the row is null.
      only_these: if not empty, a record with a value under another key is an error, which this text explains.
      order: the keys of the columns, in order; None: those of the features, contexts first.

    Attributes:
      schema: the pyarrow.Schema.
      core, checks_rows, finish: as of `plans.ExamplePlan`.

    Raises:
      errors.InvalidArgumentError: two columns of one name, or a name that Arrow can't carry.
      ValueError, TypeError: features that can't be parsed.
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
            self._parts = [RawColumns(features, EXAMPLE_KINDS)]
        else:
            context, lists = features
            self._parts = [RawColumns(context or {}, CONTEXT_KINDS), RawColumns(lists or {}, LIST_KINDS)]
        first = self._parts[0]
        may_be_null = _prepare(first, nullable, padded_as_lists=len(self._parts) == 1)
        if len(self._parts) == 1:
            self.core = _core.ExamplePlan(first.specs(may_be_null), only_these=only_these)
        else:
            self.core = _core.SequencePlan(
                first.specs(may_be_null), self._parts[1].specs(self._parts[1].keys), only_these=only_these
            )
        self.checks_rows = any(raw.checks_rows for raw in self._parts)
        columns = self._named_columns()
        names = list(columns) if order is None else [_arrow_name(key) for key in order]
        self._columns = [columns[name] for name in names]
        self.schema = arrays.schema([(name, columns[name].type) for name in names])

    def _named_columns(self) -> dict[str, _Column]:
        named: dict[str, _Column] = {}
        key: Any
        for part, raw in enumerate(self._parts):
            for key, feature in raw.features.items():
                name = _arrow_name(key)
                if name in named:
                    raise InvalidArgumentError(f"two features would be columns of one name, {name!r}")
                dense = raw.dense.get(key)
                type = _type_of(feature, () if dense is None else dense.shape, self._arrays)
                if part == 1 and not isinstance(feature, FixedLenSequenceFeature):
                    type = self._arrays.list(type)
                named[name] = _Column(part, key, _raw_key(key, feature), type)
        return named

    def finish(self, parsed: Any, records: Records | None = None) -> Any:
        """The pyarrow.RecordBatch of what the core has parsed; `records` are needed where the plan `checks_rows`."""
        try:
            if isinstance(parsed, tuple):
                parts = [self._of_examples(parsed[0]), self._of_lists(parsed[1])]
            else:
                parts = [self._of_examples(parsed)]
        except RowError as error:
            raise error.located(records) from None
        arrays = [
            self._arrays.array(column.type, parts[column.part][0][column.key], parts[column.part][1][column.present])
            for column in self._columns
        ]
        return self._arrays.record_batch(arrays, self.schema)

    def _of_examples(self, columns: list[Any]) -> tuple[Result, _Presence]:
        """The results of Examples or contexts, and which rows have them."""
        raw = self._parts[0]
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

    def _of_lists(self, columns: list[Any]) -> tuple[Result, _Presence]:
        """The results of feature lists, and which rows have them."""
        raw = self._parts[1]
        values, lengths = results.of_lists(raw, columns, single=False)
        for key in raw.dense:
            values[key] = _without_padding(values[key], lengths[key])
        return values, {key: column.present for key, column in zip(raw.keys, columns, strict=True)}


def _prepare(raw: RawColumns, nullable: bool, padded_as_lists: bool) -> set[Any]:
    """Changes what the core is asked for; returns the keys whose rows may be null."""
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
    """The key of the values."""
    if isinstance(feature, SparseFeature | RaggedFeature) and feature.value_key is not None:
        return feature.value_key
    return key


def _type_of(feature: OwnFeature, shape: tuple[int, ...], arrays: ArrowArrays) -> Any:
    """The type of one row."""
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
    """Steps of a shape, of a FixedLenSequenceFeature, without padding."""
    per_step = int(np.prod(dense.shape, dtype=np.int64))
    return ragged_of(column.values.reshape(len(column.values) // per_step, *dense.shape), column.splits // per_step)


def _without_padding(values: Any, lengths: npt.NDArray[np.int64]) -> RaggedTensor:
    """`values` is `[n, longest, …]`; row i has `lengths[i]` of them."""
    rows, longest, *shape = values.shape
    splits = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    if splits[-1] == rows * longest:
        return ragged_of(values.reshape(rows * longest, *shape), splits)
    return ragged_of(values[np.arange(longest) < lengths[:, None]], splits)


def _arrow_name(key: Key) -> str:
    """A key as the name of a column, which is UTF-8, and ends at a NUL where it is handed on."""
    try:
        name = key.decode() if isinstance(key, bytes) else key
        name.encode()
    except UnicodeError:
        raise InvalidArgumentError(
            f"feature {key!r}: Arrow's names are UTF-8; choose other columns by columns=, or by features="
        ) from None
    if "\0" in name:
        raise InvalidArgumentError(f"feature {key!r}: a name with a NUL, at which Arrow would cut it")
    return name
