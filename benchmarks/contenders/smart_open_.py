"""smart_open over boto3 (https://github.com/piskvorky/smart_open): bytes, which are cut into records here."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contenders import Contender, Job, Setting
from benchmarks.contenders.kit.remote import REQUESTS, records_of, side_by_side, stores_of
from benchmarks.native.store import BUCKET, Store


def remote(job: Job) -> list[Setting]:
    return [reading(store, title) for title, store in stores_of(job)]


def reading(store: Store, title: str) -> Setting:
    import boto3
    import smart_open
    from botocore.config import Config

    client = boto3.client(
        "s3",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        region_name="us-east-1",
        endpoint_url=store.endpoint,
        config=Config(max_pool_connections=REQUESTS),
    )

    def read(name: str) -> Iterator[bytes]:
        with smart_open.open(f"s3://{BUCKET}/{name}", "rb", transport_params={"client": client}) as file:
            yield from records_of(file)

    return side_by_side(store, read, "open(…).read(4 MiB)", title)


CONTENDER = Contender(
    "smart_open",
    "smart_open",
    package="smart_open",
    module="smart_open",
    leaves_out="no CRC; records are cut in Python",
    checks=False,
    requirements=("smart_open[s3]==9.0.2", "boto3==1.44.5"),
    tasks={"remote": remote},
)
