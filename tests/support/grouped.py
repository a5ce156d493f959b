"""Random features in groups, their records, and whether groups hold what the features' own columns would."""

import numpy as np

import tfrecord_fast as tf
from tests.support import wire_writer as wire

__all__ = ["FLOATS", "INTEGERS", "assert_grouped", "random_case", "record", "scalar", "value_of"]

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
_OTHERS = {
    "list": tf.VarLenFeature(tf.int64),
    "pair": tf.FixedLenFeature([2], tf.float32),
    "text": tf.FixedLenFeature([], tf.string),
    "rows": tf.RaggedFeature(tf.int64, value_key="list2"),
    "padded": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
}


def scalar(dtype, default=None):
    return tf.FixedLenFeature([], tf.as_dtype(dtype), default)


def record(**features):
    """An Example of name=(kind, values)."""
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def value_of(rng, dtype):
    """A list of one value that fits."""
    if dtype in FLOATS:
        return "float", [np.float32(rng.uniform(-1000, 1000))]
    if dtype == "bool":
        return "int64", [rng.randrange(2)]
    info = np.iinfo(dtype)
    top = min(int(info.max), (1 << 63) - 1)
    return "int64", [rng.choice([rng.randrange(0, min(200, top)), rng.randint(int(info.min), top), 0, top])]


def _entries_of(rng, features, absent):
    """The entries of a record; of the features with a default, some are left out."""
    entries = []
    for key, feature in features.items():
        if key in _OTHERS:
            kind = {"list": "int64", "rows": "int64", "text": "bytes"}.get(key, "float")
            count = {"pair": 2, "text": 1}.get(key, rng.randrange(4))
            values = [rng.randbytes(rng.randrange(9)) if kind == "bytes" else rng.randrange(500) for _ in range(count)]
            entries.append((b"list2" if key == "rows" else key.encode(), wire.feature(kind, values)))
        elif feature.default_value is None or rng.random() >= absent:
            kind, values = value_of(rng, tf.as_dtype(feature.dtype).name)
            entries.append((key.encode(), wire.feature(kind, values, packed=rng.random() < 0.98)))
    return entries


def random_case(rng, rows):
    """Features, groups of them, and records."""
    dtypes = rng.sample(INTEGERS + FLOATS, rng.randint(1, 3))
    features = {}
    for dtype in dtypes:
        for i in range(rng.randint(1, 12)):
            default = rng.choice([None, None, True])
            features[f"{dtype}_{i}" + "_" * rng.choice([0, 0, 40])] = scalar(dtype, default)
    features |= {key: _OTHERS[key] for key in rng.sample(sorted(_OTHERS), rng.randrange(3))}
    order = list(features)
    rng.shuffle(order)
    groups = {}
    for dtype in dtypes:
        keys = [key for key in order if key.startswith(dtype + "_")]
        size = rng.randint(0, len(keys))
        if size:
            groups[f"all {dtype}"] = keys[:size]
        if len(keys) - size > 1 and rng.random() < 0.5:
            groups[keys[-1]] = keys[size:]
    absent, disorder = rng.choice([0, 0.1]), rng.choice([0, 0, 0.1, 1])
    records = []
    for _ in range(rows):
        entries = _entries_of(rng, features, absent)
        if rng.random() < disorder:
            rng.shuffle(entries)
        if rng.random() < 0.05:
            entries.append((b"nobody asked", wire.feature("int64", [1])))
        records.append(wire.example(entries))
    return features, groups, records


def _plain(value):
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "values") and hasattr(value, "indices"):
        return [np.asarray(value.values).tolist(), value.indices.tolist(), list(value.shape)]
    return value.tolist() if hasattr(value, "tolist") else value


def assert_grouped(grouped, single, groups, axis=1):
    """`grouped` is what `single` is, with groups in the place of their features' columns."""
    members = {key for keys in groups.values() for key in keys}
    assert set(grouped) == {*(key for key in single if key not in members), *groups}
    for name, keys in groups.items():
        want = np.stack([single[key] for key in keys], axis=axis)
        assert grouped[name].dtype == want.dtype and grouped[name].flags.c_contiguous
        np.testing.assert_array_equal(grouped[name], want)
    for key in single:
        if key not in members:
            assert repr(_plain(grouped[key])) == repr(_plain(single[key])), key  # where NaN is NaN
