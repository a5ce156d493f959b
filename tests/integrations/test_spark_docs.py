"""docs/integrations/spark.md does what it says."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pyspark")

import tfrecord_fast as tf
from tests.support.paths import ROOT
from tfrecord_fast.integrations.spark import options

PAGE = (ROOT / "docs" / "integrations" / "spark.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def write(folder):
    for day in (1, 2):
        os.makedirs(folder / "clicks" / f"day={day}")
        with tf.ExampleWriter(folder / "clicks" / f"day={day}" / "a.tfrecord") as writer:
            numbers = np.arange(100)
            pages = [[b"home", b"cart"][number % 2] for number in numbers]
            writer.write({"id": numbers, "page": pages, "score": numbers.astype(np.float32) / 100})


def test_the_page_prints_what_it_says(tmp_path):
    write(tmp_path)
    script = tmp_path / "page.py"
    script.write_text("\n".join(BLOCKS))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    promised = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(BLOCKS), re.MULTILINE)
    assert done.stdout.splitlines() == promised and len(promised) == 4


def test_all_options_are_on_the_page():
    for name in vars(options)["_OPTIONS"]:
        assert re.search(rf"`{name}`", PAGE, re.IGNORECASE), name
