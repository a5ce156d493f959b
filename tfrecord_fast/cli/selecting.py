"""The features of records that a condition looks at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .. import _core
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..examples.features import VarLenFeature
from ..examples.infer import features_of
from ..examples.kinds import EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, kind_of
from ..examples.parsing import parse_example
from ..examples.wire import Value, example_of
from .records import Undecodable

__all__ = ["features_of_rows"]


def features_of_rows(records: _core.RecordBatch, names: Collection[str]) -> Callable[[int], Mapping[str, Value]]:
    """What gives the features of a row: of all rows parsed at once, if they agree on what the features hold.

    The function raises Undecodable for a row that is no Example.
    """
    scanner = _core.FeatureScanner()
    try:
        scanner.add(records)
    except InvalidArgumentError:
        return lambda row: _features_of(records[row])
    known = {name: VarLenFeature(one.dtype) for name, one in features_of(scanner).items() if name in names}
    columns = parse_example(records, known) if known else {}
    lists: dict[str, tuple[str, list[int], list[Any]]] = {}
    for name, column in columns.items():
        kind, values = as_dtype(known[name].dtype).name, column.values
        if kind == "float32":  # as example_of gives them: with as few digits as tell the float32
            values = values.astype("U").astype("float64")
        lists[name] = kind, column.row_splits.tolist(), values.tolist()
    return lambda row: {
        name: Value(kind, values[splits[row] : splits[row + 1]]) for name, (kind, splits, values) in lists.items()
    }


def _features_of(record: bytes) -> Mapping[str, Value]:
    kind = kind_of(record)
    if kind not in (EXAMPLE, SEQUENCE_EXAMPLE, EMPTY):
        raise Undecodable(f"--where is for Examples, and the record looks like {kind}")
    return example_of(record)
