"""What `stats` does with vectors is what it does without, on this processor and on ARM, if qemu and a compiler are
installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

MUTATED = Path(os.environ.get("MUTATED_CORE", "nowhere"))  # tools/mutation/native.py
CORE = ["stats/block_hashes.cc", "stats/hash.cc", "stats/moments.cc"]
MACHINES = {
    "this one": (["g++"], []),
    "aarch64": (["aarch64-linux-gnu-g++", "-static"], ["qemu-aarch64"]),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_vectors_give_what_loops_give(tmp_path, machine):
    compiler, runner = MACHINES[machine]
    for tool in (*compiler[:1], *runner):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (Debian: g++-aarch64-linux-gnu, qemu-user)")
    program = str(tmp_path / "vectors")
    core = [next(path for path in (MUTATED / name, ROOT / "csrc" / name) if path.exists()) for name in CORE]
    sources = [ROOT / "tests/support/native/stats_vectors.cc", *core]
    options = ["-std=c++20", "-O3", "-ffp-contract=off", f"-I{MUTATED}", f"-I{ROOT / 'csrc'}"]
    subprocess.run([*compiler, *options, *map(str, sources), "-o", program], check=True)
    for seed in (1, 2):
        done = subprocess.run([*runner, program, str(seed)], capture_output=True, text=True)
        print(f"seed {seed}: {done.stdout}")
        assert done.returncode == 0, done.stdout
