"""python -m benchmarks.remote: large objects and small ones behind 30 ms and 80 MB/s per connection.

Rounds alternate between the readers; the ratio is to the bare requests of the same round. `cpu` is the seconds of this
process per GB, `peak` how much its memory grew.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.remote.readers import MODULES, READERS
from benchmarks.remote.server import serving

MIB = 1 << 20
CASES = {  # objects, bytes of each
    "8 large": (8, 64 * MIB),
    "1 large": (1, 512 * MIB),
    "2,000 small": (2000, 100_000),
}
RECORD = 100_000 - 16


def make(folder: Path, case: str, scale: float) -> list[tuple[str, int]]:
    """Writes the objects; their names and sizes."""
    import tfrecord_fast as tf

    count, size = CASES[case]
    count, size = (max(1, int(count * scale)), size) if count > 100 else (count, int(size * scale))
    objects = []
    record = os.urandom(min(RECORD, size - 16))
    for number in range(count):
        path = folder / f"{number:05}.tfrecord"
        with tf.io.TFRecordWriter(path) as writer:
            writer.write_batch([record] * (size // (len(record) + 16)))
        objects.append((path.name, path.stat().st_size))
    return objects


def measure(name: str, port: int, objects: list[tuple[str, int]]) -> None:
    """Runs one reader and prints seconds, seconds of CPU and KiB of memory."""
    for module in MODULES.get(name, ()):
        with contextlib.suppress(ImportError):  # the reader says so
            importlib.import_module(module)
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    got = READERS[name](port, objects)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert got == sum(size for _, size in objects), f"{name}: {got} bytes"
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(seconds, cpu, after.ru_maxrss - before.ru_maxrss)


def run(name: str, port: int, folder: Path) -> tuple[float, float, float] | None:
    """The same in a process of its own; None if it can't be run here."""
    command = [sys.executable, "-m", "benchmarks.remote", "--one", name, "--port", str(port), "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: not measured: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    seconds, cpu, peak = map(float, done.stdout.split())
    return seconds, cpu, peak


def main() -> int:
    """Exit status: 0; 1 if the package's reader could not be run."""
    parser = argparse.ArgumentParser("python -m benchmarks.remote", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of the data")
    parser.add_argument("--latency", type=float, default=30, help="ms to the first byte")
    parser.add_argument("--rate", type=float, default=80, help="MB/s per connection")
    parser.add_argument("--readers", nargs="*", default=list(READERS), choices=list(READERS))
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    for hidden in ("--one", "--port", "--folder"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        files = sorted(Path(options.folder).iterdir())
        measure(options.one, int(options.port), [(path.name, path.stat().st_size) for path in files])
        return 0
    missing = False
    for case in options.cases:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            total = sum(size for _, size in make(folder, case, options.scale))
            found: dict[str, list[tuple[float, float, float]]] = {reader: [] for reader in options.readers}
            with serving(folder, options.latency, options.rate) as port:
                for _ in range(options.rounds):
                    for reader in list(found):
                        figures = run(reader, port, folder)
                        if figures is None:
                            missing = missing or reader == "tfrecord_fast"
                            del found[reader]
                        else:
                            found[reader].append(figures)
        for reader, rows in found.items():
            speed = statistics.median(total / seconds / 1e6 for seconds, _, _ in rows)
            bare = found.get("bare requests")
            ratio = statistics.median(b[0] / r[0] for b, r in zip(bare, rows, strict=True)) if bare else float("nan")
            cpu = statistics.median(row[1] for row in rows) / (total / 1e9)
            peak = max(row[2] for row in rows) / 1024
            print(
                f"{case:12} {reader:14} {speed:8.0f} MB/s  {ratio:5.2f} of bare  {cpu:5.2f} s cpu/GB  {peak:5.0f} MiB"
            )
    return int(missing)


if __name__ == "__main__":
    sys.exit(main())
