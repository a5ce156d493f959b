"""The CRC32C backends compiled for other processors too: ARM's run under qemu, if it and a compiler are installed."""

import random
import shutil
import subprocess

import google_crc32c
import pytest

from tests.support.paths import ROOT

DATA = random.Random(3720).randbytes(1 << 16)
CORE = [ROOT / "csrc/base/cpu.cc", *sorted((ROOT / "csrc/crc32c").glob("*.cc"))]
MACHINES = {
    "this one": (["g++"], [], {"portable"}),
    "aarch64": (["aarch64-linux-gnu-g++", "-static"], ["qemu-aarch64"], {"portable", "armv8", "pmull"}),
}


def expected():
    total = 0
    pieces = [(size * 7 % 64, size) for size in range(4097)]
    for begin in range(64):
        pieces += [(begin, size) for size in [*range(129), 9000]]
    for begin, size in pieces:
        crc = google_crc32c.extend(size, DATA[begin : begin + size])
        total = (total * 0x9E3779B97F4A7C15 + crc) % (1 << 64)
    return total


@pytest.mark.parametrize("machine", MACHINES)
def test_every_backend_agrees_with_the_oracle(tmp_path, machine):
    compiler, runner, names = MACHINES[machine]
    for tool in (*compiler[:1], *runner):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (Debian: g++-aarch64-linux-gnu, qemu-user)")
    program = str(tmp_path / "sums")
    sources = map(str, [ROOT / "tests/support/native/crc32c_sums.cc", *CORE])
    subprocess.run([*compiler, "-std=c++20", "-O2", f"-I{ROOT / 'csrc'}", *sources, "-o", program], check=True)
    done = subprocess.run([*runner, program], input=DATA, capture_output=True, check=True)
    sums = dict(line.split() for line in done.stdout.decode().splitlines())
    assert names <= set(sums)
    assert set(map(int, sums.values())) == {expected()}
