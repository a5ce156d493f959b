"""Who reads: each gives the number of bytes of records, or of objects, that it has read."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from benchmarks.remote.server import BUCKET, OPTIONS

__all__ = ["MODULES", "READERS", "bare"]

REQUESTS = 16
BLOCK = 4 << 20


def bare(port: int, objects: Sequence[tuple[str, int]]) -> int:
    """As many requests side by side as the package has, for blocks of the same size, whose bytes nobody looks at."""
    ranges: SimpleQueue[tuple[str, int, int]] = SimpleQueue()
    for name, size in objects:
        for start in range(0, size, BLOCK):
            ranges.put((name, start, min(start + BLOCK, size)))
    total: list[int] = []

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        buffer, got = bytearray(BLOCK), 0
        try:
            while True:
                name, start, end = ranges.get_nowait()
                connection.request("GET", f"/{BUCKET}/{name}", headers={"Range": f"bytes={start}-{end - 1}"})
                answer = connection.getresponse()
                view = memoryview(buffer)[: end - start]
                while view and (now := answer.readinto(view)):
                    got, view = got + now, view[now:]
                answer.read()
        except Empty:
            total.append(got)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(REQUESTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(total)


def ours(port: int, objects: Sequence[tuple[str, int]]) -> int:
    import tfrecord_fast as tf

    options = {**OPTIONS, "endpoint": f"http://127.0.0.1:{port}"}
    reader = tf.ShardReader(f"s3://{BUCKET}/*", storage_options=options, max_requests=REQUESTS, compression_type="")
    return sum(batch.nbytes + 16 * len(batch) for batch in reader)


def s3fs(port: int, objects: Sequence[tuple[str, int]]) -> int:
    import s3fs as library

    system = library.S3FileSystem(
        key="x", secret="x", endpoint_url=f"http://127.0.0.1:{port}", skip_instance_cache=True
    )
    got = 0
    for name, _ in objects:
        with system.open(f"{BUCKET}/{name}", "rb") as file:
            while data := file.read(BLOCK):
                got += len(data)
    return got


def pyarrow_fs(port: int, objects: Sequence[tuple[str, int]]) -> int:
    from pyarrow import fs

    system = fs.S3FileSystem(
        access_key="x", secret_key="x", region="us-east-1", scheme="http", endpoint_override=f"127.0.0.1:{port}"
    )
    got = 0
    for name, _ in objects:
        with system.open_input_stream(f"{BUCKET}/{name}") as file:
            while data := file.read(BLOCK):
                got += len(data)
    return got


def smart_open(port: int, objects: Sequence[tuple[str, int]]) -> int:
    import boto3
    from smart_open import open as open_url

    client = boto3.client(
        "s3",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        region_name="us-east-1",
        endpoint_url=f"http://127.0.0.1:{port}",
    )
    got = 0
    for name, _ in objects:
        with open_url(f"s3://{BUCKET}/{name}", "rb", transport_params={"client": client}) as file:
            while data := file.read(BLOCK):
                got += len(data)
    return got


# What is imported before the clock starts.
MODULES = {
    "tfrecord_fast": ["tfrecord_fast.files.shard_reader", "tfrecord_fast.files.remote", "obstore.store"],
    "s3fs": ["s3fs"],
    "pyarrow.fs": ["pyarrow.fs"],
    "smart_open": ["smart_open", "boto3"],
}

READERS: dict[str, Callable[[int, Sequence[tuple[str, int]]], int]] = {
    "bare requests": bare,
    "tfrecord_fast": ours,
    "s3fs": s3fs,
    "pyarrow.fs": pyarrow_fs,
    "smart_open": smart_open,
}
