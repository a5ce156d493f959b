"""`tfrecord.reader`: iterators over the records of a file, serialized or decoded.

They open the file for the first element, and then raise:

  FileNotFoundError, OSError: a file can't be read.
  ValueError: `compression_type` is neither None nor "gzip".
  errors.DataLossError: the file is damaged; each record's checksums are verified.
  errors.InvalidArgumentError: a record is not an Example, or the index belongs to another file.
  KeyError: a record lacks a key, or a description has another type than "byte", "float" and "int".
  TypeError: values don't have the type of the description.

Common arguments:

  data_path: the file.
  index_path: its index, written by `tools.tfrecord2idx`, or None.
  shard: (index, count), for one of `count` disjoint shards. With an index, a shard is a range of records; without one,
    every `count`-th record. None reads all: in order without an index, and with one, from a random record to the end,
    and then from the first up to that one.
  compression_type: None or "gzip". None also reads compressed files.
  description, context_description, features_description: keys, in a list or with their types ("byte", "float", "int")
    in a dict; None or an empty description: all keys.

Values: int64 `[n]` or float32 `[n]`; a single string is `bytes`, several are an array `[n]` of dtype S, or of objects
if a string ends in a zero byte, which dtype S would drop. Feature lists: a list of these, one per step.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...typing import PathLike
from . import iterator_utils
from .decoding import Description, check_description, example_rows, sequence_rows, strings
from .records import Source, record_batches

__all__ = [
    "example_loader",
    "extract_feature_dict",
    "multi_tfrecord_loader",
    "process_feature",
    "sequence_loader",
    "tfrecord_iterator",
    "tfrecord_loader",
]

Row = dict[str, Any]


def tfrecord_iterator(
    data_path: PathLike,
    index_path: PathLike | None = None,
    shard: tuple[int, int] | None = None,
    compression_type: str | None = None,
) -> Iterator[memoryview]:
    """Yield the records as memoryviews, which stay valid."""
    for batch in record_batches(Source(data_path, index_path, shard, compression_type)):
        for i in range(len(batch)):
            yield batch.view(i)


def example_loader(
    data_path: PathLike,
    index_path: PathLike | None,
    description: Description = None,
    shard: tuple[int, int] | None = None,
    compression_type: str | None = None,
) -> Iterator[Row]:
    """Yield the features of each Example as a dict."""
    wanted = check_description(description)
    for batch in record_batches(Source(data_path, index_path, shard, compression_type)):
        yield from example_rows(batch, wanted)


def sequence_loader(
    data_path: PathLike,
    index_path: PathLike | None,
    context_description: Description = None,
    features_description: Description = None,
    shard: tuple[int, int] | None = None,
    compression_type: str | None = None,
) -> Iterator[tuple[Row, Row]]:
    """Yield the context and the feature lists of each SequenceExample as two dicts."""
    context, lists = check_description(context_description), check_description(features_description)
    for batch in record_batches(Source(data_path, index_path, shard, compression_type)):
        yield from sequence_rows(batch, context, lists)


def tfrecord_loader(
    data_path: PathLike,
    index_path: PathLike | None,
    description: Description = None,
    shard: tuple[int, int] | None = None,
    sequence_description: Description = None,
    compression_type: str | None = None,
) -> Iterator[Row] | Iterator[tuple[Row, Row]]:
    """Return `example_loader`, or `sequence_loader` if `sequence_description` is not None."""
    if sequence_description is None:
        return example_loader(data_path, index_path, description, shard, compression_type)
    return sequence_loader(data_path, index_path, description, sequence_description, shard, compression_type)


def multi_tfrecord_loader(
    data_pattern: str,
    index_pattern: str | None,
    splits: Mapping[str, float],
    description: Description = None,
    sequence_description: Description = None,
    compression_type: str | None = None,
    infinite: bool = True,
    shard: tuple[int, int] | None = None,
) -> Iterator[Any]:
    """Yield the elements of `tfrecord_loader` for several files, drawn at random.

    Args:
      data_pattern, index_pattern: paths, with `{}` for the name of a split.
      splits: the relative weight of each split.
      infinite: start a file again when it has ended.
    """
    loaders = [
        functools.partial(
            tfrecord_loader,
            data_path=data_pattern.format(split),
            index_path=None if index_pattern is None else index_pattern.format(split),
            description=description,
            shard=shard,
            sequence_description=sequence_description,
            compression_type=compression_type,
        )
        for split in splits
    ]
    return iterator_utils.sample_iterators(loaders, list(splits.values()), infinite=infinite)


def process_feature(feature: Any, typename: str | None, typename_mapping: Mapping[str, str], key: str) -> Any:
    """Return the value of a Feature message.

    Args:
      typename: the expected type, a key of `typename_mapping`; None: any type.
      typename_mapping: the names of types, with their fields in the message.
      key: the name of the feature, for errors.
    """
    field = feature.WhichOneof("kind")
    if field is None:
        raise InvalidArgumentError(f"feature {key!r} has no list of values, so that its type is unknown")
    if typename is not None and typename_mapping[typename] != field:
        name = next((name for name, type_field in typename_mapping.items() if type_field == field), field)
        raise TypeError(f"incompatible type {typename!r} for {key!r} (should be {name!r})")
    values = getattr(feature, field).value
    if field == "bytes_list":
        return strings(list(values))
    return np.array(values, dtype=np.float32 if field == "float_list" else np.int64)


def extract_feature_dict(features: Any, description: Description, typename_mapping: Mapping[str, str]) -> Row:
    """Return the values of a Features or a FeatureLists message as a dict.

    Args:
      description: keys, in a list or with their types in a dict; None or an empty description: all keys.
      typename_mapping: as for `process_feature`.
    """
    if hasattr(features, "feature"):
        messages, are_lists = features.feature, False
    elif hasattr(features, "feature_list"):
        messages, are_lists = features.feature_list, True
    else:
        raise TypeError(f"expected a Features or a FeatureLists message, got {type(features).__name__}")
    if description is None or len(description) == 0:
        description = list(messages)
    wanted = description if isinstance(description, Mapping) else dict.fromkeys(description)
    row: Row = {}
    for key, name in wanted.items():
        if key not in messages:
            raise KeyError(f"Key {key} doesn't exist (select from {list(messages)})!")
        if are_lists:
            row[key] = [process_feature(feature, name, typename_mapping, key) for feature in messages[key].feature]
        else:
            row[key] = process_feature(messages[key], name, typename_mapping, key)
    return row
