"""The varint room: every backend gives the protobuf answer, and touches only the bytes it may."""

import ctypes
import mmap
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrecord_fast import _core, build_info

BACKENDS = _core.varint_backends()
# Values of every length equally often, which a uniform draw of 64 bits would not give.
ANY_LENGTH = (
    st.integers(0, 64).flatmap(lambda bits: st.integers(0, 2**bits - 1)).map(lambda v: v - 2**64 if v >= 2**63 else v)
)


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(request):
    before = _core.varint_backend()
    _core.set_varint_backend(request.param)
    yield request.param
    _core.set_varint_backend(before)


# ---- The oracle ----


def encode(value, size=0):
    """One varint, padded with empty groups to `size` bytes."""
    value &= 2**64 - 1
    groups = []
    while value or not groups or len(groups) < size:
        groups.append(value & 0x7F)
        value >>= 7
    return bytes(g | 0x80 for g in groups[:-1]) + bytes(groups[-1:])


def decode(data, capacity=None):
    """(values, bytes used), or None if malformed."""
    values, at = [], 0
    while at < len(data) and (capacity is None or len(values) < capacity):
        value = 0
        for k in range(10):
            if at == len(data):
                return None
            value |= (data[at] & 0x7F) << 7 * k
            at += 1
            if data[at - 1] < 0x80:
                break
        else:
            return None
        value &= 2**64 - 1
        values.append(value - 2**64 if value >= 2**63 else value)
    return values, at


def decode_core(data, capacity=None):
    out = np.empty(len(data) + 64 if capacity is None else capacity, np.int64)
    try:
        count, used = _core.decode_varints_into(data, out)
    except ValueError:
        return None
    return out[:count].tolist(), used


# ---- Values ----


