"""ShardReader when the system refuses to open a file, once or for good."""

import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.faults import preload
from tests.support.frames import frames

pytestmark = [
    pytest.mark.skipif(not preload.available(), reason="needs a compiler"),
    pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers have the same calls in their hands"),
]

FILES = 12
RECORDS = [[b"%02d.%d" % (file, i) for i in range(3)] for file in range(FILES)]

READ = """
import errno, itertools, sys
import tfrecord_fast as tf
from tests.faults.preload import FAIL, FAIL_FROM, Faults
from tests.faults.test_refused_files import FILES, RECORDS

faults = Faults()
whole = sum(RECORDS, [])
for mode, threads, cycle in itertools.product([FAIL, FAIL_FROM], [1, 2, 8], [1, 3]):
    for k in range(1, FILES + 2):
        reader = tf.ShardReader(sys.argv[1:], num_threads=threads, cycle_length=cycle, batch_size=1)
        found, refused = [], None
        faults.arm(["open"], k, mode, errno.EMFILE, everywhere=False)
        try:
            for batch in reader:
                found += batch.tolist()
        except OSError as error:
            refused = error
        opened = faults.disarm()
        assert len(set(found)) == len(found) and set(found) <= set(whole), (mode, threads, cycle, k, found)
        assert cycle > 1 or found == whole[: len(found)], (threads, k, found)
        if mode == FAIL or k > opened:
            assert refused is None and len(found) == len(whole), (threads, cycle, k, refused, len(found))
        else:
            assert refused.errno == errno.EMFILE and refused.filename in sys.argv, (threads, cycle, k, refused)
print("all")
"""


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_a_refusal_that_passes_costs_nothing_and_one_that_stays_is_an_error(tmp_path, kind):
    paths = [tmp_path / f"{file:02}" for file in range(FILES)]
    for path, records in zip(paths, RECORDS, strict=True):
        if kind:
            with tf.io.TFRecordWriter(path, kind) as writer:
                writer.write_batch(records)
        else:
            path.write_bytes(frames(records))
    done = subprocess.run(
        [sys.executable, "-c", READ, *map(str, paths)], env=preload.environment(), capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("all\n", 0), done.stderr
