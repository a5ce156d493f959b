"""The workloads: what their records hold, made from a seed, without TensorFlow.

Each workload first makes columns of values (`columns`) and then encodes them (`encode`), so that a test can compare the
bytes with the values and a writing benchmark can start from the columns. The keys of a record are in an order that is
arbitrary but the same throughout a file, as a writer's hash table leaves them.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import wire

GENERATOR = 1  # to be raised when the bytes made from a seed change, so that cached files are made again


class Feature(NamedTuple):
    """One feature, in plain data. `kind` is fixed, varlen or sequence; `dtype` int64, float32 or string."""

    kind: str
    dtype: str
    shape: tuple[int, ...] = ()


class Ragged(NamedTuple):
    """Lists of unequal length: row i is the next `lengths[i]` of `values` ([total, ...])."""

    values: NDArray[Any]
    lengths: NDArray[np.int64]


Columns = dict[str, Any]  # by name: ndarray [n, ...], Ragged, or a list of bytes


def feature_objects(features: Mapping[str, Sequence[Any]], module: Any, ragged: bool = False) -> dict[str, Any]:
    """The features as objects of `module`: TensorFlow's, or tfrecord_fast's, which has the same names. `ragged` asks
    for a RaggedTensor where the length varies."""
    make = {
        "fixed": lambda shape, dtype: module.io.FixedLenFeature(list(shape), dtype),
        "varlen": lambda shape, dtype: (module.io.RaggedFeature if ragged else module.io.VarLenFeature)(dtype),
        "sequence": lambda shape, dtype: module.io.FixedLenSequenceFeature(list(shape), dtype),
    }
    return {name: make[kind](shape, getattr(module, dtype)) for name, (kind, dtype, shape) in features.items()}


@dataclass(frozen=True)
class Workload:
    """`records` are per shard at scale 1; `mean_bytes` is the mean size of a payload that the workload aims at."""

    name: str
    title: str
    records: int
    mean_bytes: int
    features: dict[str, Feature] = field(default_factory=dict)  # the context's, in a SequenceExample
    sequences: dict[str, Feature] = field(default_factory=dict)
    shards: int = 2
    batch: int = 1024  # records in a batch when it is read
    chunk: int = 10_000  # records made at a time; part of what a seed means
    gzip: bool = False  # whether a GZIP variant makes sense

    @property
    def total_bytes(self) -> int:
        """About how many bytes of payload there are at scale 1."""
        return self.records * self.mean_bytes * self.shards

    def records_at(self, scale: float) -> int:
        return max(1, round(self.records * scale))

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        """The values of n records."""
        raise NotImplementedError

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        """The serialized records of these columns, their keys in this order."""
        raise NotImplementedError

    def chunks(self, shard: int, n: int, seed: int = 0) -> Iterator[tuple[Columns, list[bytes]]]:
        """The n records of a shard, `chunk` at a time, as values and as bytes."""
        rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(self.name.encode()), shard]))
        order = [str(name) for name in rng.permutation([*self.features, *self.sequences])]
        for first in range(0, n, self.chunk):
            columns = self.columns(rng, min(self.chunk, n - first))
            yield columns, self.encode(columns, order)


class Scalars(Workload):
    """Examples of many scalar features."""

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        columns: Columns = {}
        integers = 0
        for name, f in self.features.items():
            if f.dtype == "float32":
                columns[name] = rng.standard_normal(n, np.float32)
            elif name == "label":
                columns[name] = rng.integers(0, 2, n)
            else:
                columns[name] = rng.integers(0, 2 ** (1 + integers % self.max_bits), n)
                integers += 1
        return columns

    @property
    def max_bits(self) -> int:
        return 25 if self.name == "ctr" else 40

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        rows = wire.concat([wire.scalar_entries(name, self.features[name].dtype, columns[name]) for name in order])
        return [wire.message([entries]) for entries in rows.split()]


class Tokens(Workload):
    """Examples of one int64 list, token ids by a Zipf law."""

    VOCABULARY = 50_000

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        lengths = rng.integers(256, 1024, n)
        table = zipf_table(1.3, self.VOCABULARY, 2**20)
        tokens = table[rng.integers(0, len(table), int(lengths.sum()))]
        return {name: Ragged(tokens, lengths) for name in self.features}

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        ((name, (tokens, lengths)),) = columns.items()
        rows = wire.varints(tokens)
        ends = np.cumsum(np.count_nonzero(rows.mask, axis=1))[np.cumsum(lengths) - 1]
        packed = wire.split(rows.data[rows.mask].tobytes(), np.diff(ends, prepend=0))
        return [wire.message([wire.list_entry(name, "int64", one)]) for one in packed]


@functools.cache
def zipf_table(exponent: float, limit: int, size: int) -> NDArray[np.int64]:
    """The quantiles of a Zipf law in `size` equal steps, clipped to `limit - 1`: to draw from it is to draw from the
    law, rounded, at the cost of one load."""
    weights = np.arange(1, limit, dtype=np.float64) ** -exponent
    beyond = limit ** (1 - exponent) / (exponent - 1)  # the tail's integral
    cumulative = np.cumsum(weights) / (weights.sum() + beyond)
    return np.minimum(np.searchsorted(cumulative, (np.arange(size) + 0.5) / size) + 1, limit - 1)


class Embedding(Workload):
    """Examples of one float list."""

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        return {name: rng.standard_normal((n, *f.shape), np.float32) for name, f in self.features.items()}

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        ((name, values),) = columns.items()
        return [wire.message([wire.list_entry(name, "float32", row.tobytes())]) for row in values.astype("<f4")]


class Images(Workload):
    """Examples of one bytes value that does not compress, and three integers about it."""

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        return {
            "image": [rng.bytes(int(size)) for size in rng.integers(50_000, 150_001, n)],
            "height": rng.integers(100, 1000, n),
            "width": rng.integers(100, 1000, n),
            "label": rng.integers(0, 1000, n),
        }

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        entries = {
            name: [wire.list_entry(name, "string", value) for value in values]
            if name == "image"
            else wire.scalar_entries(name, "int64", values).split()
            for name, values in columns.items()
        }
        return [wire.message(parts) for parts in zip(*(entries[name] for name in order), strict=True)]


class Sequences(Workload):
    """SequenceExamples: a context, and two feature lists whose lengths have nothing to do with each other."""

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        steps = {name: rng.integers(1, 31, n) for name in self.sequences}
        return {
            "user_id": rng.integers(0, 2**40, n),
            "score": rng.standard_normal(n, np.float32),
            "items": Ragged(rng.integers(0, 2**14, int(steps["items"].sum())), steps["items"]),
            "frames": Ragged(rng.standard_normal((int(steps["frames"].sum()), 8), np.float32), steps["frames"]),
        }

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        context = [
            wire.scalar_entries(name, self.features[name].dtype, columns[name]).split()
            for name in order
            if name in self.features
        ]
        lists = [self.list_entries(name, columns[name]) for name in order if name in self.sequences]
        return [
            wire.message(features, feature_lists)
            for features, feature_lists in zip(zip(*context, strict=True), zip(*lists, strict=True), strict=True)
        ]

    def list_entries(self, name: str, steps: Ragged) -> list[bytes]:
        """The map entries of one feature list: each step is a Feature, field 1 of FeatureList."""
        feature = wire.scalar_features(self.sequences[name].dtype, steps.values)
        size = np.count_nonzero(feature.mask, axis=1)
        rows = wire.concat([wire.constant(bytes([wire.TAG_1]), len(size)), wire.column(size), feature])
        ends = np.cumsum(size + 2)[np.cumsum(steps.lengths) - 1]
        lists = wire.split(rows.data[rows.mask].tobytes(), np.diff(ends, prepend=0))
        return [wire.entry(name, one) for one in lists]


class Tiny(Workload):
    """Raw records, not Examples: random bytes."""

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        lengths = rng.integers(16, 100, n)
        return {"": Ragged(np.frombuffer(rng.bytes(int(lengths.sum())), np.uint8), lengths)}

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        values, lengths = columns[""]
        return wire.split(values.tobytes(), lengths)


INT64, FLOAT = Feature("fixed", "int64"), Feature("fixed", "float32")

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Scalars(
            "ctr",
            "26 int64 scalars (1 to 25 bits), 13 float scalars, a label",
            100_000,
            613,
            {f"C{i}": INT64 for i in range(1, 27)} | {f"I{i}": FLOAT for i in range(1, 14)} | {"label": INT64},
            gzip=True,
        ),
        Scalars(
            "wide",
            "900 scalar features: 450 int64 (1 to 40 bits), 450 float",
            3_000,
            24_585,
            {f"category_id_{i:03}": INT64 for i in range(450)} | {f"numeric_{i:04}": FLOAT for i in range(450)},
            chunk=500,
            gzip=True,
        ),
        Tokens(
            "tok",
            "one int64 list, 256 to 1,023 tokens, Zipf 1.3 below 50,000",
            50_000,
            830,
            {"input_token_ids": Feature("varlen", "int64")},
            chunk=5_000,
            gzip=True,
        ),
        Embedding(
            "emb",
            "one float list of 768",
            30_000,
            3_104,
            {"dense_embedding": Feature("fixed", "float32", (768,))},
            chunk=5_000,
            gzip=True,
        ),
        Images(
            "img",
            "one incompressible bytes value of 50 to 150 kB, three int64",
            2_000,
            99_915,
            {"image": Feature("fixed", "string"), "height": INT64, "width": INT64, "label": INT64},
            batch=32,
            chunk=200,
        ),
        Sequences(
            "seq",
            "SequenceExample: 2 context features, two feature lists of 1 to 30 steps",
            20_000,
            788,
            {"user_id": INT64, "score": FLOAT},
            {"items": Feature("sequence", "int64"), "frames": Feature("sequence", "float32", (8,))},
            gzip=True,
        ),
        Scalars("one", "one int64 scalar: what a record costs at least", 5_000, 15, {"C1": INT64}),
        Tiny("tiny", "raw records of 16 to 99 bytes", 500_000, 58, chunk=50_000),
    )
}
