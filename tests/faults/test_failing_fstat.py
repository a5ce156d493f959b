"""A failing fstat is an OSError with its errno, never an empty file or an early end."""

import os
import random
import shutil
import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.paths import ROOT

SOURCE = ROOT / "tests" / "support" / "native" / "fstat_fails.c"

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library"),
    pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="their own libraries come first"),
]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    made = tmp_path_factory.mktemp("shim") / "fstat_fails.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, SOURCE, "-ldl"], check=True)
    return made


RECORDS = [random.Random(i).randbytes(400) for i in range(6000)]

# Each prints how many records it has got.
WORKLOADS = {
    "read": "print(sum(map(len, tf.ShardReader(path, num_threads=2))))",
    "skip": "print(sum(map(len, tf.ShardReader(path, on_corrupt='skip', num_threads=2))))",
    "dataset": "print(sum(1 for _ in tf.data.TFRecordDataset(path)))",
    "descriptor": "print(sum(1 for _ in tf.data.TFRecordDataset(open(path, 'rb', 0))))",
    "index": "print(len(tf.RecordIndex.build(path)))",
    "indexed": "print(len(tf.IndexedReader(path)[:]))",
    "indexed with an index": "print(len(tf.IndexedReader(path, indexes=path + '.idx')[:]))",
    "resume": """
reader = tf.ShardReader(path, batch_size=1000, shuffle_buffer=2000, seed=1)
first = len(next(iter(reader)))
again = tf.ShardReader(path, batch_size=1000, shuffle_buffer=2000, seed=1)
again.load_state_dict(reader.state_dict())
print(first + sum(map(len, again)))
""",
}
PROLOGUE = """
import errno, sys, tfrecord_fast as tf
path = sys.argv[1]
"""
SCRIPT = """
try:
    {workload}
except OSError as error:
    print("refused", error.errno == errno.EIO)
"""


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_fstat_may_fail(tmp_path, shim, workload, kind):
    path = str(tmp_path / "a")
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write_batch(RECORDS)
    tf.RecordIndex.build(path).save(path + ".idx")
    body = WORKLOADS[workload].strip().replace("\n", "\n    ")
    code = PROLOGUE + SCRIPT.format(workload=body)
    refused = 0
    for k in range(1, 50):
        settings = {"LD_PRELOAD": str(shim), "FSTAT_SIZE": str(os.path.getsize(path)), "FSTAT_FAILS": str(k)}
        command = [sys.executable, "-c", code, path]
        done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() in (str(len(RECORDS)), "refused True"), (k, done)
        if done.stdout.strip() != "refused True":
            break
        refused += 1
    assert k < 49 and (refused or kind or workload in ("read", "skip", "dataset", "indexed with an index"))


def test_the_library_counts(tmp_path, shim):
    """Else the tests above test nothing."""
    (tmp_path / "a").write_bytes(frames([b"x"] * 100))
    code = PROLOGUE + SCRIPT.format(workload=WORKLOADS["index"])
    settings = {"LD_PRELOAD": str(shim), "FSTAT_SIZE": "1700", "FSTAT_FAILS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a")],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "refused True"
