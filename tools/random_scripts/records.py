"""Random features, and random records that fit them, except for some faults."""

from __future__ import annotations

from typing import NamedTuple

import tfrecord_fast as tfr

from .drawing import Variable

__all__ = ["Feature", "draw_features", "draw_records"]

SCALARS = ["int64", "int64", "int64", "float32", "float32", "string", "string"]
WORDS = [b"a", b"bc", b"", b"x y", b"1", b"22", b"-3", b"4.5", b"zz top", b"1,2,3", "é".encode(), b"\x00\x01\x02\x03"]


class Feature(NamedTuple):
    """A feature of the script: its text, the variable that it becomes, and how many values a record has."""

    key: str
    text: str
    variable: Variable
    counts: tuple[int, ...]
    is_optional: bool


def draw_features(drawing):
    """Return 1 to 6 features."""
    rng = drawing.rng
    features = []
    for key in rng.sample(["id", "label", "score", "name", "tokens", "boxes", "weight", "text"], rng.randint(1, 6)):
        dtype = rng.choice(SCALARS)
        kind = rng.choice(
            ["scalar"] * 5 + ["list"] * 3 + ["matrix", "default", "varlen", "varlen", "sequence", "ragged"]
        )
        name = f"row[{key!r}]"
        tf_dtype = f"tf.{dtype}"
        if kind == "scalar":
            shape = rng.choice(["[]", "()"])
            feature = Feature(key, f"FixedLenFeature({shape}, {tf_dtype})", Variable(name, dtype, ()), (1,), False)
        elif kind == "default":
            text = f"FixedLenFeature([], {tf_dtype}, {drawing.constant(dtype).name})"
            feature = Feature(key, text, Variable(name, dtype, ()), (1,), True)
        elif kind == "list":
            size = rng.choice([1, 2, 3, 4])
            default = f", default_value={[drawing.constant(dtype).name] * size}".replace('"', "").replace("\\", "")
            has_default = drawing.chance(0.2) and dtype != "string"
            default = default.replace("'", "") if has_default else ""
            text = f"FixedLenFeature([{size}], {tf_dtype}{default})"
            feature = Feature(key, text, Variable(name, dtype, (size,)), (size,), has_default)
        elif kind == "matrix":
            text = f"FixedLenFeature([2, 2], {tf_dtype})"
            feature = Feature(key, text, Variable(name, dtype, (2, 2)), (4,), False)
        elif kind == "varlen":
            variable = Variable(name, dtype, (None,), layout="sparse")
            feature = Feature(key, f"VarLenFeature({tf_dtype})", variable, (0, 1, 2, 3, 3, 5), True)
        elif kind == "sequence":
            shape = rng.choice([(), (), (2,)])
            text = f"FixedLenSequenceFeature({list(shape)}, {tf_dtype}, allow_missing=True)"
            counts = (0, 2, 4) if shape else (0, 1, 2, 3)
            feature = Feature(key, text, Variable(name, dtype, (None, *shape)), counts, True)
        else:
            text = f"RaggedFeature({tf_dtype}{rng.choice([', row_splits_dtype=tf.int64', ''])})"
            # Without partitions, one record's values are an ordinary tensor.
            feature = Feature(key, text, Variable(name, dtype, (None,)), (0, 1, 2, 3), True)
        features.append(feature)
    return features


def draw_records(drawing, features, count):
    """Return serialized Examples."""
    rng = drawing.rng
    faults = rng.choice([0.0, 0.0, 0.0, 0.05, 0.15])  # of a record
    odd = rng.choice([0.0, 0.0, 0.0, 0.02])  # of a value

    def value(dtype):
        if dtype == "int64":
            return rng.choice([2**31, -(2**40), 2**63 - 1]) if drawing.chance(odd) else rng.randint(-2, 9)
        if dtype == "float32":
            return rng.choice([float("nan"), float("inf"), 1e30]) if drawing.chance(odd) else rng.randint(-8, 24) / 4
        return rng.choice(WORDS)

    records = []
    for _ in range(count):
        fault = rng.choice(["missing", "dtype", "count", "empty", "garbage"]) if drawing.chance(faults) else None
        if fault == "garbage":
            records.append(b"garbage")
            continue
        wrong = rng.choice(features)
        lists = {}
        for feature in features:
            dtype, size = feature.variable.dtype, rng.choice(feature.counts)
            if feature.is_optional and drawing.chance(0.15):
                continue
            if feature is wrong and fault:
                if fault == "missing":
                    continue
                if fault == "empty":
                    lists[feature.key] = tfr.train.Feature()
                    continue
                if fault == "dtype":
                    dtype = rng.choice([other for other in ("int64", "float32", "string") if other != dtype])
                size += fault == "count"
            # A bytes value of the size of an array would be read as the array (docs/differences.md).
            is_wrong = feature is wrong and fault == "dtype"
            values = [b"x" if is_wrong and dtype == "string" else value(dtype) for _ in range(size)]
            lists[feature.key] = {
                "int64": lambda values: tfr.train.Feature(int64_list=tfr.train.Int64List(value=values)),
                "float32": lambda values: tfr.train.Feature(float_list=tfr.train.FloatList(value=values)),
                "string": lambda values: tfr.train.Feature(bytes_list=tfr.train.BytesList(value=values)),
            }[dtype](values)
        example = tfr.train.Example(features=tfr.train.Features(feature=lists))
        records.append(example.SerializeToString())
    return records
