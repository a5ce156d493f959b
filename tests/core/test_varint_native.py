"""The varint backends compiled for other processors too: ARM's run under qemu, if it and a compiler are installed."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

MUTATED = Path(os.environ.get("MUTATED_CORE", "nowhere"))  # tools/mutation/native.py
MACHINES = {
    "this one": (["g++"], [], {"portable"}),
    "aarch64": (["aarch64-linux-gnu-g++", "-static"], ["qemu-aarch64"], {"portable", "neon"}),
}


def stretches(rng, size):
    """Random bytes, whose top bits are set with another probability every few hundred bytes."""
    data = bytearray()
    while len(data) < size:
        likely = rng.choice([0, 0.02, 0.2, 0.35, 0.5, 0.75, 0.9])
        data += bytes(rng.getrandbits(7) | 0x80 * (rng.random() < likely) for _ in range(rng.randrange(1, 600)))
    return bytes(data[:size])


@pytest.fixture(scope="module")
def answers():
    """Collect what each machine printed: all have to print the same."""
    return set()


@pytest.mark.parametrize("machine", MACHINES)
def test_every_backend_gives_the_same_answers(tmp_path, machine, answers):
    compiler, runner, names = MACHINES[machine]
    for tool in (*compiler[:1], *runner):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (Debian: g++-aarch64-linux-gnu, qemu-user)")
    program = str(tmp_path / "runs")
    core = [ROOT / "csrc/base/cpu.cc", *sorted((ROOT / "csrc/varint").glob("*.cc"))]
    core = [next(path for path in (MUTATED / path.relative_to(ROOT / "csrc"), path) if path.exists()) for path in core]
    sources = map(str, [ROOT / "tests/support/native/varint_runs.cc", *core])
    subprocess.run([*compiler, "-std=c++20", "-O2", f"-I{ROOT / 'csrc'}", *sources, "-o", program], check=True)
    data = stretches(random.Random(3720), 1 << 20)
    done = subprocess.run([*runner, program], input=data, capture_output=True, check=True)
    sums = dict(line.split() for line in done.stdout.decode().splitlines())
    assert names <= set(sums)
    answers |= set(sums.values())
    assert len(answers) == 1
