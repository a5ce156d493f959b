"""A signal's handler raises while a pipe is waited for: nothing that came is lost, and reading goes on."""

import contextlib
import gzip
import os
import signal
import threading

import numpy as np
import pytest
import zstandard

import tfrecord_fast as tf
from tests.support.frames import frames

pytestmark = pytest.mark.alone

RECORDS = [b"%03d" % number * 100 for number in range(400)]
DATA = frames(RECORDS)
PACKED = {"": DATA, "GZIP": gzip.compress(DATA), "ZSTD": zstandard.compress(DATA)}
# In bytes: nobody writes yet, nothing came, a part of a header, what compression is told by, a record, half, all.
PLACES = (-1, 0, 5, 12, 40, 316, 0.5, 0.99, 1.0)
READERS = {
    "TFRecordDataset": lambda path, how: iter(tf.data.TFRecordDataset(path, how)),
    "tf_record_iterator": lambda path, how: tf.python_io.tf_record_iterator(path, how),
    "detected": lambda path, how: iter(tf.ShardReader(path)),
    "one thread": lambda path, how: iter(tf.ShardReader(path, compression_type=how, num_threads=1)),
    "four threads": lambda path, how: iter(tf.ShardReader(path, compression_type=how, num_threads=4)),
    "damage is passed over": lambda path, how: iter(tf.ShardReader(path, compression_type=how, on_corrupt="skip")),
}


class Ring(Exception):
    """What the handler raises."""


@pytest.fixture
def rings():
    def ring(*_):
        raise Ring

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def write_between_rings(path, data, places, heard):
    """Rings where the pipe has been dry for a while, and goes on when that is heard."""

    def ring():
        heard.clear()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        heard.wait(10)

    if places[0] < 0:
        ring()
        places = places[1:]
    written = 0
    with contextlib.suppress(BrokenPipeError), open(path, "wb", buffering=0) as pipe:
        for place in places:
            end = int(place * len(data)) if isinstance(place, float) else min(place, len(data))
            pipe.write(data[written:end])
            written = max(written, end)
            ring()
        pipe.write(data[written:])


def taken_between_rings(path, data, elements):
    """All that the iterator gives of what is written to the pipe. Each ring is heard."""
    heard, heard_rings, taken = threading.Event(), 0, []
    writing = threading.Thread(target=write_between_rings, args=(path, data, PLACES, heard), daemon=True)
    writing.start()  # now: what is imported or made first could be interrupted, too
    while True:
        try:
            for element in elements:
                taken.append(element)
            break
        except Ring:
            heard_rings += 1
            heard.set()
    assert heard_rings == len(PLACES)
    writing.join()
    return taken


@pytest.mark.parametrize("compression", PACKED)
@pytest.mark.parametrize("reader", READERS)
def test_each_record_comes_once(tmp_path, rings, reader, compression):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    taken = taken_between_rings(path, PACKED[compression], READERS[reader](path, compression))
    assert [one for some in taken for one in ([some] if isinstance(some, bytes) else some)] == RECORDS


def test_each_batch_of_a_table_comes_once(tmp_path, rings):
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    examples = tf.encode_examples({"id": np.arange(400)})
    batches = tf.read_batches(path, {"id": tf.FixedLenFeature([], tf.int64)}, batch_size=16)
    taken = taken_between_rings(path, frames(list(examples)), batches)
    assert [number for batch in taken for number in batch["id"].to_pylist()] == list(range(400))
