"""docs/object_stores.md does what it says."""

import os

import tfrecord_fast as tf
from tests.support.pages import blocks_of
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "object_stores.md").read_text()


def test_the_code_on_the_page_runs(s3, tmp_path, monkeypatch):
    for key in ("train-{shard}.tfrecord.gz", "train/a-{shard}.tfrecord"):
        manifest = {"manifest": "manifest.json"} if key.startswith("train/") else {}
        options = "GZIP" if key.endswith(".gz") else None
        with tf.ExampleWriter(
            s3.url(key), num_shards=2, options=options, storage_options=s3.options, **manifest
        ) as writer:
            writer.write({"id": [1, 2, 3]})
    names = {"options": s3.options}
    seen = 0
    for block in blocks_of(PAGE):
        if block.language == "python":
            code = block.text.replace("s3://bucket/", s3.url("")).replace("/ssd/cache", str(tmp_path / "cache"))
            exec(code.replace('{"region": "eu-central-1"}', "options"), names)
            assert sorted(i for batch in names["reader"] for i in batch["id"].tolist()) == [1, 2, 3]
            seen += 1
    assert seen == 2 and len(os.listdir(tmp_path / "cache")) > 0
