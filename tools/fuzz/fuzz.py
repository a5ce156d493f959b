"""Fuzzes everything that takes bytes from outside, or memory that others describe.

python -m tools.fuzz.fuzz [--seconds N] [--seed N] [--keep FOLDER] [TARGET ...]

Each target gets its share of the time, in a process of its own: a crash, a hang, or an error of an unexpected kind is a
finding, whose input is written to build/fuzz/. `bash .ci/fuzz` runs this on a build that has sanitizers and counts what
code ran, so that inputs which reach new code are kept and changed further; without that, the seeds are changed at
random.
"""

import argparse
import ctypes
import hashlib
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tests.support.paths import ROOT
from tools.fuzz.mutate import MOST, mutated
from tools.fuzz.targets import REFUSED, TARGETS, stored

HANGS = 60  # seconds for one input
FINDINGS = ROOT / "build" / "fuzz"


class Coverage:
    """What code ran, if the build tells."""

    def __init__(self):
        try:
            counters = (ctypes.c_uint8 * (1 << 16)).in_dll(ctypes.CDLL(None), "covered")
            self.now = np.frombuffer(counters, np.uint8)
        except ValueError:
            self.now = None
        self.seen = np.zeros(1 << 16, np.uint8)

    def check(self):
        """Raises if the package doesn't tell what runs, though it should: its import alone runs much."""
        if self.now is not None and not self.now.any():
            raise SystemExit("tools.fuzz: the build is not one with -fsanitize-coverage=trace-pc")

    def start(self):
        if self.now is not None:
            self.now[:] = 0

    def is_new(self):
        """Whether places ran that had not run before, or much more often."""
        if self.now is None:
            return False
        ran = self.now.copy()
        rarer = np.bitwise_or.reduce(
            [(ran > most).astype(np.uint8) << bit for bit, most in enumerate((0, 1, 3, 15, 127))]
        )
        fresh = rarer & ~self.seen
        if not fresh.any():
            return False
        self.seen |= rarer
        return True

    def places(self):
        return int(np.count_nonzero(self.seen))


def try_input(target, data):
    """Raises what is a finding."""
    try:
        target.run(data)
    except REFUSED:
        pass


def inputs(rng, target, corpus):
    """An endless series of changed inputs."""
    while True:
        base = corpus[min(rng.randrange(len(corpus)), rng.randrange(len(corpus)))] if corpus else b""
        data = mutated(rng, base, corpus or [b""], target.words)
        yield target.repair(data) if target.repair is not None and rng.random() < 0.7 else data


def fuzz_one(name, seconds, seed, shown):
    """In a process of its own. `shown` is memory that outlives it: the input it is at."""
    target, rng, coverage = TARGETS[name], random.Random(seed), Coverage()
    corpus, runs, end = [], 0, time.monotonic() + seconds

    def run(data):
        shown[: 4 + len(data)] = struct.pack("<I", len(data)) + data
        signal.setitimer(signal.ITIMER_REAL, HANGS)
        coverage.start()
        try_input(target, data)
        return coverage.is_new()

    for data in dict.fromkeys([*target.seeds(), *stored(name), b""]):
        run(data)
        corpus.insert(0, data)
    seeds = len(corpus)
    for data in inputs(rng, target, corpus):
        if time.monotonic() > end:
            break
        runs += 1
        if run(data):
            corpus.insert(0, data)
    print(f"{name}: {runs} inputs, {len(corpus) - seeds} kept, {coverage.places()} places in the code", flush=True)
    return corpus[: len(corpus) - seeds]


def child(name, seconds, seed, file, keep):
    with open(file, "r+b") as handle:
        kept = fuzz_one(name, seconds, seed, mmap.mmap(handle.fileno(), 0))
    if keep:
        folder = Path(keep) / name
        folder.mkdir(parents=True, exist_ok=True)
        for data in kept:
            (folder / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)


def parent(name, seconds, seed, keep):
    """Whether the target ended without a finding."""
    FINDINGS.mkdir(parents=True, exist_ok=True)
    file = FINDINGS / f"{name}.now"
    file.write_bytes(bytes(4 * MOST))
    options = [
        "--seconds",
        str(seconds),
        "--seed",
        str(seed),
        "--child",
        str(file),
        *(["--keep", keep] if keep else []),
    ]
    ended = subprocess.run([sys.executable, "-m", "tools.fuzz.fuzz", *options, name], check=False).returncode
    if ended != 0:
        now = file.read_bytes()
        data = now[4 : 4 + struct.unpack_from("<I", now)[0]]
        found = FINDINGS / f"{name}-{hashlib.sha1(data).hexdigest()[:12]}"
        found.write_bytes(data)
        how = f"signal {-ended}" if ended < 0 else f"status {ended}"
        print(f"{name}: FOUND, {how}: {found} (seed {seed})", flush=True)
    file.unlink()
    return ended == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--keep", metavar="FOLDER", help="where inputs that reach new code are written")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.targets or list(TARGETS)
    Coverage().check()
    if given.child:
        return child(names[0], given.seconds, given.seed, given.child, given.keep)
    good = [parent(name, given.seconds / len(names), given.seed, given.keep) for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