def test_every_size_in_runs_of_every_length():
    for size in range(1, 11):
        for length in [1, 2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 200]:
            low, high = (0 if size == 1 else 2 ** (7 * (size - 1))), min(2 ** (7 * size), 2**64) - 1
            run = b"".join(encode(v) for v in [low, high, (low + high) // 2] * length)
            assert len(run) == 3 * length * size
            expected = [v - 2**64 if v >= 2**63 else v for v in [low, high, (low + high) // 2] * length]
            assert _core.decode_varints(run).tolist() == expected
            assert _core.encode_varints(np.array(expected)) == run


@given(st.lists(ANY_LENGTH, max_size=300))
def test_decoding_undoes_encoding(values):
    run = _core.encode_varints(np.array(values, np.int64))
    assert run == b"".join(map(encode, values))
    assert _core.decode_varints(run).tolist() == values
    assert _core.count_varints(run) == len(values)


@given(st.lists(ANY_LENGTH, min_size=1, max_size=200))
def test_protobuf_reads_what_we_write_and_we_what_it_writes(values):
    message = int64_list()
    message.value.extend(values)
    wire = message.SerializeToString()
    run = _core.encode_varints(np.array(values, np.int64))
    assert wire.endswith(run)
    assert _core.decode_varints(wire[len(wire) - len(run) :]).tolist() == values


def int64_list():
    """An empty message with `repeated int64 value = 1 [packed]`, from a pool of its own."""
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="varint_test.proto", package="varint_test")
    file.syntax = "proto3"
    field = file.message_type.add(name="Int64List").field.add(name="value", number=1)
    field.type, field.label = field.TYPE_INT64, field.LABEL_REPEATED
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("varint_test.Int64List"))()


@given(st.lists(st.tuples(ANY_LENGTH, st.integers(1, 10)), max_size=200))
def test_overlong_encodings_are_accepted(padded):
    run = b"".join(encode(value, size) for value, size in padded)
    assert _core.decode_varints(run).tolist() == [value for value, _ in padded]


STRETCHES = st.lists(st.tuples(st.sampled_from([7, 14, 21, 28, 35, 56, 63, 64]), st.integers(1, 150)), max_size=8)


@given(STRETCHES, st.integers(0, 2**32), st.integers(-70, 70))
def test_stretches_of_short_and_long_values_follow_each_other(stretches, seed, room):
    """A decoder goes from one kind of window to another wherever the stretches end, and stops anywhere."""
    rng = random.Random(seed)
    values = [rng.getrandbits(bits) for bits, count in stretches for _ in range(count)]
    run = b"".join(map(encode, values))
    signed = [value - 2**64 if value >= 2**63 else value for value in values]
    assert _core.decode_varints(run).tolist() == signed
    capacity = max(0, len(values) + room)
    assert decode_core(run, capacity) == (signed[:capacity], len(b"".join(map(encode, values[:capacity]))))


def test_the_tenth_byte_has_one_bit():
    for tenth in [0x00, 0x01, 0x02, 0x03, 0x7E, 0x7F]:
        for before in [0, 1, 40, 54, 55, 56, 60, 61, 62, 63, 64, 100]:
            run = bytes(before) + b"\xff" * 9 + bytes([tenth]) + bytes(70)
            expected = -1 if tenth & 1 else 2**63 - 1
            assert _core.decode_varints(run).tolist() == [0] * before + [expected] + [0] * 70


def test_an_empty_run_has_no_values():
    assert _core.decode_varints(b"").tolist() == []
    assert _core.count_varints(b"") == 0
    assert _core.encode_varints(np.empty(0, np.int64)) == b""


# ---- Malformed runs ----


def test_a_run_that_ends_inside_a_varint_is_malformed():
    for before in [*range(12), 50, 53, 54, 55, 56, 60, 61, 62, 63, 64, 65, 128, 200]:
        for cut in range(1, 10):
            run = bytes(before) + b"\x80" * cut
            with pytest.raises(ValueError):
                _core.decode_varints(run)
            with pytest.raises(ValueError):
                _core.count_varints(run)
            assert decode_core(run) is None


def test_more_than_ten_bytes_are_malformed():
    for before in [*range(12), 50, 53, 54, 55, 56, 60, 61, 62, 63, 64, 65, 128, 200]:
        for size in [11, 12, 20, 64, 100, 200]:
            for after in [0, 1, 100]:
                run = bytes(before) + b"\x80" * (size - 1) + b"\x01" + bytes(after)
                with pytest.raises(ValueError):
                    _core.decode_varints(run)
                assert decode_core(run) is None


def garbage(rng):
    """Random bytes, their top bits set with one of many probabilities, so that every kind of run occurs."""
    size = rng.choice([rng.randrange(12), rng.randrange(70), rng.randrange(400)])
    likely = rng.choice([0, 0.02, 0.2, 0.5, 0.75, 0.9, 0.97])
    data = bytearray(rng.getrandbits(7) | (0x80 if rng.random() < likely else 0) for _ in range(size))
    if data and rng.random() < 0.7:
        data[-1] &= 0x7F
    return bytes(data)


def test_garbage_is_decoded_or_refused_like_the_oracle():
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(3000):
        data = garbage(rng)
        capacity = rng.choice([None, 0, 1, 2, rng.randrange(20), rng.randrange(100), rng.randrange(400)])
        assert decode_core(data, capacity) == decode(data, capacity), (seed, data.hex(), capacity)


def test_every_backend_agrees_with_portable_on_garbage(backend):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(3000):
        data = garbage(rng)
        got = decode_core(data)
        _core.set_varint_backend("portable")
        expected = decode_core(data)
        _core.set_varint_backend(backend)
        assert got == expected, (seed, data.hex())


@settings(max_examples=300)
@given(st.binary(max_size=300), st.integers(0, 300))
def test_a_capacity_stops_decoding_where_the_oracle_stops(data, capacity):
    assert decode_core(data, capacity) == decode(data, capacity)


@given(st.lists(ANY_LENGTH, min_size=1, max_size=100), st.data())
def test_what_follows_the_capacity_does_not_matter(values, data):
    run = b"".join(map(encode, values))
    tail = data.draw(st.sampled_from([b"", b"\x80", b"\xff" * 200, b"\x01" * 90, b"\x80" * 9 + b"\x01" * 80]))
    assert decode_core(run + tail, len(values)) == (values, len(run))


# ---- One varint ----


@given(st.binary(max_size=14), st.integers(1, 14), st.data())
def test_one_varint_is_told_from_anything_else(before, size, data):
    run = data.draw(st.binary(min_size=size, max_size=size) | ANY_LENGTH.map(lambda v: encode(v, size)))
    expected = decode(run)
    one = expected is not None and len(expected[0]) == 1
    got = _core.decode_one_varint(before + run, len(before), len(run))
    assert got == (expected[0][0] if one else None)


def test_two_varints_and_one_that_is_cut_are_not_one():
    for before in [0, 1, 9]:
        for first in range(1, 11):
            cut = b"\x80" * first
            assert _core.decode_one_varint(bytes(before) + cut, before, len(cut)) is None
            for second in range(1, 11):
                run = encode(0, first) + encode(0, second)
                assert len(run) == first + second
                assert _core.decode_one_varint(bytes(before) + run, before, len(run)) is None


# ---- Bounds ----


class Guarded:
    """Memory between two pages that may not be touched."""

    def __init__(self, size):
        page = mmap.PAGESIZE
        self.size = (size + page - 1) // page * page
        self.map = mmap.mmap(-1, self.size + 2 * page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.view = memoryview(self.map)[page : page + self.size]
        libc = ctypes.CDLL(None, use_errno=True)
        for at in (address, address + page + self.size):
            if libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(page), 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")


needs_mprotect = pytest.mark.skipif(os.name != "posix", reason="mprotect is POSIX")
KINDS = {
    "one byte": lambda rng: rng.getrandbits(7),
    "tokens": lambda rng: rng.getrandbits(rng.choice([5, 7, 7, 7, 9, 14, 16])),
    "25 bits": lambda rng: rng.getrandbits(25),
    "63 bits": lambda rng: rng.getrandbits(63),
    "negative": lambda rng: -rng.getrandbits(60) - 1,
    "any": lambda rng: rng.getrandbits(rng.randrange(1, 64)),
}


@needs_mprotect
def test_nothing_is_touched_outside_of_the_run_and_the_room():
    for kind in KINDS:
        rng = random.Random(kind)
        values = [KINDS[kind](rng) for _ in range(300)]
        data, room = Guarded(8192), Guarded(8192)
        for count in [*range(1, 90), 127, 128, 129, 200, 300]:
            run = b"".join(map(encode, values[:count]))
            for at_end in (True, False):  # against the page after it, against the page before it
                place = slice(data.size - len(run), data.size) if at_end else slice(0, len(run))
                data.view[place] = run
                out_place = slice(room.size - 8 * count, room.size) if at_end else slice(0, 8 * count)
                out = np.frombuffer(room.view[out_place], np.int64)
                assert _core.decode_varints_into(data.view[place], out) == (count, len(run))
                assert out.tolist() == values[:count]
                assert _core.count_varints(data.view[place]) == count
                out[:] = values[:count]
                data.view[place] = bytes(len(run))
                assert _core.encode_varints_into(out, data.view[place]) == len(run)
                assert bytes(data.view[place]) == run


@needs_mprotect
def test_nothing_is_touched_outside_of_garbage_and_its_room():
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    data, room = Guarded(4096), Guarded(4096)
    for _ in range(2000):
        run = garbage(rng)
        capacity = rng.randrange(len(run) + 2)
        data.view[data.size - len(run) :] = run
        out = np.empty(0, np.int64)  # an empty view has no address to guard
        if capacity:
            out = np.frombuffer(room.view[room.size - 8 * capacity :], np.int64)
        try:
            count, used = _core.decode_varints_into(data.view[data.size - len(run) :], out)
            got = out[:count].tolist(), used
        except ValueError:
            got = None
        assert got == decode(run, capacity), (seed, run.hex(), capacity)


@needs_mprotect
def test_one_varint_reads_nothing_before_the_record_or_after_it():
    for size in range(1, 11):
        data = Guarded(4096)
        run = encode(2 ** (7 * (size - 1)) - 1, size)
        for place in (0, data.size - size):
            data.view[place : place + size] = run
            record = data.view[place:] if place == 0 else data.view[place - 3 :]
            assert _core.decode_one_varint(record, 0 if place == 0 else 3, size) == 2 ** (7 * (size - 1)) - 1


def test_alignment_does_not_matter():
    for alignment in range(64):
        values = [v * v * 37 for v in range(200)]
        run = b"".join(map(encode, values))
        padded = np.zeros(len(run) + 128, np.uint8)
        start = -padded.ctypes.data % 64 + alignment
        padded[start : start + len(run)] = np.frombuffer(run, np.uint8)
        assert _core.decode_varints(padded[start : start + len(run)]).tolist() == values
        assert _core.count_varints(padded[start : start + len(run)]) == 200


# ---- Backends ----


def test_portable_is_the_last_of_the_backends():
    assert BACKENDS[-1] == "portable" and len(set(BACKENDS)) == len(BACKENDS)


def test_the_backend_in_use_is_reported(backend):
    assert _core.varint_backend() == build_info()["simd"]["varint"] == backend


def test_an_unknown_backend_is_refused_and_nothing_changes(backend):
    with pytest.raises(ValueError, match="no varint backend"):
        _core.set_varint_backend("abacus")
    assert _core.varint_backend() == backend


@pytest.mark.parametrize("forced", [*BACKENDS, "abacus"])
def test_the_environment_forces_a_backend(forced):
    code = "from tfrecord_fast import _core; print(_core.varint_backend())"
    environment = {**os.environ, "TFRECORD_FAST_VARINT": forced}
    told = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    assert told.stdout.decode().strip() == (forced if forced in BACKENDS else BACKENDS[0])
