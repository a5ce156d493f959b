"""s3fs, the file system of fsspec for S3 (https://github.com/fsspec/s3fs): bytes, which are cut into records here."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contenders import Contender, Job, Setting
from benchmarks.contenders.kit.remote import records_of, side_by_side, stores_of
from benchmarks.native.store import BUCKET, Store


def remote(job: Job) -> list[Setting]:
    return [reading(store, title) for title, store in stores_of(job)]


def reading(store: Store, title: str) -> Setting:
    import s3fs

    system = s3fs.S3FileSystem(key="x", secret="x", endpoint_url=store.endpoint, skip_instance_cache=True)

    def read(name: str) -> Iterator[bytes]:
        with system.open(f"{BUCKET}/{name}", "rb") as file:
            yield from records_of(file)

    return side_by_side(store, read, "open(…).read(4 MiB)", title)


CONTENDER = Contender(
    "s3fs",
    "s3fs",
    package="s3fs",
    module="s3fs",
    install="pip install s3fs",
    leaves_out="no CRC; records are cut in Python",
    checks=False,
    requirements=("s3fs==2026.9.0",),
    tasks={"remote": remote},
)
