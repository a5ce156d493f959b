"""How much memory reading from a store takes: what may be asked for ahead, and 64 MiB."""

import json
import random

import pytest

from tests.support.frames import frame
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run

pytestmark = PEAK_IS_TOLD

RECORD_BYTES = 100_000
AHEAD = 64 * MIB

READ = f"""
import json
from tfrecord_fast.files.stores import find_store
urls, options = map(json.loads, sys.argv[1:])
find_store(urls[0], options)[0].info("none/small")  # what the libraries take is not of the reading
before, records = peak(), 0
for batch in tf.ShardReader(urls, storage_options=options, prefetch_bytes={AHEAD}, batch_size=16):
    records += len(batch)
print(before, records)
"""


@pytest.mark.alone
def test_large_objects_take_what_is_asked_for_ahead_and_64_mib_more(over_s3):
    record = random.Random(1).randbytes(RECORD_BYTES)
    in_each = 32 * MIB // len(frame(record))
    folder = over_s3.folder / "large"
    folder.mkdir()
    (over_s3.folder / "none").mkdir()
    (over_s3.folder / "none" / "small").write_bytes(b"")
    for number in range(8):
        (folder / str(number)).write_bytes(frame(record) * in_each)
    urls = [over_s3.url(folder / str(number)) for number in range(8)]
    printed, peak = run(READ, json.dumps(urls), json.dumps(over_s3.options))
    before, records = map(int, printed.split())
    assert records == 8 * in_each
    assert peak - before <= AHEAD + 64 * MIB
