"""The crc32c room: one suite, run on every backend that this processor has."""

import ctypes
import mmap
import os
import random
import subprocess
import sys

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrecord_fast import _core, build_info

BACKENDS = _core.crc32c_backends()
crc32c = _core.crc32c
LENGTHS = range(4097)
DATA = random.Random(3720).randbytes(1 << 17)


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(request):
    before = _core.crc32c_backend()
    _core.set_crc32c_backend(request.param)
    yield request.param
    _core.set_crc32c_backend(before)


@pytest.fixture(scope="module")
def of_every_length():
    """The oracle's CRC of the first n bytes of DATA, for every n."""
    return [google_crc32c.value(DATA[:n]) for n in LENGTHS]


# RFC 3720, appendix B.4; the last is the check value of the catalogues.
READ_COMMAND = bytes.fromhex(
    "01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018 28000000 00000000 02000000 00000000"
)
VECTORS = [
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(reversed(range(32))), 0x113FDB5C),
    (READ_COMMAND, 0xD9963A56),
    (b"123456789", 0xE3069283),
]


@pytest.mark.parametrize(("data", "crc"), VECTORS)
def test_published_vectors(data, crc):
    assert crc32c(data) == crc


def test_crc_of_nothing_is_zero_and_extends_nothing():
    assert crc32c(b"") == 0
    assert crc32c(b"", 0x12345678) == 0x12345678


def test_every_length_at_every_alignment_agrees_with_google_crc32c(of_every_length):
    space = np.zeros(LENGTHS[-1] + 2 * 64, np.uint8)
    start = -space.ctypes.data % 64
    for alignment in range(64):
        at = start + alignment
        space[at : at + LENGTHS[-1]] = np.frombuffer(DATA, np.uint8, LENGTHS[-1])
        view = memoryview(space)[at:]
        wrong = [n for n in LENGTHS if crc32c(view[:n]) != of_every_length[n]]
        assert not wrong, f"lengths {wrong[:5]}… at alignment {alignment}"


@given(st.integers(0, len(DATA)), st.integers(0, len(DATA)))
def test_long_data_agrees_with_google_crc32c(a, b):
    data = DATA[min(a, b) : max(a, b)]
    assert crc32c(data) == google_crc32c.value(data)


@given(st.binary(max_size=600), st.binary(max_size=600), st.binary(max_size=600))
def test_parts_extend_to_the_whole(a, b, c):
    assert crc32c(c, crc32c(b, crc32c(a))) == crc32c(a + b + c)


def test_every_cut_in_two_extends_to_the_whole():
    view = memoryview(DATA)
    for length in (1, 7, 63, 64, 65, 255, 700, 1500, 4096):
        whole = google_crc32c.value(DATA[:length])
        assert all(crc32c(view[cut:length], crc32c(view[:cut])) == whole for cut in range(length + 1))


@given(st.integers(0, 2**32 - 1), st.binary(max_size=300))
def test_any_start_agrees_with_google_crc32c(crc, data):
    assert crc32c(data, crc) == google_crc32c.extend(crc, data)


def test_every_single_bit_counts():
    data = bytearray(DATA[:300])
    crcs = {crc32c(data)}
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        crcs.add(crc32c(data))
        data[bit // 8] ^= 1 << bit % 8
    assert len(crcs) == 8 * len(data) + 1


@pytest.mark.skipif(os.name != "posix", reason="mprotect is POSIX")
def test_nothing_is_read_outside_of_the_data():
    page = mmap.PAGESIZE
    guarded = mmap.mmap(-1, 3 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(guarded))
    for at in (address, address + 2 * page):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(at), ctypes.c_size_t(page), 0) == 0
    inside = memoryview(guarded)[page : 2 * page]
    inside[:] = DATA[:page]
    # A read on the pages around it would end the process.
    for length in (*range(600), *range(page - 300, page + 1)):
        assert crc32c(inside[:length]) == google_crc32c.value(DATA[:length])
        assert crc32c(inside[page - length :]) == google_crc32c.value(DATA[page - length : page])


# ---- Backends ----


def test_portable_is_the_last_of_the_backends():
    assert BACKENDS[-1] == "portable" and len(set(BACKENDS)) == len(BACKENDS)


def test_the_backend_in_use_is_reported(backend):
    assert _core.crc32c_backend() == build_info()["simd"]["crc32c"] == backend


def test_an_unknown_backend_is_refused_and_nothing_changes(backend):
    with pytest.raises(ValueError, match="no CRC32C backend"):
        _core.set_crc32c_backend("abacus")
    assert _core.crc32c_backend() == backend


@pytest.mark.parametrize("backend", BACKENDS[-1:], indirect=True)
@pytest.mark.parametrize("forced", [*BACKENDS, "abacus"])
def test_the_environment_forces_a_backend(forced):
    code = "from tfrecord_fast import _core; print(_core.crc32c_backend())"
    environment = {**os.environ, "TFRECORD_FAST_CRC32C": forced}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == (forced if forced in BACKENDS else BACKENDS[0])
