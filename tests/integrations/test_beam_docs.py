"""docs/integrations/beam.md and examples/beam_preprocess.py do what they say."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("apache_beam")

import numpy as np

import tfrecord_fast as tf
from tests.support.paths import EXAMPLES, ROOT

PAGE = (ROOT / "docs" / "integrations" / "beam.md").read_text()


def test_the_code_on_the_page_runs(tmp_path):
    rng = np.random.default_rng(0)
    with tf.ExampleWriter(tmp_path / "in-{shard}.tfrecord", num_shards=2) as writer:
        writer.write(
            {"age": np.array([10, 20, 60], np.float32), "vector": rng.random((3, 16), np.float32), "tags": [[b"a"]] * 3}
        )
    reading, writing = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert "with beam.Pipeline() as pipeline:" in reading
    code = reading.replace("gs://bucket/train/*.tfrecord", "in-*")
    imports, _, writes = writing.partition("\n")
    code = f"{imports}\n{code}{textwrap.indent(writes.replace('gs://bucket/out', 'out'), ' ' * 4)}"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert run.returncode == 0 and run.stdout == "30.0\n", run.stderr
    assert sorted(os.listdir(tmp_path / "out")) == [f"part-{i:05d}-of-00016.tfrecord.gz" for i in range(16)]
    assert sorted(tf.read_table(str(tmp_path / "out" / "*")).column("age").to_pylist()) == [10, 20, 60]


def test_the_example_runs():
    script = [sys.executable, EXAMPLES / "beam_preprocess.py"]
    run = subprocess.run(script, capture_output=True, text=True, env=environment())
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "eval-00000-of-00001.tfrecord.gz",
        "train-00000-of-00002.tfrecord.gz",
        "train-00001-of-00002.tfrecord.gz",
        "18019 rows to train with: mean 0.0, deviation 1.0",
    ]


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT)}
