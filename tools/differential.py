"""Random features and random records, parsed by TensorFlow and by this package, and compared.

    python -m tools.differential --cases 100000 --seed 1

Every case is drawn from its own seed, which is printed with a difference: `--case SEED` runs only that one. What
TensorFlow is known to do otherwise (docs/differences.md) is not drawn; test_parse_wire.py
compares those with the protobuf runtime.
"""

import argparse
import itertools
import random
import struct
import sys
import time

import numpy as np

from tests.support import oracle
from tests.support import wire_writer as wire

KEYS = ["a", "b", "c", "d", "", "ключ", "a_rather_long_feature_name", "x" * 17, "exactly8", "y" * 130]
DTYPES = ["int64", "float32", "string"]
KIND_OF = {"int64": "int64", "float32": "float", "string": "bytes"}
SHAPES = [[], [], [1], [2], [3], [2, 2], [0], [1, 3]]


class Draw:
    """One case."""

    def __init__(self, seed):
        self.seed = seed
        self.rng = random.Random(seed)
        self.raw = {}  # raw key -> (layout, dtype, elements, role)
        # How wild the records are: most cases should get past the first check.
        self.p_bad = self.rng.choice([0.0, 0.0, 0.02, 0.1])
        self.p_missing = self.rng.choice([0.0, 0.1, 0.4])

    # ---- Values ----

    def value(self, kind):
        rng = self.rng
        if kind == "int64":
            return rng.choice(
                [rng.randrange(128), rng.randrange(1 << 25), -rng.randrange(1, 9), rng.getrandbits(63), -(1 << 63)]
            )
        if kind == "float":
            return struct.unpack("<f", struct.pack("<f", rng.choice([rng.uniform(-9, 9), 0.0, 1e30, float("inf")])))[0]
        # Sizes that are never those of a numeric array, which would be read as one.
        return rng.choice([b"", b"x", b"\x00\xff\x80", "ж".encode(), bytes(5), rng.randbytes(7)])

    def values(self, kind, count):
        return [self.value(kind) for _ in range(count)]

    def scalar(self, dtype):
        return self.value(KIND_OF[dtype])

    def default(self, shape, dtype):
        roll = self.rng.random()
        if roll < 0.5:
            return None
        count = int(np.prod(shape)) if shape else 1
        if roll < 0.53:
            count += 1  # a default that does not fit
        values = self.values(KIND_OF[dtype], count)
        return values[0] if not shape and len(values) == 1 else values

    # ---- Features ----

    def features(self, where):
        """Described features; notes in self.raw what each raw key holds. `where`: example, context or lists."""
        rng = self.rng
        self.raw = {}
        described = {}
        keys = rng.sample(KEYS, rng.randrange(1, 6))
        for key in keys:
            if key in self.raw:
                continue
            kinds = {
                "example": ["fixed", "fixed", "fixed", "varlen", "sequence", "ragged", "sparse", "parted"],
                "context": ["fixed", "fixed", "varlen", "ragged"],
                "lists": ["sequence", "sequence", "varlen", "ragged"],
            }[where]
            kind = rng.choice(kinds)
            dtype = rng.choice(DTYPES)
            if kind == "fixed":
                shape = rng.choice(SHAPES)
                described[key] = ("fixed", shape, dtype, self.default(shape, dtype))
                self.raw[key] = ("fixed", dtype, int(np.prod(shape)) if shape else 1, None)
            elif kind == "varlen":
                described[key] = ("varlen", dtype)
                self.raw[key] = ("list", dtype, None, None)
            elif kind == "sequence":
                shape = [n for n in rng.choice(SHAPES) if n]
                padding = self.scalar(dtype) if where == "example" and rng.random() < 0.3 else None
                allow = True if where == "example" else rng.random() < 0.6
                described[key] = ("sequence", shape, dtype, allow, padding)
                self.raw[key] = ("padded", dtype, int(np.prod(shape)) if shape else 1, None)
            elif kind == "ragged":
                described[key] = ("ragged", dtype, None, [], rng.choice(["int32", "int64"]), rng.random() < 0.5)
                self.raw[key] = ("list", dtype, None, None)
            elif kind == "sparse":
                self.sparse_feature(described, key, dtype)
            else:
                self.parted_feature(described, key, dtype)
        return described

    def fresh(self, name):
        key = f"{name}{len(self.raw)}"
        return key

    def sparse_feature(self, described, key, dtype):
        rng = self.rng
        value_key = self.fresh("value")
        self.raw[value_key] = ("list", dtype, None, "sparse_value")
        many = rng.random() < 0.4
        index_keys = []
        for _ in range(rng.randrange(1, 3) if many else 1):
            index_key = self.fresh("index")
            index_keys.append(index_key)
            self.raw[index_key] = ("list", "int64", None, ("sparse_index", value_key))
        size = [5] * len(index_keys) if many else 5
        described[f"sparse_{key}"] = (
            "sparse",
            index_keys if many else index_keys[0],
            value_key,
            dtype,
            size,
            rng.random() < 0.2,
        )
        if rng.random() < 0.3:
            described[value_key] = ("varlen", dtype)

    def parted_feature(self, described, key, dtype):
        rng = self.rng
        value_key = self.fresh("flat")
        splits = rng.choice(["int32", "int64"])
        self.raw[value_key] = ("list", dtype, None, "parted_value")
        partitions = []
        for _ in range(rng.randrange(1, 3)):
            name = rng.choice(["RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds", "UniformRowLength"])
            if name == "UniformRowLength":
                partitions.append((name, rng.choice([1, 2])))
                continue
            part_key = self.fresh("part")
            self.raw[part_key] = ("list", "int64", None, "partition")
            partitions.append((name, part_key))
        described[f"parted_{key}"] = ("ragged", dtype, value_key, partitions, splits, True)
        self.parted = [*getattr(self, "parted", []), (value_key, partitions)]

    # ---- Records ----

    def count_for(self, layout, elements):
        rng = self.rng
        if layout == "fixed":
            return elements if rng.random() >= self.p_bad else rng.choice([0, elements + 1, max(elements - 1, 0), 300])
        if layout == "padded":
            steps = rng.choice([0, 1, 2, 3])
            return steps * elements + (1 if rng.random() < self.p_bad else 0)
        return rng.choice([0, 1, 2, 3, 5, 40])

    def serialized_feature(self, key, count=None, values=None):
        """A Feature for the raw key: usually what it should be."""
        rng = self.rng
        layout, dtype, elements, _ = self.raw[key]
        kind = KIND_OF[dtype]
        roll = rng.random()
        if roll < self.p_bad:
            kind = rng.choice(["int64", "float", "bytes"])
        elif roll < 2 * self.p_bad or rng.random() < 0.03:
            return b""  # no kind
        if values is None or kind != KIND_OF[dtype]:
            count = self.count_for(layout, elements) if count is None else count
            if self.raw[key][3] == "partition":
                count = max(count, 1)  # some values are in no row: TensorFlow loses them
            if kind == "bytes" and dtype != "string" and layout == "fixed":
                return wire.feature("bytes", [b"abc"])  # three bytes are not an array of any requested type
            values = self.values(kind, count)
        packed = rng.random() < 0.8
        if kind == "float" and layout == "fixed" and len(values) > elements:
            packed = True  # TensorFlow writes past the end of its array
        return wire.feature(kind, values, packed)

    def partition_values(self, count, partitions):
        """Values for each partition key of one record that fit `count` flat values, from the innermost out."""
        rng = self.rng
        filled = {}
        for name, arg in reversed(partitions):
            if name == "UniformRowLength":
                count //= arg
                continue
            rows = rng.randrange(1, 4) if count else rng.randrange(0, 3)
            cuts = sorted(rng.randrange(count + 1) for _ in range(max(rows - 1, 0)))
            splits = [0, *cuts, count] if rows else [0]
            lengths = [b - a for a, b in itertools.pairwise(splits)]
            if name == "ValueRowIds":
                ids = [row for row, n in enumerate(lengths) for _ in range(n)]
                filled[arg] = ids
                rows = ids[-1] + 1 if ids else 0
            else:
                filled[arg] = {
                    "RowSplits": splits,
                    "RowLengths": lengths,
                    "RowStarts": splits[:-1],
                    "RowLimits": splits[1:],
                }[name]
            count = rows
        return filled

    def entries(self):
        """(key, Feature) pairs of one Example or context."""
        rng = self.rng
        planned = {}
        for value_key, partitions in getattr(self, "parted", []):
            if value_key not in self.raw:
                continue
            unit = int(np.prod([arg for name, arg in partitions if name == "UniformRowLength"] or [1]))
            count = rng.choice([0, 1, 2, 4]) * unit
            planned[value_key] = self.values(KIND_OF[self.raw[value_key][1]], count)
            if all(name == "UniformRowLength" for name, _ in partitions) or rng.random() >= self.p_bad:
                planned.update(self.partition_values(count, partitions))
        for key, (_, dtype, _, role) in self.raw.items():
            if role == "sparse_value":
                count = rng.randrange(4)
                planned[key] = self.values(KIND_OF[dtype], count)
                for other, (_, _, _, other_role) in self.raw.items():
                    if other_role == ("sparse_index", key):
                        # Never one place twice: TensorFlow's order of those is that of an unstable sort.
                        planned[other] = rng.sample(range(5), count)
        out = []
        for key in self.raw:
            if key in planned:
                out.append((key, wire.feature(KIND_OF[self.raw[key][1]], planned[key], rng.random() < 0.8)))
            elif rng.random() >= self.p_missing:
                out.append((key, self.serialized_feature(key)))
        if rng.random() < 0.2:  # not asked for, and not looked into
            out.append(
                (rng.choice(["unasked", "other"]), rng.choice([b"", b"\xff\xff", wire.feature("int64", [1, 2])]))
            )
        if self.p_missing:
            rng.shuffle(out)
        plain = [key for key in self.raw if key not in planned]
        if plain and rng.random() < 0.05:  # the last one counts
            key = rng.choice(plain)
            out.append((key, self.serialized_feature(key)))
        return out

    def message(self, entries):
        rng = self.rng
        raw = [wire.entry(key.encode(), value, value_first=rng.random() < 0.03) for key, value in entries]
        if rng.random() < 0.05:  # as two messages, which merge
            middle = rng.randrange(len(raw) + 1)
            return wire.field(1, b"".join(raw[:middle])) + wire.field(1, b"".join(raw[middle:]))
        return wire.field(1, b"".join(raw))

    def spoil(self, record):
        rng = self.rng
        if rng.random() < 0.05:
            record = record + wire.unknown_field(rng)
        if rng.random() < 0.03:
            record = wire.unknown_field(rng) + record
        return record

    def records(self, make, count):
        return [b"" if self.rng.random() < self.p_bad * 0.5 else self.spoil(make()) for _ in range(count)]

    def steps(self, key):
        rng = self.rng
        layout, _, elements, _ = self.raw[key]
        count = rng.choice([0, 1, 2, 3, 9])
        out = []
        for _ in range(count):
            size = elements if layout == "padded" and rng.random() >= self.p_bad else None
            if layout == "padded" and size is not None:
                kind = KIND_OF[self.raw[key][1]]
                out.append(wire.feature(kind, self.values(kind, size), rng.random() < 0.8))
            else:
                out.append(self.serialized_feature(key, rng.choice([0, 1, 2, 3])))
        return out

    def case(self):
        rng = self.rng
        call = rng.choice(["example", "example", "example", "single", "sequence", "sequence", "single_sequence"])
        count = 1 if call.startswith("single") else rng.choice([0, 1, 2, 3, 8])
        if call in ("example", "single"):
            features = self.features("example")
            self.single = call == "single"
            records = self.records(lambda: self.message(self.entries()), count)
            return {"call": call, "features": features, "records": records, "seed": self.seed}
        features = self.features("context") if rng.random() < 0.9 else {}
        context_raw = self.raw
        lists = self.features("lists") if not features or rng.random() < 0.9 else {}
        lists_raw = self.raw if lists else {}

        def make():
            self.raw = context_raw if features else {}
            context = [e for e in self.entries() if e[0] != "unasked"] if features else []
            self.raw = lists_raw
            listed = [(key, self.steps(key)) for key in lists_raw if rng.random() >= self.p_missing]
            rng.shuffle(listed)
            return wire.sequence_example(
                [(key.encode(), value) for key, value in context], [(key.encode(), value) for key, value in listed]
            )

        records = self.records(make, count)
        return {"call": call, "features": features, "lists": lists, "records": records, "seed": self.seed}


