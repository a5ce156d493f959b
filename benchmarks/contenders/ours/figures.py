"""tfrecord_fast stats."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

from benchmarks.contenders import Counting, Job, Reading, Setting
from benchmarks.contenders.ours.features import count_of, features_of
from benchmarks.data.answers import Answer


def stats(job: Job) -> list[Setting]:
    """The command, called as a function, and beside it the reader: of records, and of columns that are dropped."""
    import tfrecord_fast as tf

    files, n = job.dataset.files, 16 * job.dataset.batch

    def columns() -> Answer:
        batches = tf.ShardReader(files, features_of(job), batch_size=n)
        return {"records": sum(map(count_of, batches))}

    found = [
        Counting("tfrecord-fast stats --json", lambda: figures(files), "stats"),
        Reading(f"batch_size={n}", tf.ShardReader(files, batch_size=n), list, len, "ShardReader, records"),
        Counting(f"features, batch_size={n}", columns, "ShardReader, columns"),
    ]
    found[
        0
    ].leaves_out = "of a feature with more than 1,000 different values, quantiles are a sketch's: 1 % off in rank"
    for reading in found[1:]:
        reading.leaves_out = "only reads: computes no figures"
    return found


def figures(files: list[str]) -> Answer:
    """Run `tfrecord-fast stats` on the files and return its figures."""
    from tfrecord_fast.cli.app import main

    output = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(output):
        status = main(["stats", "--json", *files])
    if status:
        raise RuntimeError(f"tfrecord-fast stats ended with {status}")
    report = json.loads(output.buffer.getvalue())
    features = {name: figures_of(feature) for name, feature in report["features"].items()}
    return {"records": report["records"], "bytes": report["bytes"], "figures": features}


def figures_of(feature: dict[str, Any]) -> dict[str, float]:
    """Those that are compared: there are many more."""
    numbers = feature.get("int64") or feature.get("float")
    return {key: numbers[key] for key in ("count", "min", "max", "mean")} if numbers else {"count": feature["values"]}
