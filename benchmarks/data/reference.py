"""The reference for parsing, by the protobuf runtime, that contenders' columns are compared with.

The messages are described here, in a pool of their own (field numbers of tensorflow/core/example/*.proto), so that
nothing of TensorFlow, a rival or this project takes part in it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.answers import Answer, Figures, frames
from benchmarks.data.columns import DTYPES, Batch, Column, digest_of_columns, joined, of_lists, step_name
from benchmarks.data.dataset import Dataset

VERSION = 1  # to be raised when an answer is composed differently, so that cached ones are made again
BATCH = 1000
KINDS = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}


@functools.cache
def messages() -> tuple[Any, Any]:
    """The classes Example and SequenceExample."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="reference.proto", package="reference", syntax="proto3")

    def message(name: str, *fields: tuple[str, int, str], parent: Any = None) -> Any:
        made = (parent.nested_type if parent else file.message_type).add(name=name)
        for field, number, kind in fields:
            many, kind = kind.startswith("*"), kind.lstrip("*")
            one = made.field.add(name=field, number=number, label=3 if many else 1)
            if kind in ("bytes", "float", "int64", "string"):
                one.type = getattr(types, f"TYPE_{kind.upper()}")
            else:
                one.type, one.type_name = types.TYPE_MESSAGE, f".reference.{kind}"
        return made

    def with_map(name: str, field: str, kind: str) -> None:
        entry = "".join(word.title() for word in field.split("_")) + "Entry"
        made = message(name, (field, 1, f"*{name}.{entry}"))
        message(entry, ("key", 1, "string"), ("value", 2, kind), parent=made).options.map_entry = True

    message("BytesList", ("value", 1, "*bytes"))
    message("FloatList", ("value", 1, "*float"))
    message("Int64List", ("value", 1, "*int64"))
    feature = message(
        "Feature", ("bytes_list", 1, "BytesList"), ("float_list", 2, "FloatList"), ("int64_list", 3, "Int64List")
    )
    feature.oneof_decl.add(name="kind")
    for field in feature.field:
        field.oneof_index = 0
    with_map("Features", "feature", "Feature")
    message("FeatureList", ("feature", 1, "*Feature"))
    with_map("FeatureLists", "feature_list", "FeatureList")
    message("Example", ("features", 1, "Features"))
    message("SequenceExample", ("context", 1, "Features"), ("feature_lists", 2, "FeatureLists"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return tuple(
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"reference.{name}"))
        for name in ("Example", "SequenceExample")
    )


def values_of(feature: Any, dtype: str, where: str, what: str, name: str) -> Any:
    kind = feature.WhichOneof("kind")
    if kind not in (None, KINDS[dtype]):
        raise ValueError(f"{where}, {what} {name!r}: {kind}, not {KINDS[dtype]}")
    return getattr(feature, KINDS[dtype]).value


def row_of(features: Any, name: str, feature: list[Any], where: str) -> Any:
    """The values of one record's feature; none if it is missing and may be."""
    kind, dtype, shape = feature
    values = values_of(features[name], dtype, where, "feature", name) if name in features else ()
    if kind == "fixed" and len(values) != math.prod(shape):
        raise ValueError(f"{where}, feature {name!r}: {len(values)} values, not {math.prod(shape)}")
    return values


def steps_of(lists: Any, name: str, feature: list[Any], where: str) -> list[Any]:
    """The steps of one record's feature list, each a list of values."""
    _, dtype, shape = feature
    size, what = math.prod(shape), "feature list"
    steps = [values_of(step, dtype, where, what, name) for step in lists[name].feature] if name in lists else []
    if any(len(step) != size for step in steps):
        raise ValueError(f"{where}, {what} {name!r}: a step of other than {size} values")
    return steps