# ---- Comparing ----


def same_array(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype == object:
        return a.tolist() == b.tolist()
    return a.tobytes() == b.tobytes()


def same_value(a, b):
    if a[0] != b[0]:
        return False
    if a[0] == "dense":
        return same_array(a[1], b[1])
    if a[0] == "sparse":
        return same_array(a[1], b[1]) and same_array(a[2], b[2]) and a[3] == b[3]
    return len(a[1]) == len(b[1]) and all(map(same_array, a[1], b[1])) and same_array(a[2], b[2])


def difference(ours, theirs):
    """None if the answers agree, else a text."""
    if theirs[0] == "crash":
        return None if ours[0] == "error" else f"TensorFlow crashed, here {ours}"
    if ours[0] == "error" and any(
        text in ours[2] for text in ("invalid partition", "cannot be cut into rows of", "not aligned")
    ):
        return None  # TensorFlow drops or repeats values, or takes those of another record
    if ours[0] == "error" and "value_rowids make" in ours[2]:
        return None  # millions of rows for a few values: TensorFlow makes them
    if ours[0] != theirs[0]:
        return f"here {ours}\nTensorFlow {theirs}"
    if ours[0] == "error":
        if ours[1] not in ("InvalidArgumentError", "ValueError", "TypeError"):
            return f"unexpected error here: {ours}"
        return None
    for part, (mine, other) in enumerate(zip(ours[1], theirs[1], strict=True)):
        if [key for key, _ in mine] != [key for key, _ in other]:
            return f"part {part}: keys {[key for key, _ in mine]}, TensorFlow {[key for key, _ in other]}"
        for (key, a), (_, b) in zip(mine, other, strict=True):
            if not same_value(a, b):
                return f"part {part}, {key!r}:\nhere       {a}\nTensorFlow {b}"
    return None


def compare(seeds, tensorflow, module):
    """Yields (case, difference) for those of the seeds whose answers differ; returns how many were good parses."""
    cases = [Draw(seed).case() for seed in seeds]
    parsed = 0
    for case, theirs in zip(cases, tensorflow.ask(cases), strict=True):
        ours = oracle.answer(module, case)
        parsed += ours[0] == "ok"
        found = difference(ours, theirs)
        if found:
            yield case, found
    return parsed


def main():
    import tfrecord_fast

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case; the next ones count up")
    parser.add_argument("--case", type=int, help="run the case of this seed alone")
    parser.add_argument("--stop-after", type=int, default=5, help="differences")
    args = parser.parse_args()
    first, last = (args.case, args.case + 1) if args.case is not None else (args.seed, args.seed + args.cases)
    found = parsed = 0
    start = time.time()
    with oracle.Oracle() as tensorflow:
        for seed in range(first, last, 100):
            differences = compare(range(seed, min(seed + 100, last)), tensorflow, tfrecord_fast)
            while True:
                try:
                    case, text = next(differences)
                except StopIteration as end:
                    parsed += end.value
                    break
                found += 1
                print(f"case {case['seed']}: {case}\n{text}\n", flush=True)
                if found >= args.stop_after:
                    return 1
            done = seed + 100 - first
            if done % 5000 == 0:
                print(f"{done} cases, {found} differences, {time.time() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{last - first} cases ({parsed} parsed, the others errors on both sides), {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
