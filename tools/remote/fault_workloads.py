"""What is run under the faults of the proxy. A new way to a store is a new entry here."""

import dataclasses
import gzip
import os
import pathlib
import random
import tempfile
from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple
from unittest import mock

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.reading import shard_reader
from tfrecord_fast.files.stores import ObjectCache, find_store, read_range
from tfrecord_fast.files.stores import obstore_upload as object_upload

DATA = random.Random(3).randbytes(300_000)
PIECES = [(0, 100_000), (100_000, 100_001), (100_001, 300_000)]
PART = 5 << 20  # the least that S3 takes
PARTS = random.Random(4).randbytes(2 * PART + 1000)
OLD = b"what was there before"


class Workload(NamedTuple):
    """`run` says whether the answer was right, or raises. `written` has, for a key, what may be there afterwards."""

    name: str
    prepare: Callable
    run: Callable
    written: dict = MappingProxyType({})
    undetected: frozenset = frozenset()  # faults that nothing could notice: the bytes have no checksum on this way
    harmless: frozenset = frozenset()  # faults that can't happen to it
    few: tuple = ()  # the faults for the suite, if not all


def put_data(rig):
    return rig.bucket.put("folder/a.bin", DATA)


def read_ranges(rig):
    store, key = find_store(rig.ready, rig.settings)
    info = store.info(key)
    parts = [bytes(read_range(store, key, start, end, info.version, rig.settings)) for start, end in PIECES]
    return b"".join(parts) == DATA


def read_cached(rig):
    store, key = find_store(rig.ready, rig.settings)
    descriptor = ObjectCache(rig.folder).open(store, key, None, rig.settings)
    with open(descriptor, "rb") as file:
        return file.read() == DATA


def put_some(rig):
    for number in range(5):
        rig.bucket.put(f"folder/{number}", b"")
    return rig.bucket.url("folder/")


def list_some(rig):
    store, key = find_store(rig.ready, rig.settings)
    return [info.url for info in store.list(key)] == [rig.bucket.url(f"folder/{number}") for number in range(5)]


def put_old(rig):
    return rig.bucket.put("out", OLD)


def upload(data):
    def run(rig):
        store, key = find_store(rig.ready, rig.settings)
        with mock.patch.object(object_upload, "_LARGEST_PART", PART):
            to = store.upload(key)
            try:
                for at in range(0, len(data), 1 << 20):
                    to.write(data[at : at + (1 << 20)])
                to.complete()
            except BaseException:
                to.abort()
                raise
        return rig.bucket.get("out") == data

    return run


OF_READING = ("503", "reset_in_answer", "stall", "corrupt", "whole")
OF_WRITING = ("503", "reset_in_request", "stall", "drop_answer")
UNCHECKED = {"corrupt"}

RECORDS = [[b"%d-%d-" % (file, number) * (number % 50) for number in range(1500)] for file in range(3)]
ALL = [record for records in RECORDS for record in records]


def put_shards(rig):
    for number, records in enumerate(RECORDS):
        data = frames(records)
        rig.bucket.put(f"train/{number}", gzip.compress(data) if number == 1 else data)
    return rig.bucket.url("train/*")


def read_shards(**more):
    def run(rig):
        settings = dataclasses.replace(rig.settings, **{name: rig.folder for name in more})
        with mock.patch.object(shard_reader, "store_settings", lambda *given: settings):  # impatient, as no user's are
            reader = tf.ShardReader(rig.ready, batch_size=100, num_threads=2, num_epochs=2)
        return [record for batch in reader for record in batch.tolist()] == ALL * 2

    return run


COLUMNS = {"id": list(range(900)), "name": [b"x" * (number % 70) for number in range(900)]}


def write_records(rig):
    with tf.TFRecordWriter(rig.ready, storage_options=rig.options) as writer:
        for record in ALL:
            writer.write(record)
    return rig.bucket.get("out") == WRITTEN["out"][-1]


def out_url(rig):
    return rig.bucket.url("out-{shard}")


def write_shards(rig):
    use = {"storage_options": rig.options}
    with tf.ExampleWriter(rig.ready, num_shards=3, num_threads=1, manifest="list.json", **use) as writer:
        writer.write(COLUMNS)
    return all(rig.bucket.get(key) == contents[-1] for key, contents in WRITTEN_SHARDS.items())


def local_shards():
    """The bytes that the three shards and their manifest have, written locally."""
    with tempfile.TemporaryDirectory() as folder:
        with tf.ExampleWriter(f"{folder}/out-{{shard}}", num_shards=3, manifest="list.json") as writer:
            writer.write(COLUMNS)
        return {name: [pathlib.Path(folder, name).read_bytes()] for name in os.listdir(folder)}


WRITTEN = {"out": [OLD, frames(ALL)]}
WRITTEN_SHARDS = local_shards()

WORKLOADS = {
    workload.name: workload
    for workload in [
        Workload("range", put_data, read_ranges, undetected=UNCHECKED),
        Workload("cache", put_data, read_cached, undetected=UNCHECKED, few=OF_READING),
        Workload("list", put_some, list_some, undetected=UNCHECKED, harmless={"whole"}),
        Workload("reader", put_shards, read_shards(), few=OF_READING),
        Workload("reader-cached", put_shards, read_shards(cache_dir=True), few=OF_READING),
        Workload("put", put_old, upload(DATA), {"out": {OLD, DATA}}, harmless={"whole"}),
        Workload("writer", put_old, write_records, WRITTEN, harmless={"whole"}),
        Workload("shards", out_url, write_shards, WRITTEN_SHARDS, harmless={"whole"}, few=OF_WRITING),
        Workload("parts", put_old, upload(PARTS), {"out": {OLD, PARTS}}, harmless={"whole"}, few=("drop_answer",)),
    ]
}
