"""The process of one contender: does tasks on command and times them.

    python -m benchmarks.running.worker CONTENDER.py

Commands come as lines of JSON on standard input; each is answered by one line on standard output, in order.
What the contender itself prints goes to standard error.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks import contenders
from benchmarks.data.dataset import Dataset
from benchmarks.running.cputime import cpu_seconds
from benchmarks.running.memory import forget_peaks, peaks
from benchmarks.running.pagecache import device_bytes

TOLD = ("label", "row", "order", "partial", "leaves_out", "checks")  # of a setting, to the harness


class Worker:
    def __init__(self, contender: contenders.Contender) -> None:
        self.contender = contender
        self.parts: dict[float, list[contenders.Setting]] = {}  # by the share of the data that they work on

    def prepare(self, task: str, dataset: dict[str, Any] | None, scratch: str, share: float = 1.0) -> dict[str, Any]:
        job = contenders.Job(task, Dataset.from_json(dataset) if dataset else None, Path(scratch))
        settings = self.parts[share] = self.contender.tasks[task](job)
        return {
            "version": self.contender.version(),
            "python": sys.version.split()[0],
            "settings": [{name: getattr(setting, name) for name in TOLD} for setting in settings],
        }

    def forget(self, share: float) -> dict[str, Any]:
        """Drops the settings that work on that share of the data."""
        self.parts.pop(share, None)
        gc.collect()
        return {}

    def answer(self, setting: int, share: float = 1.0) -> dict[str, Any]:
        return {"answer": self.parts[share][setting].answer()}

    def cleanup(self, setting: int, share: float = 1.0) -> dict[str, Any]:
        self.parts[share][setting].cleanup()
        return {}

    def time(self, setting: int, passes: int, share: float = 1.0) -> dict[str, Any]:
        """Wall and CPU seconds of `passes` passes together, the number of records of each, and what they read from
        devices."""
        one = self.parts[share][setting]
        wall = cpu = 0.0
        records = []
        gc.collect()
        read = device_bytes()
        for _ in range(passes):
            cpu_start, start = cpu_seconds(), time.perf_counter()
            records.append(one.run())
            taken = time.perf_counter() - start
            spent = cpu_seconds() - cpu_start
            own, own_cpu = one.seconds(), one.cpu()
            wall += taken if own is None else own
            cpu += spent if own_cpu is None else own_cpu
            one.cleanup()
        return {"wall": wall, "cpu": cpu, "records": records, "disk": device_bytes() - read}

    def forget_peak(self) -> dict[str, Any]:
        """Resets the peak of memory to what is held now."""
        forget_peaks()
        return {}

    def peak(self, setting: int, share: float = 1.0) -> dict[str, Any]:
        """The peak of resident memory in bytes, of living descendants too; 0 where the system does not tell."""
        own = self.parts[share][setting].peak()
        return {"peak": peaks() if own is None else own}


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(contenders.load(Path(sys.argv[1])))
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = getattr(worker, command.pop("do"))(**command)
        except contenders.CannotError as error:
            reply = {"cannot": str(error)}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