def batch_of(records: list[bytes], dataset: Dataset, where: str) -> Batch:
    example, sequence_example = messages()
    rows: dict[str, list[Any]] = {name: [] for name in dataset.features}
    steps: dict[str, list[Any]] = {name: [] for name in dataset.sequences}
    for record in records:
        kind = sequence_example if dataset.sequences else example
        try:
            parsed = kind.FromString(record)
        except Exception:  # each implementation of protobuf has an error of its own
            raise ValueError(f"{where}: a record is not a valid {kind.DESCRIPTOR.name}") from None
        features = parsed.context.feature if dataset.sequences else parsed.features.feature
        for name, feature in dataset.features.items():
            rows[name].append(row_of(features, name, feature, where))
        for name, feature in dataset.sequences.items():
            steps[name].append(steps_of(parsed.feature_lists.feature_list, name, feature, where))
    batch = {name: of_lists(found, dataset.features[name][1]) for name, found in rows.items()}
    for name, found in steps.items():
        batch[step_name(name)] = column_of_steps(found, dataset.sequences[name])
    return batch


def column_of_steps(found: list[list[Any]], feature: list[Any]) -> Column:
    _, dtype, shape = feature
    lengths = of_lists(found, "string").lengths
    values, _ = of_lists([step for steps in found for step in steps], dtype)
    return Column(values if dtype == "string" else values.reshape(-1, *shape).astype(DTYPES[dtype]), lengths)


def batches_of(dataset: Dataset, check: bool = True) -> Iterator[Batch]:
    """Batches of columns, none across the end of a file. Without `check` no CRC is computed."""
    for path in dataset.files:
        records: list[bytes] = []
        for record in frames(path, check):
            records.append(record)
            if len(records) == BATCH:
                yield batch_of(records, dataset, path)
                records = []
        if records:
            yield batch_of(records, dataset, path)


def columns_by_file(dataset: Dataset) -> list[Batch]:
    """The columns of each file, for tasks that write them."""
    return [joined(batches_of(replace(dataset, files=[path]), check=False)) for path in dataset.files]


def answer_of_written(paths: list[str], dataset: Dataset) -> Answer:
    """Return the content of the files, in the form of `parsed_answer`.

    Raises:
      ValueError: they are damaged, or their records do not fit the features.
    """
    return digest_of_columns(batches_of(replace(dataset, files=paths)))


def parsed_answer(dataset: Dataset, cache: Path) -> Answer:
    """The answer to parsing all features, kept in the folder `cache`.

    Raises:
      ValueError: a record does not fit the features.
    """
    return kept_answer("parsed", dataset, cache, digest_of_columns)


def figures_answer(dataset: Dataset, cache: Path) -> Figures:
    """Return the figures of all features except feature lists, kept in the folder `cache`.

    Raises:
      ValueError: a record does not fit the features.
    """
    return kept_answer("figures", dataset, cache, figures_of)


def figures_of(batches: Iterable[Batch]) -> Figures:
    """Count, and of numbers min, max and mean, by NumPy."""
    found: Figures = {}
    for batch in batches:
        for name, column in batch.items():
            one = found.setdefault(name, {"count": 0})
            one["count"] += len(column.values)
            if isinstance(column.values, list) or not len(column.values):
                continue
            low, high = column.values.min().item(), column.values.max().item()
            one["min"], one["max"] = min(low, one.get("min", low)), max(high, one.get("max", high))
            one["sum"] = one.get("sum", 0.0) + float(column.values.sum(dtype=np.float64))
    for one in found.values():
        if "sum" in one:
            one["mean"] = one.pop("sum") / one["count"]
    return found


def kept_answer(kind: str, dataset: Dataset, cache: Path, make: Callable[[Iterator[Batch]], Answer]) -> Answer:
    files = [[path, os.stat(path).st_size, os.stat(path).st_mtime_ns] for path in dataset.files]
    key = json.dumps([VERSION, files, dataset.features, dataset.sequences], sort_keys=True)
    path = cache / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
    if not path.exists():
        answer = make(batches_of(dataset))
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(answer))
        draft.rename(path)
    found: Answer = json.loads(path.read_text())
    return found
