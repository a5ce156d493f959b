"""The floor: small native loops that say what the machine can do at best (benchmarks/native/floor.cc)."""

from __future__ import annotations

import ctypes
import os
from functools import partial
from pathlib import Path

from benchmarks.contenders import CannotError, Contender, Counting, Job, Setting, cores, shards_of
from benchmarks.contenders.kit.imaging import photos_of, step_of
from benchmarks.contenders.kit.remote import REQUESTS, requested, stores_of
from benchmarks.data.answers import Answer
from benchmarks.data.photos import DECODE
from benchmarks.native import build
from benchmarks.native.store import Store


def check(code: int, path: str) -> None:
    if code:
        raise OSError(code, os.strerror(code), path) if code > 0 else ValueError(f"{path}: damaged")


def read_all(job: Job) -> bytes:
    return b"".join(Path(path).read_bytes() for path in job.dataset.files)


def counted(name: str, files: list[str], has_records: bool, framed: int = 0) -> Answer:
    """Calls a function of the library for each file and adds up what it counts. `framed` is the number of records whose
    framing is among the counted bytes."""
    function = getattr(build.floor(), name)
    records, size = ctypes.c_int64(), ctypes.c_int64()
    counters = [ctypes.byref(records), ctypes.byref(size)] if has_records else [ctypes.byref(size)]
    for path in files:
        check(function(path.encode(), *counters), path)
    answer = {"bytes": size.value - 16 * framed}
    return answer | {"records": records.value if has_records else framed}


def raw(job: Job) -> list[Setting]:
    files, n = job.dataset.files, job.dataset.records
    source = read_all(job)
    target = ctypes.create_string_buffer(len(source))

    def copy() -> Answer:
        build.floor().floor_memcpy(target, source, ctypes.c_int64(len(source)))
        return {"records": n}

    return [
        Counting("1 MiB blocks, our CRC", lambda: counted("floor_read_crc", files, True), row="read + CRC"),
        Counting("1 MiB blocks", lambda: counted("floor_read", files, False, framed=n), row="read"),
        Counting("the whole, once", copy, row="memcpy"),
    ]


def raw_gzip(job: Job) -> list[Setting]:
    files, n = job.packed("GZIP")[0], job.dataset.records
    return [
        Counting(
            "ISA-L, 256 KiB in, 1 MiB out", lambda: counted("floor_inflate", files, False, framed=n), row="inflate"
        )
    ]


def parse(job: Job) -> list[Setting]:
    return raw(job)[:1]  # read + CRC


def shards(job: Job) -> list[Setting]:
    """Measure how long the system takes to read the many files, on one thread per core."""
    files = job.dataset.shardings[-1]
    paths = (ctypes.c_char_p * len(files))(*(path.encode() for path in files))

    def read() -> Answer:
        size = ctypes.c_int64()
        check(build.floor().floor_read_files(paths, len(files), cores(), ctypes.byref(size)), "")
        if size.value != job.dataset.file_bytes:
            raise ValueError(f"{size.value} bytes read of {job.dataset.file_bytes}")
        return {"records": job.dataset.records}

    return [Counting(f"{cores()} threads", read, row=f"open, read, close, {shards_of(files)}")]


def images(job: Job) -> list[Setting]:
    """Measure how long libjpeg-turbo takes to decode photographs that are in memory.

    Raises:
      CannotError: the images are computed further, or libjpeg-turbo's headers are missing.
    """
    if step_of(job) != DECODE:
        raise CannotError("not measured: more than decoding")
    if why := build.why_no_jpeg():
        raise CannotError(why)
    photos = [data for of_file in photos_of(job) for _, data in of_file]
    pointers, sizes = (ctypes.c_char_p * len(photos))(*photos), (ctypes.c_uint64 * len(photos))(*map(len, photos))

    def decode(threads: int) -> Answer:
        decoded, size = ctypes.c_int64(), ctypes.c_int64()
        build.jpeg().floor_decode_jpegs(
            pointers, sizes, ctypes.c_int64(len(photos)), threads, ctypes.byref(decoded), ctypes.byref(size)
        )
        return {"records": decoded.value}

    return [
        Counting("libjpeg-turbo, in memory", partial(decode, threads), row=row)
        for threads, row in {1: "decode, 1 thread", cores(): "decode"}.items()
    ]


def write(job: Job) -> list[Setting]:
    parts = [(out, Path(path).read_bytes()) for out, path in zip(job.outputs(), job.dataset.files, strict=True)]

    def put() -> Answer:
        for path, records in parts:
            check(build.floor().floor_write(path.encode(), records, ctypes.c_int64(len(records))), path)
        return {"written": [path for path, _ in parts], "records": job.dataset.records}

    def remove() -> None:
        for path, _ in parts:
            Path(path).unlink(missing_ok=True)

    return [Counting("framed already, 1 MiB blocks", put, row="write", cleanup=remove)]


def remote(job: Job) -> list[Setting]:
    """Requests for all bytes, of the same size and as many at a time as ours."""
    n = job.dataset.records

    def request(store: Store) -> Answer:
        return {"bytes": requested(store) - 16 * n, "records": n}

    return [
        Counting(f"{REQUESTS} connections, 4 MiB each", partial(request, store), row=f"requests, {title}")
        for title, store in stores_of(job)
    ]


CONTENDER = Contender(
    "floor",
    "floor",
    leaves_out="hands nothing on",
    floor=True,
    tasks={
        "raw": raw,
        "raw-gzip": raw_gzip,
        "parse": parse,
        "parse-gzip": raw_gzip,
        "shards": shards,
        "images": images,
        "remote": remote,
        "write": write,
        "write-columns": write,
    },
    unavailable=build.why_not,
)
