"""Writes a generated dataset to shards, plain and GZIP, reads it back, compares, and prints the speed.

    python examples/quickstart.py [FOLDER]

With FOLDER, the dataset stays there. Without, a temporary folder is used and removed.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable

import tfrecord_fast as tf

SHARDS = 4
RECORDS_PER_SHARD = 25_000


def make_records(shard: int) -> list[bytes]:
    """Return log lines of a few hundred bytes, the same each time."""
    rng = random.Random(shard)
    words = [f"word{rng.randrange(1000)}" for _ in range(5000)]
    return [
        f"shard={shard} record={i} user={rng.getrandbits(32)} {' '.join(words[at : at + 30])}".encode()
        for i, at in enumerate(rng.randrange(4900) for _ in range(RECORDS_PER_SHARD))
    ]


def timed(label: str, megabytes: float, work: Callable[[], object]) -> None:
    """Print the speed of the best of three runs of `work`."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    print(f"  {label:34}{megabytes / min(seconds):10,.0f} MB/s")


def write(paths: list[str], shards: list[list[bytes]], compression: str) -> None:
    for path, records in zip(paths, shards, strict=True):
        with tf.io.TFRecordWriter(path, compression) as writer:
            writer.write_batch(records)


def run(folder: str) -> None:
    shards = [make_records(shard) for shard in range(SHARDS)]
    expected = [record for records in shards for record in records]
    megabytes = sum(len(record) + 16 for record in expected) / 1e6  # a frame adds 16 bytes to its record
    info = tf.build_info()
    print(f"tfrecord_fast {info['version']}, {info['compiler']}, CRC32C by {info['simd']['crc32c']}")
    print(f"{len(expected):,} records, {megabytes:,.0f} MB, in {SHARDS} shards; rates are of uncompressed bytes\n")

    for compression in ("", "GZIP"):
        suffix = ".gz" if compression else ""
        paths = [os.path.join(folder, f"logs-{i:05}-of-{SHARDS:05}.tfrecord{suffix}") for i in range(SHARDS)]
        print(compression or "uncompressed")
        timed("write", megabytes, lambda paths=paths, compression=compression: write(paths, shards, compression))

        dataset = tf.data.TFRecordDataset(paths)  # detects the compression
        timed("read, one bytes object per record", megabytes, lambda dataset=dataset: sum(map(len, dataset)))
        batched = dataset.batch(1024)
        timed("read, batches of 1,024", megabytes, lambda batched=batched: sum(batch.nbytes for batch in batched))
        assert list(dataset) == expected, "the records read differ from those written"
        assert [record for batch in batched for record in batch] == expected
        print(f"  on disk {sum(map(os.path.getsize, paths)) / 1e6:,.0f} MB\n")

    for index, record in enumerate(tf.data.TFRecordDataset(os.path.join(folder, "logs-*.tfrecord"))):
        if index == 3:
            break
        print(f"record {index}: {record[:70].decode()}…")
    print("\nAll records were read back unchanged.")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        os.makedirs(sys.argv[1], exist_ok=True)
        run(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            run(folder)
