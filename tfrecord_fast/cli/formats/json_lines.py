"""JSON lines: an object per record, from names of features to their values.

A SequenceExample is {"context": {…}, "feature_lists": {"name": [[…], …]}}, with a list of values for each step. Values
that JSON lacks are marked (see json_values.py). A feature without values is {"empty": "int64"}, "float", "bytes", or
"none" without a kind. Marks differ from all values, so that reading restores the records.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from ... import _core
from ...base.optional import optional_or_none
from ...examples.features import VarLenFeature
from ...examples.messages.wire import Value, example_of, has_lists, sequence_of
from ...examples.parsing.parse import parse_example
from ..records.json_values import marked_bytes, marked_float
from .base import RowSink, check_keys
from .json_tokens import ColumnTokens, joined_lines

_Values = list[Any]
_Pieces = list[bytes | None]  # JSON for each row; None if the feature is absent


class JsonSink(RowSink):
    """A file of JSON lines. A feature with at most one value in every record is written as that value, not a list."""

    needs_columns = False
    takes_lists = True
    nan = "mark"  # one of json_values.NANS

    def __init__(self, path: str, compression: str, level: int | None) -> None:
        super().__init__(path, compression, level)
        self._dumps = _dumper()

    def begin(self, scanner: _core.FeatureSurvey) -> None:
        super().begin(scanner)
        check_keys(self.path, [seen.key for seen in (*scanner.features(), *scanner.lists())])
        self._kinds = {key: VarLenFeature(feature.dtype) for key, feature in self.features.items()}

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        with self.opened_file(name) as self._file:
            yield

    def write_batch(self, records: _core.RecordBatch) -> None:
        scanner = _core.FeatureSurvey()
        scanner.add(records)
        if scanner.has_lists:
            lines = [self._dumps(self._whole(record)) for record in records]
        else:
            lines = self._lines(records, scanner)
        self._file.write(b"\n".join(lines) + b"\n")

    def _lines(self, records: _core.RecordBatch, scanner: _core.FeatureSurvey) -> list[bytes]:
        parsed = parse_example(records, self._kinds) if self._kinds else {}
        maker = ColumnTokens(self._dumps, self.nan, optional_or_none("orjson"))
        columns: dict[str, _Pieces] = {}
        is_full = True
        for key, column in parsed.items():
            columns[key], has_all = maker.of(column, key in self.single)
            is_full = is_full and has_all
        # Columns don't distinguish features without values from absent ones: decode those records.
        seen = scanner.features()
        doubtful = [
            summary.key.decode() for summary in seen if summary.unset or (summary.records and not summary.fewest)
        ]
        for key in doubtful:
            columns.setdefault(key, [None] * len(records))
            is_full = False
        for row in sorted({row for key in doubtful for row, value in enumerate(columns[key]) if value is None}):
            for key, value in example_of(records[row]).items():
                if not value.values:
                    columns[key][row] = self._dumps({"empty": value.kind})
        keys = sorted(columns)
        if not keys:
            return [b"{}"] * len(records)
        return joined_lines([maker.name(key) for key in keys], [columns[key] for key in keys], is_full)

    def _whole(self, record: bytes) -> dict[str, Any]:
        """Convert one record, which may be a SequenceExample."""
        context, lists = sequence_of(record)
        features = {key: self._one(value, key in self.single) for key, value in sorted(context.items())}
        if not has_lists(record):
            return features
        steps = {key: [self._one(step, False) for step in values] for key, values in sorted(lists.items())}
        return {"context": features, "feature_lists": steps}

    def _one(self, value: Value, single: bool) -> Any:
        if not value.values:
            return {"empty": value.kind}
        values: _Values = list(value.values)
        if value.kind == "bytes":
            values = [marked_bytes(item) for item in values]
        elif value.kind == "float":
            values = [marked_float(item, self.nan) for item in values]
        return values[0] if single else values


def _dumper() -> Callable[[Any], bytes]:
    orjson = optional_or_none("orjson")
    if orjson is not None:
        dumps: Callable[[Any], bytes] = orjson.dumps
        return dumps
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return lambda value: encoder.encode(value).encode()
