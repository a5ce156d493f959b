"""Streams and regions at the edges of their buffers while damage is skipped, and after errors of the system."""

import errno
import io
import os
import resource
import signal

import pytest

import tfrecord_fast as tf
from tests.support.damage import flip
from tests.support.frames import FRAME, HEADER, frame, frames, offsets, stream


class Pieces(io.RawIOBase):
    """Gives its bytes in pieces of a size, and then an error, if there is one."""

    def __init__(self, data, size, error=None):
        self._data, self._at, self._size, self._error = data, 0, size, error

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self._data[self._at : self._at + min(len(buffer), self._size)]
        if not piece and self._error is not None:
            raise self._error
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def skipping(source, **options):
    past = tf.ShardReader(source, on_corrupt="skip", **options)
    records = [record for batch in past for record in batch]
    return records, [(one.offset, one.bytes) for one in past.skipped]


@pytest.mark.parametrize("chunk", [64, 128, 1000])
def test_a_header_that_straddles_a_buffer_is_found_while_skipping(tmp_path, chunk):
    """Damage of every length before it, so that each edge falls on each byte of the header."""
    wanted = [b"the next", b"and one more"]
    for damage in range(HEADER, chunk + 2 * HEADER):
        data = b"\xff" * damage + frames(wanted)
        path = tmp_path / "a"
        path.write_bytes(data)
        for source in (data, path):
            past = stream(source, on_corrupt="skip", chunk_bytes=chunk)
            assert list(past.records()) == wanted, damage
            assert [(one.offset, one.bytes) for one in past.take_skipped()] == [(0, damage)]


@pytest.mark.parametrize("size", [1, 5, 11, 13, 100])
def test_a_header_that_comes_in_pieces_is_found_while_skipping(size):
    data = frame(b"first") + b"\xff" * 50 + frame(b"next")
    assert skipping(Pieces(data, size)) == ([b"first", b"next"], [(FRAME + 5, 50)])


def test_a_header_across_blocks_of_a_search(tmp_path):
    """A search in a file reads 256 KiB at a time."""
    block = 256 << 10
    for shift in range(-HEADER, 2):
        data = b"\xff" * (block + shift) + frame(b"next")
        (tmp_path / "a").write_bytes(data)
        assert skipping(tmp_path / "a") == ([b"next"], [(0, block + shift)])


@pytest.mark.parametrize("size", [7, 1000])
def test_what_the_system_refuses_while_skipping_is_no_damage(size):
    data = frame(b"first") + b"\xff" * 5000
    with pytest.raises(OSError, match="broken") as caught:
        skipping(Pieces(data, size, OSError(errno.EIO, "broken")), batch_size=1)
    assert caught.value.errno == errno.EIO


def test_records_restored_into_a_shuffle_buffer_are_checked(tmp_path):
    path, records = tmp_path / "a", [b"%04d" % i * 5 for i in range(300)]
    path.write_bytes(frames(records))

    def make():
        return tf.ShardReader(path, batch_size=5, shuffle_buffer=100, seed=1)

    reader = make()
    next(iter(reader))
    state = reader.state_dict()
    data = path.read_bytes()
    for place, index in state["stream"]["shuffled"][0][1:], state["stream"]["shuffled"][50][1:]:
        assert place == offsets(records)[index]
        path.write_bytes(flip(data, 8 * (place + HEADER + 3)))
        resumed = make()
        resumed.load_state_dict(state)
        with pytest.raises(tf.DataLossError, match="no intact record") as caught:
            next(iter(resumed))
        assert (caught.value.offset, caught.value.record_index) == (place, index)


@pytest.mark.parametrize("buffer", [10, 11, 40, 1000])
def test_the_order_of_an_epoch_that_fits_the_shuffle_buffer(tmp_path, buffer):
    """Written down in docs/design.md: the random numbers are those of the epoch that is drawn."""
    path = tmp_path / "a"
    records = [b"%d" % i for i in range(10)]
    path.write_bytes(frames(records))

    def read(epochs):
        reader = tf.ShardReader(path, batch_size=10, shuffle_buffer=buffer, seed=3, num_epochs=epochs)
        return [batch.tolist() for batch in reader]

    four = read(4)
    assert all(sorted(epoch) == sorted(records) for epoch in four)
    assert len({tuple(epoch) for epoch in four}) == 4
    # What an epoch gives does not depend on how many there are, nor on the room that is left in the buffer.
    assert read(1) == four[:1] and read(2) == four[:2]
    if buffer >= len(records):
        assert four == [order_of(epoch) for epoch in range(4)]


def order_of(epoch):
    """By the rules of docs/design.md, in plain Python, with seed 3."""
    state = draws(3, epoch)
    slots, order = list(range(10)), []
    while slots:
        value, state = draw(state)
        slot = value * len(slots) >> 64
        order.append(b"%d" % slots[slot])
        slots[slot] = slots[-1]
        slots.pop()
    return order


MASK = (1 << 64) - 1


def draw(state):
    state = state + 0x9E3779B97F4A7C15 & MASK
    z = state
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31, state


def draws(seed, epoch):
    """Where the random numbers of an epoch's shuffle begin."""
    first, state = draw(seed ^ 2 * 0xD1342543DE82EF95 & MASK)
    second, _ = draw(state)
    return first ^ (epoch * 0x9E3779B97F4A7C15 + second & MASK)


def test_a_zlib_header_with_a_preset_dictionary_is_not_zlib():
    head = bytes([0x78, 0xBB]) + bytes(20)
    assert (0x78 * 256 + 0xBB) % 31 == 0 and head[1] & 0x20
    assert tf._core.detect_compression(head) == ""
    assert tf._core.detect_compression(bytes([0x78, 0x9C]) + bytes(20)) == "ZLIB"


def test_a_failed_save_of_an_index_leaves_no_draft(tmp_path):
    """No file may have more than 100 bytes."""
    (tmp_path / "a").write_bytes(frames([b"x"] * 100))
    index = tf.RecordIndex.build(tmp_path / "a")
    folder = tmp_path / "out"
    folder.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match=r"a\.idx") as caught:
            index.save(folder / "a.idx")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.errno == errno.EFBIG
    assert os.listdir(folder) == []
