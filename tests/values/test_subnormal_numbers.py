"""Subnormal numbers are kept in threads that treat them as zeros, as PyTorch's set_flush_denormal makes them do."""

import pytest

from tests.support.processes import printed

pytest.importorskip("torch")

START = """
import math, torch

halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
halves = halves[~np.isnan(halves)]
random = np.random.default_rng(7)
small = np.concatenate([random.integers(0, 1 << 23, 5000), [0, 1, 2, 0x7FFFFF, 0x800000]]).astype(np.uint32)
floats = np.concatenate([small, small | 1 << 31]).view(np.float32)
# In units of the last bit that a float32 may have, with those halfway between two of them, and their neighbours.
units = np.concatenate([random.random(5000) * 2**24, np.arange(100) / 4, 2**23 - np.arange(100) / 4, [1e-9]])
doubles = np.concatenate([units, -units]) * 2.0**-149
doubles = np.concatenate([doubles, np.nextafter(doubles, 1), np.nextafter(doubles, -1), [5e-324, np.inf, 0.1]])
wide, narrow, of_halves = floats.astype(np.float64), doubles.astype(np.float32), halves.astype(np.float32)
widened = narrow.astype(np.float64)
numbers = doubles.tolist()
LEAST, MOST = float(floats.min()).hex(), float(floats.max()).hex()

def same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape
    got, want = (one.view(f"u{one.itemsize}") for one in (got, want))
    assert got.tobytes() == want.tobytes(), (got[got != want][:5], want[got != want][:5])

def parsed(column, dtype):
    records = tf.encode_examples({"x": column[None]})
    return tf.parse_example(records, {"x": tf.FixedLenFeature([len(column)], dtype)})["x"][0]

assert torch.set_flush_denormal(True) and math.ldexp(1.0, -1074) * 1.0 == 0
"""

CODES = {
    "columns of halves": "same(parsed(halves, tf.float32), of_halves)",
    "columns of doubles": "same(parsed(doubles, tf.float32), narrow)",
    "parsed as halves": "same(parsed(of_halves, tf.float16), halves)",
    "parsed as doubles": "same(parsed(floats, tf.float64), wide)",
    "numbers of Python": """
with tf.ExampleWriter(sys.argv[1]) as writer:
    writer.write_example({"x": numbers})
[record] = tf.TFRecordDataset(sys.argv[1])
same(tf.parse_single_example(record, {"x": tf.FixedLenFeature([len(narrow)], tf.float32)})["x"], narrow)
""",
    "scalars of a reader": """
with tf.ExampleWriter(sys.argv[1]) as writer:
    writer.write({"x": doubles})
[column] = tf.ShardReader(sys.argv[1], {"x": tf.FixedLenFeature([], tf.float64)}, batch_size=len(doubles))
same(column["x"], widened)
""",
    "figures": """
collector = tf._core.StatsCollector(0, 0, [])
many = random.integers(1, 1 << 23, 1 << 20).astype(np.uint32).view(np.float32)  # more than are counted one by one
collector.add(tf.encode_examples({"x": np.concatenate([many, floats])}))
[feature] = collector.features()
figures = feature.floats
assert figures.zeros == 2 and figures.minimum < figures.mean < figures.maximum and figures.std > 1e-40
assert not figures.exact
assert float(figures.minimum).hex() == LEAST and float(figures.maximum).hex() == MOST
""",
}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_they_are_kept(code, tmp_path):
    assert printed(START + code, tmp_path / "numbers.tfrecord", timeout=120) == ""
