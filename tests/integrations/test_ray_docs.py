"""docs/integrations/ray.md does what it says."""

import glob

import numpy as np
import pytest

pytest.importorskip("ray")

import tfrecord_fast as tf
from tests.integrations.ray_kit import local_ray
from tests.support.pages import blocks_of
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "integrations" / "ray.md").read_text()


def test_the_code_on_the_page_runs(tmp_path):
    (tmp_path / "train").mkdir()
    with tf.ExampleWriter(tmp_path / "train" / "a.tfrecord", num_shards=2) as writer:
        writer.write({"age": np.arange(300.0), "vector": np.zeros((300, 16)), "tags": [["a"]] * 300})
    names = {}
    with local_ray():
        for block in blocks_of(PAGE):
            if block.language == "python":
                exec(block.text.replace("s3://bucket", str(tmp_path)), names)
    assert names["batch"]["vector"].shape[1] == 16
    files = glob.glob(str(tmp_path / "out" / "part-*.tfrecord.gz"))
    assert len(files) == len(names["files"])
    assert sorted(tf.read_table(files, columns=["age"]).column("age").to_pylist()) == list(range(300))
