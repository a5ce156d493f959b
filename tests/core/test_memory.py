"""Memory: what a file merely claims is never allocated, and what it inflates to is never held whole.

Each test reads in a process of its own and asks the kernel for its peak.
"""

import pytest

from tests.support import compression
from tests.support.frames import frames, header
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run

LIMIT = 200 * MIB
CLAIMS = [2**40, 2**62, 2**63, 2**64 - 1]
RECORDS = [b"one", b"two"]

pytestmark = PEAK_IS_TOLD


def test_the_peak_is_that_of_the_process():
    assert run("held = bytearray(300 << 20)")[1] > 300 * MIB
    assert run("")[1] < 100 * MIB


READ_CLAIM = """
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
sources = {
    "path": lambda: sys.argv[1],
    "file": lambda: open(sys.argv[1], "rb"),
    "object": lambda: io.BytesIO(open(sys.argv[1], "rb").read()),
    "memory": lambda: bytearray(open(sys.argv[1], "rb").read()),
    "pipe": lambda: cat.stdout,
}
cat = subprocess.Popen(["cat", sys.argv[1]], stdout=subprocess.PIPE)
for source in sources.values():
    records = iter(tf.data.TFRecordDataset(source()))
    assert [next(records), next(records)] == [b"one", b"two"]
    try:
        next(records)
    except tf.DataLossError as error:
        print(error.record_index, error.offset, str(int(sys.argv[2])) in str(error))
"""


@pytest.mark.parametrize("kind", compression.ALL)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claimed_length_is_not_allocated(tmp_path, claim, kind):
    path = tmp_path / "claims"
    path.write_bytes(compression.compress(kind, frames(RECORDS) + header(claim) + b"x" * 1000))
    printed, peak = run(READ_CLAIM, path, claim)
    assert printed.split("\n") == ["2 38 True"] * 5
    assert peak < LIMIT


@pytest.mark.parametrize("kind", compression.KINDS)
def test_a_claimed_length_in_a_stream_costs_what_has_come(tmp_path, kind):
    """50 MB of a record that claims 2^40 bytes: its buffer grows with what has really come."""
    path = tmp_path / "claims"
    path.write_bytes(compression.compress(kind, frames(RECORDS) + header(2**40) + bytes(50 * MIB)))
    printed, peak = run(READ_CLAIM, path, 2**40)
    assert printed.split("\n") == ["2 38 True"] * 5
    assert peak < LIMIT + 50 * MIB


# ---- What inflates ----

READ_ALL = """
count = total = 0
for batch in tf.data.TFRecordDataset(sys.argv[1]).batch(int(sys.argv[2])):
    count += len(batch)
    total += batch.nbytes
print(count, total)
"""
TOTAL = 10 * 10**9
SIZE = 1000


def bomb(path, kind):
    """A file of a few MB that inflates to 10 GB of records of 1,000 bytes: one part, many times over."""
    per_part = 10_000
    data = frames([bytes(SIZE)] * per_part)
    part = compression.compress(kind, data, 9)
    copies = -(-TOTAL // len(data))
    with open(path, "wb") as file:
        for _ in range(copies):
            file.write(part)
    return copies * per_part


@pytest.mark.parametrize("kind", ["GZIP", "ZSTD"])
def test_10_gb_in_a_few_mb_are_read_in_little_memory(tmp_path, kind):
    path = tmp_path / "bomb"
    count = bomb(path, kind)
    assert path.stat().st_size < 32 * MIB
    printed, peak = run(READ_ALL, path, 1000)
    assert printed == f"{count} {count * SIZE}"
    assert peak < LIMIT


@pytest.mark.parametrize("size", [0, 1, 20])
@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD"])
def test_very_small_records_cost_little_more_than_their_bytes(tmp_path, kind, size):
    """A view of a record takes as much memory as an empty record takes in the file."""
    path = tmp_path / "tiny"
    data = compression.compress(kind, frames([bytes(size)] * 100_000), 1)
    path.write_bytes(data * 50)
    printed, peak = run(READ_ALL, path, 4096)
    assert printed == f"{5_000_000} {5_000_000 * size}"
    assert peak < LIMIT


def test_one_record_at_a_time_costs_no_more(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(frames([bytes(1000)] * 300_000))
    printed, peak = run("print(sum(1 for _ in tf.data.TFRecordDataset(sys.argv[1])))", path)
    assert printed == "300000" and peak < LIMIT


def test_an_unread_dataset_holds_no_more_than_it_may_prefetch(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(frames([bytes(1000)] * 300_000))
    code = """
import time
records = iter(tf.data.TFRecordDataset([sys.argv[1]] * 3))
next(records)
time.sleep(0.5)
"""
    assert run(code, path)[1] < LIMIT


def test_zlib_and_zstd_windows_are_bounded(tmp_path):
    """A ZSTD frame may claim a window of up to 3.75 TB; 128 MiB is the limit here."""
    path = tmp_path / "window"
    path.write_bytes(bytes.fromhex("28b52ffd 04 f8") + bytes(100))  # a window of 2^41 bytes
    code = """
try:
    list(tf.data.TFRecordDataset(sys.argv[1]))
except tf.DataLossError as error:
    print("ZSTD" in str(error))
"""
    printed, peak = run(code, path)
    assert printed == "True" and peak < LIMIT
