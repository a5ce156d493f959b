"""tfrecord_fast reads objects from a store."""

from __future__ import annotations

from benchmarks.contenders import Job, Reading, Setting
from benchmarks.contenders.kit.remote import CREDENTIALS, REQUESTS, stores_of
from benchmarks.native.store import BUCKET, Store


def remote(job: Job) -> list[Setting]:
    return [reading(store, job.dataset.batch, title) for title, store in stores_of(job)]


def reading(store: Store, batch: int, title: str) -> Setting:
    import tfrecord_fast as tf

    reader = tf.ShardReader(
        f"s3://{BUCKET}/*",
        batch_size=batch,
        compression_type="",
        max_requests=REQUESTS,
        storage_options={**CREDENTIALS, "allow_http": "true", "endpoint": store.endpoint},
    )
    return Reading(f"ShardReader, max_requests={REQUESTS}", reader, records=list, row=f"ShardReader, {title}")
