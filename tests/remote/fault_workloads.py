"""What is run under the faults of the proxy. A new way to a store is a new entry here."""

import random
from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple
from unittest import mock

from tfrecord_fast.files.stores import ObjectCache, find_store, object_upload, read_range

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
    is_slow: bool = False


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
        with mock.patch.object(object_upload, "_PART", PART):
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


UNCHECKED = {"corrupt"}

WORKLOADS = {
    workload.name: workload
    for workload in [
        Workload("range", put_data, read_ranges, undetected=UNCHECKED),
        Workload("cache", put_data, read_cached, undetected=UNCHECKED),
        Workload("list", put_some, list_some, undetected=UNCHECKED, harmless={"whole"}),
        Workload("put", put_old, upload(DATA), {"out": {OLD, DATA}}, harmless={"whole"}),
        Workload("parts", put_old, upload(PARTS), {"out": {OLD, PARTS}}, harmless={"whole"}, is_slow=True),
    ]
}
