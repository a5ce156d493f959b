"""Finding the next intact record among headers that claim too much: the right one, in linear time, until a signal."""

import errno
import io
import itertools
import random
import struct
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.core.test_marked_parts import marked
from tests.support.frames import FRAME, HEADER, frame, header, masked_crc, stream

pytestmark = pytest.mark.alone

MIB = 1 << 20


def intact_at(data, at):
    """The size of the intact frame at a place; None if there is none."""
    if len(data) - at < FRAME or data[at + 8 : at + HEADER] != header(int.from_bytes(data[at : at + 8], "little"))[8:]:
        return None
    end = at + FRAME + int.from_bytes(data[at : at + 8], "little")
    if end > len(data) or struct.pack("<I", masked_crc(data[at + HEADER : end - 4])) != data[end - 4 : end]:
        return None
    return end - at


def brute_force(data):
    """(records, stretches as (offset, bytes)): after damage, every place is tried, one after the other.

    A record whose header is intact and whose data is not is dropped as a whole.
    """
    records, stretches, at = [], [], 0
    while at < len(data):
        size = intact_at(data, at)
        if size is not None:
            records.append(data[at + HEADER : at + size - 4])
            at += size
            continue
        claim = int.from_bytes(data[at : at + 8], "little")
        if len(data) - at >= HEADER and data[at : at + HEADER] == header(claim) and at + FRAME + claim <= len(data):
            stretches.append((at, FRAME + claim))
            at += FRAME + claim
            continue
        begin, at = at, at + 1
        while at < len(data) and intact_at(data, at) is None:
            at += 1
        stretches.append((begin, at - begin))
    return records, stretches


def read_past(source, **options):
    past = stream(source, on_corrupt="skip", **options)
    records = list(past.records())
    return records, [(one.offset, one.bytes) for one in past.take_skipped()]


def test_a_record_that_begins_inside_a_header_by_chance_is_found():
    """The CRC of the wrong length is the beginning of the right one."""
    wrong = next(length for length in itertools.count() if masked_crc(struct.pack("<Q", length)) < MIB)
    data = (
        b"damage" + struct.pack("<Q", wrong) + frame(random.Random(0).randbytes(masked_crc(struct.pack("<Q", wrong))))
    )
    assert data[6 : 6 + HEADER] == header(wrong)
    records, stretches = read_past(data)
    assert (len(records), stretches) == (1, [(0, 14)])


class Failing:
    """A file that can't be read any more after its data."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, size):
        if got := self.file.read(size):
            return got
        raise OSError(errno.EIO, "the disk is gone")


@pytest.mark.parametrize("after", [b"", frame(b"one")[:-1]], ids=["nothing", "a part of a record"])
def test_what_fails_while_the_next_record_is_searched_is_raised(after):
    reader = tf.ShardReader(Failing(frame(b"first") + b"damage" * 5 + after), on_corrupt="skip", batch_size=1)
    batches = iter(reader)
    assert list(next(batches)) == [b"first"]
    with pytest.raises(OSError, match="the disk is gone"):
        next(batches)


PIECES = st.one_of(
    st.integers(0, 60).map(lambda n: frame(bytes([n]) * n)),
    st.integers(32_700, 60_000).map(lambda n: frame(random.Random(n).randbytes(n))),  # too long to be checked at once
    st.integers(0, 120_000).map(header),
    st.binary(max_size=20),
    st.just(b"\xff" * HEADER),
)


@given(pieces=st.lists(PIECES, max_size=12), chunk=st.sampled_from([64, 5000, 1 << 19]))
@settings(max_examples=120, deadline=None)
def test_the_next_intact_record_is_found_as_by_trying_every_place(tmp_path_factory, pieces, chunk):
    data = b"".join(pieces)
    wanted = brute_force(data)
    path = tmp_path_factory.getbasetemp() / "search"
    path.write_bytes(data)
    assert read_past(path, chunk_bytes=chunk) == wanted
    assert read_past(path, chunk_bytes=chunk, num_threads=3) == wanted
    assert read_past(data, chunk_bytes=chunk) == wanted
    if data:
        path.write_bytes(marked("ZSTD", data))
        assert read_past(path, compression_type="ZSTD") == wanted
        path.write_bytes(marked("ZSTD", data)[20:])  # a stream: no mark
        assert read_past(path, compression_type="ZSTD", chunk_bytes=chunk) == wanted


def test_a_long_record_after_damage_is_found_wherever_it_lies():
    record = random.Random(1).randbytes(100_003)
    for shift in (0, 1, 8191, 8192, 8193):
        data = b"\xff" * (HEADER + shift) + frame(record) + frame(b"next")
        assert read_past(data) == ([record, b"next"], [(0, HEADER + shift)])


# ---- Time ----


def forged(size, every=HEADER, intact=0):
    """Headers that each claim half of the file, and now and then an intact record between them."""
    head = header(size // 2)
    one = head + b"\0" * (every - HEADER) + frame(b"x" * intact) * bool(intact)
    return b"\xff" * HEADER + one * (size // 2 // len(one)) + b"\0" * (size // 2 + 4096)


SLOW = 8 if tf.build_info()["sanitizers"] else 1


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def sources(tmp_path, data):
    plain, part, rest = tmp_path / "plain", tmp_path / "part", tmp_path / "stream"
    plain.write_bytes(data)
    part.write_bytes(marked("ZSTD", data))
    rest.write_bytes(part.read_bytes()[20:])
    return {
        "regions": lambda: plain,
        "memory": lambda: memoryview(data),
        "object": lambda: io.BytesIO(data),
        "parts": lambda: part,
        "compressed stream": lambda: rest,
    }


@pytest.mark.parametrize("intact", [0, 20])
@pytest.mark.parametrize("kind", ["regions", "memory", "object", "parts", "compressed stream"])
def test_forged_headers_are_searched_in_linear_time(tmp_path, kind, intact):
    data = forged(2 * MIB, intact=intact)
    source = sources(tmp_path, data)[kind]()
    took = seconds(lambda: list(tf.ShardReader(source, on_corrupt="skip")))
    assert took < 10 * SLOW  # more than a minute if each claim is checked by itself


def test_damage_after_every_record_is_read_in_linear_time(tmp_path):
    path = tmp_path / "a"
    path.write_bytes((b"\xff" * HEADER + frame(b"x")) * 60_000)
    for source in (path, io.BytesIO(path.read_bytes())):
        reader = tf.ShardReader(source, on_corrupt="skip")
        assert seconds(lambda: sum(map(len, reader))) < 10 * SLOW  # noqa: B023
        assert len(reader.skipped) == 60_000


# ---- Signals ----

INTERRUPTED = """
import io, os, signal, sys, time, tfrecord_fast as tf
class Boom(Exception): pass
def handler(*_): raise Boom
signal.signal(signal.SIGALRM, handler)
source = sys.argv[1] if sys.argv[2] == "path" else io.BytesIO(open(sys.argv[1], "rb").read())
signal.setitimer(signal.ITIMER_REAL, 0.3)
start = time.perf_counter()
try:
    list(tf.ShardReader(source, on_corrupt="skip", num_threads=int(sys.argv[3])))
except Boom:
    print("stopped", time.perf_counter() - start)
"""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["path", "object"])
def test_a_signal_stops_a_search(tmp_path, kind, threads):
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.write(b"\xff" * HEADER)
        file.truncate(3_000_000_000 if kind == "path" else 600_000_000)
    command = [sys.executable, "-c", INTERRUPTED, path, kind, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 * SLOW)
    assert done.stdout.startswith("stopped"), done
    assert float(done.stdout.split()[1]) < 3 * SLOW
