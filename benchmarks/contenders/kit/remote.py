"""Objects in a store, for all readers: a few large ones, a single one, and many small ones."""

from __future__ import annotations

import http.client
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Protocol

from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.reading import Reading
from benchmarks.contenders.kit.setting import Setting
from benchmarks.native.store import BUCKET, Store

REQUESTS = 16  # at a time
BLOCK = 4 << 20
CREDENTIALS = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "aws_region": "us-east-1"}


def stores_of(job: Job) -> Iterator[tuple[str, Store]]:
    """Each number of objects with the store that has them."""
    for files in job.dataset.shardings:
        yield title_of(files), Store(files, job.scratch / f"store-{len(files)}")


def title_of(files: list[str]) -> str:
    return f"{len(files):,} object{'s' * (len(files) > 1)}"


def requested(store: Store) -> int:
    """Asks for all bytes by as many requests side by side as readers have, looks at none of them, and counts them."""
    ranges: SimpleQueue[tuple[str, int, int]] = SimpleQueue()
    for name, size in zip(store.names, store.sizes, strict=True):
        for start in range(0, size, BLOCK):
            ranges.put((name, start, min(start + BLOCK, size)))
    counts: list[int] = []

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", store.port)
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
            counts.append(got)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(REQUESTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def records_of(file: Readable) -> Iterator[bytes]:
    """The records of a file that gives bytes alone, cut in Python. No checksum is looked at."""
    held = b""
    while data := file.read(BLOCK):
        held, at = held + data if held else data, 0
        while at + 12 <= len(held):
            (size,) = struct.unpack_from("<Q", held, at)
            if at + size + 16 > len(held):
                break
            yield held[at + 12 : at + 12 + size]
            at += size + 16
        held = held[at:]
    if held:
        raise ValueError(f"{len(held)} bytes are not a record")


def side_by_side(store: Store, read: Callable[[str], Iterable[bytes]], label: str, row: str) -> Setting:
    """A reader of one file as the only one, or on several threads, a file each, whose records come in order."""

    def all_records() -> Iterator[bytes]:
        if len(store.names) == 1:
            yield from read(store.names[0])
            return
        with ThreadPoolExecutor(REQUESTS) as pool:
            for records in pool.map(lambda name: list(read(name)), store.names):
                yield from records

    threads = f", {REQUESTS} threads" if len(store.names) > 1 else ""
    return Reading(f"{label}{threads}", all_records, row=row)
