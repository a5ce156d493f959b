"""Writing, against the TensorFlow way: from columns to files, and GZIP by level; sizes beside speeds.

    python -m benchmarks.writing [--workloads ctr,wide,…] [--megabytes 12] [--pairs 3] [--tasks write-columns,…]

`write-columns`: the columns of a workload to one uncompressed TFRecord file. Here that is ExampleWriter; the TensorFlow
way builds a tf.train.Example of each row and writes its bytes with TFRecordWriter. It is given a tenth of the rows, or
as many as 50 where a tenth is fewer. `write-gzip`: records in memory to a GZIP file, write_batch here and a write each
there, both at the same level; `write-gzip-1` at level 1. Both sides take turns in one process, and what they wrote is
compared before a figure is printed. A row has the median ratio of the pairs and the range of them.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tfrecord_fast as tf
from benchmarks.workloads import WORKLOADS, Ragged

TASKS = {"write-columns": None, "write-gzip": None, "write-gzip-1": 1}
DEFAULT = "ctr,wide,tok,emb,img"


def columns_of(name: str, megabytes: float) -> tuple[int, dict[str, Any]]:
    """Rows, and the columns as encode_examples takes them."""
    workload = WORKLOADS[name]
    rows = max(64, round(megabytes * 1e6 / workload.mean_bytes))
    made = workload.columns(np.random.default_rng(1), rows)
    splits = lambda lengths: np.concatenate([[0], np.cumsum(lengths)])  # noqa: E731
    return rows, {
        key: tf.RaggedTensor(column.values, splits(column.lengths)) if isinstance(column, Ragged) else column
        for key, column in made.items()
    }


def rows_of(column: Any) -> list[Any]:
    """The values of each row, as Python lists: what the TensorFlow way starts from."""
    if isinstance(column, tf.RaggedTensor):
        return [column.values[a:b] for a, b in itertools.pairwise(column.row_splits)]
    if isinstance(column, np.ndarray):
        return list(column.reshape(len(column), -1))
    return [[value] for value in column]


def theirs_of(tensorflow: Any, columns: dict[str, Any], rows: int) -> Callable[[str], None]:
    train = tensorflow.train
    lists = {key: rows_of(column)[:rows] for key, column in columns.items()}

    def feature(values: Any) -> Any:
        if isinstance(values, list):
            return train.Feature(bytes_list=train.BytesList(value=values))
        if values.dtype.kind == "f":
            return train.Feature(float_list=train.FloatList(value=values))
        return train.Feature(int64_list=train.Int64List(value=values))

    def write(path: str) -> None:
        with tensorflow.io.TFRecordWriter(path) as writer:
            for row in range(rows):
                features = {key: feature(column[row]) for key, column in lists.items()}
                example = train.Example(features=train.Features(feature=features))
                writer.write(example.SerializeToString())

    return write


def same_columns(ours: Path, theirs: Path, rows: int) -> bool:
    one, other = ([r for b in tf.data.TFRecordDataset(str(p)).batch(1024) for r in b] for p in (ours, theirs))
    features = tf.infer_features(one, max_records=None)
    return len(other) == rows and all(
        tf.encode_examples(tf.parse_example(part, features)).tolist() == one[:rows] for part in (one[:rows], other)
    )


def same_records(ours: Path, theirs: Path) -> bool:
    return gzip.decompress(ours.read_bytes()) == gzip.decompress(theirs.read_bytes())


def seconds(write: Callable[[str], Any], path: Path) -> float:
    path.unlink(missing_ok=True)  # what the system frees then is no part of writing
    start = time.perf_counter()
    write(str(path))
    return time.perf_counter() - start


def measure(task: str, name: str, megabytes: float, pairs: int, folder: Path) -> str:
    import tensorflow

    rows, columns = columns_of(name, megabytes)
    ours, theirs = folder / "ours", folder / "theirs"
    records = tf.encode_examples(columns)
    payload = records.nbytes
    if task == "write-columns":
        fewer = min(rows, max(50, rows // 10))
        share = records[:fewer].nbytes / payload
        write_theirs = theirs_of(tensorflow, columns, fewer)

        def write_ours(path: str) -> None:
            with tf.ExampleWriter(path) as writer:
                writer.write(columns)

        same = lambda: same_columns(ours, theirs, fewer)  # noqa: E731
    else:
        share, level, listed = 1.0, TASKS[task], records.tolist()
        options = tf.io.TFRecordOptions("GZIP", compression_level=level)
        their_options = tensorflow.io.TFRecordOptions("GZIP", compression_level=level)

        def write_ours(path: str) -> None:
            with tf.io.TFRecordWriter(path, options) as writer:
                writer.write_batch(records)

        def write_theirs(path: str) -> None:
            with tensorflow.io.TFRecordWriter(path, their_options) as writer:
                for record in listed:
                    writer.write(record)

        same = lambda: same_records(ours, theirs)  # noqa: E731

    taken = [(seconds(write_ours, ours), seconds(write_theirs, theirs) / share) for _ in range(pairs + 1)][1:]
    if not same():
        raise SystemExit(f"{task}, {name}: what was written is not the same")
    ratios = sorted(b / a for a, b in taken)
    fastest = [payload / min(times) / 1e6 for times in zip(*taken, strict=True)]
    size = ours.stat().st_size / (theirs.stat().st_size / share)
    return (
        f"| {task} | {name} | {fastest[0]:,.0f} | {fastest[1]:,.1f} | {statistics.median(ratios):.3g} "
        f"({ratios[0]:.3g}–{ratios[-1]:.3g}) | {size:.3f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.writing", description=__doc__.split("\n")[0])
    parser.add_argument("--workloads", default=DEFAULT)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--megabytes", type=float, default=12)
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args()
    print("| task | workload | MB/s here | MB/s TensorFlow | times TensorFlow (range) | size by TensorFlow's |")
    print("| :-- | :-- | --: | --: | --: | --: |")
    for task in args.tasks.split(","):
        for name in args.workloads.split(","):
            with tempfile.TemporaryDirectory() as folder:
                print(measure(task, name, args.megabytes, args.pairs, Path(folder)))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
