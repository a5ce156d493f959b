"""Rules of parsers: the core parses the records of a block at once, on its threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...examples.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from ...examples.parsing.core_columns import key_bytes
from ...examples.parsing.parse import parse_example, parse_sequence_example
from ...values.blocks.columns import Column, Dense, Sparse, Strings, Uneven
from ...values.columns.bytes_array import BytesArray
from ..ops.arguments import as_array
from ..tensors.tensor import as_tensor
from .block_tensor import block_value, is_block_value
from .calls import has_block_values, selected
from .elementwise import dense
from .frames import Frame

Operation = Callable[..., Any]
# The order of results: sparse, dense and ragged ones.
_PLACES = {VarLenFeature: 0, FixedLenFeature: 1, FixedLenSequenceFeature: 1, RaggedFeature: 2}


def parse_single_example(
    function: Operation,
    frame: Frame,
    serialized: Any,
    features: Any,
    example_names: Any = None,
    *rest: Any,
    **named: Any,
) -> Any:
    records = _records(serialized, frame)
    if records is None or example_names is not None or rest or set(named) - {"name"} or type(features) is not dict:
        return NotImplemented
    lists = _as_lists(features)
    if not lists:
        return NotImplemented
    parsed = parse_example(records, lists)
    columns = {key: parsed[key] for key in sorted(parsed, key=key_bytes)}
    order = sorted(columns, key=lambda key: _PLACES[type(features[key])])  # sorted by key before
    return {key: block_value(_column(features[key], columns[key]), frame) for key in order}


def parse_single_sequence_example(
    function: Operation,
    frame: Frame,
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: Any = None,
) -> Any:
    records = _records(serialized, frame)
    context = _as_lists(context_features or {})
    sequences = sequence_features or {}
    if records is None or example_name is not None or context is None or type(sequences) is not dict:
        return NotImplemented
    if any(type(feature) is not FixedLenSequenceFeature for feature in sequences.values()):
        return NotImplemented
    columns, lists, lengths = parse_sequence_example(records, context, sequences)
    return (
        {key: block_value(_column((context_features or {})[key], column), frame) for key, column in columns.items()},
        {key: block_value(_steps(column, lengths[key]), frame) for key, column in lists.items()},
    )


def _records(serialized: Any, frame: Frame) -> Any:
    """Return the records of a block of strings, or None."""
    if not is_block_value(serialized):
        return None
    column = selected(serialized, frame)
    if isinstance(column, Strings):
        is_vector = not isinstance(column.source, BytesArray) or column.source.ndim == 1
        return column.source if is_vector else None
    is_vector = isinstance(column, Dense) and column.array.dtype == object and column.array.ndim == 1
    return column.array.tolist() if is_vector else None  # type: ignore[attr-defined]


def _as_lists(features: dict[Any, Any]) -> dict[Any, Any] | None:
    """Return the features with sequences as RaggedFeatures; None if others need a loop."""
    lists: dict[Any, Any] = {}
    for key, feature in features.items():
        cls = type(feature)
        if cls is FixedLenFeature or cls is VarLenFeature:
            lists[key] = feature
        elif cls is FixedLenSequenceFeature and feature.allow_missing:
            lists[key] = RaggedFeature(feature.dtype)  # a batch would be padded
        elif cls is RaggedFeature and not feature.partitions and feature.value_key is None:
            lists[key] = feature
        else:
            return None
    return lists


def _column(feature: Any, column: Any) -> Column:
    """Return what a feature gives for single records, from a column of the batch."""
    if type(feature) is FixedLenFeature:
        return Strings(column) if isinstance(column, BytesArray) else Dense(column)
    splits = np.asarray(column.row_splits, np.int64)
    sizes = np.diff(splits)
    step: tuple[int, ...] = ()
    if type(feature) is FixedLenSequenceFeature:
        shape: Any = feature.shape
        step = tuple(shape)
        values_per_step = int(np.prod(step, dtype=np.int64))
        if not values_per_step or (sizes % values_per_step).any():
            raise ValueError("a list does not fill its last step")
        sizes = sizes // values_per_step
    shapes = np.hstack([sizes[:, None], np.tile(np.array(step, np.int64), (len(sizes), 1))])
    values = Uneven.of_flat(np.asarray(column.values), splits[:-1], shapes)
    return Sparse(values) if type(feature) is VarLenFeature else values


def _steps(column: Any, lengths: Any) -> Column:
    """Return the feature lists of single records, from a padded batch."""
    array = np.ascontiguousarray(np.asarray(column))
    shapes = np.tile(np.array(array.shape[1:], np.int64), (len(array), 1))
    shapes[:, 0] = lengths
    size = int(np.prod(array.shape[1:], dtype=np.int64))
    return Uneven.of_flat(array.reshape(-1), np.arange(len(array), dtype=np.int64) * size, shapes)


def parse_single_example_of_v1(
    function: Operation, frame: Frame, serialized: Any, features: Any, name: Any = None, example_names: Any = None
) -> Any:
    return parse_single_example(function, frame, serialized, features, example_names)


def decode_raw(function: Operation, frame: Frame, input_bytes: Any, out_type: Any, *args: Any, **kwargs: Any) -> Any:
    """Decode strings of one size at once."""
    column = selected(input_bytes, frame) if is_block_value(input_bytes) else None
    if column is None or has_block_values((out_type, *args, *kwargs.values())):
        return NotImplemented
    if isinstance(column, Strings) and isinstance(column.source, BytesArray):
        strings = column.source
    elif isinstance(column, Dense) and column.array.dtype == object:
        strings = BytesArray(column.array)
    else:
        return NotImplemented
    if strings.ndim != 1:
        return NotImplemented
    lengths = strings.lengths()
    if (lengths != lengths[0]).any():
        return NotImplemented
    return dense(as_array(function(as_tensor(np.asarray(strings)), out_type, *args, **kwargs)), frame)
