"""The harness's end of a worker process."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.contenders import Contender
from benchmarks.data.places import ROOT


class ContenderFailed(Exception):
    """The contender raised, died or took too long; the message has the details."""


class ContenderCannot(Exception):
    """The contender does not support the data; the message explains why."""


class Process:
    """A worker for the contender of a file. What it prints is kept for the message if it dies.

    Each method of worker.Worker is called by its name: `process.call("time", setting=0, passes=3)`.
    """

    def __init__(self, path: Path, contender: Contender, timeout: float) -> None:
        self.timeout = timeout
        self.stderr = tempfile.TemporaryFile()
        search = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.child = subprocess.Popen(
            [contender.python(), "-m", "benchmarks.running.worker", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env=os.environ | contender.environment | {"PYTHONPATH": search},
        )
        self.pending = b""

    def call(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            self.child.stdin.flush()
        except OSError:
            raise ContenderFailed(self.death()) from None
        reply: dict[str, Any] = json.loads(self.line())
        if "cannot" in reply:
            raise ContenderCannot(reply["cannot"])
        if "error" in reply:
            raise ContenderFailed(reply["error"])
        return reply

    def line(self) -> bytes:
        assert self.child.stdout is not None
        descriptor = self.child.stdout.fileno()
        while b"\n" not in self.pending:
            ready, _, _ = select.select([descriptor], [], [], self.timeout)
            if not ready:
                self.child.kill()
                raise ContenderFailed(f"no answer in {self.timeout:.0f} s")
            got = os.read(descriptor, 1 << 16)
            if not got:
                raise ContenderFailed(self.death())
            self.pending += got
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def death(self) -> str:
        status = self.child.wait()
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        return f"died with status {status}" + (f": {lines[-1]}" if lines else "")

    def hang_up(self) -> None:
        """Tells the process to end, and doesn't wait for it."""
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass

    def close(self) -> None:
        """Waits for the process to end by itself, and kills it if it does not."""
        self.hang_up()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.stderr.close()
