"""A store of objects on loopback: object_server.cc, compiled when it is first asked for."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.native.build import CACHE, HERE, compiler

BUCKET = "bench"
LATENCY = 30  # ms to the first byte of an answer
RATE = 80  # MB/s of a connection

# The server is not a child of this process, so that its CPU time is not counted as the reader's.
_ALONE = 'exec 3<&0; "$@" <&3 & exec 3<&-'


def _program() -> Path:
    source = HERE / "object_server.cc"
    path = CACHE / f"object_server-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = CACHE / f"{path.name}.{os.getpid()}"
        command = [*compiler(), "-O2", "-std=c++20", "-pthread", str(source), "-o", str(draft)]
        subprocess.run(command, check=True)
        draft.rename(path)
    return path


class Store:
    """Files as the objects of a bucket, served until this process ends.

    Args:
      files: the objects, named by their last part.
      folder: where links to them go; made here.
    """

    def __init__(self, files: Sequence[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for path in files:
            (folder / Path(path).name).symlink_to(path)
        self.names = sorted(Path(path).name for path in files)
        self.sizes = [os.path.getsize(folder / name) for name in self.names]
        command = [str(_program()), str(folder), str(LATENCY), str(RATE)]
        with subprocess.Popen(
            ["sh", "-c", _ALONE, "sh", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as shell:
            assert shell.stdin is not None and shell.stdout is not None
            os.dup(shell.stdin.fileno())  # never closed: the server ends when the last writer is gone
            self.port = int(shell.stdout.readline())

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, name: str) -> str:
        return f"{self.endpoint}/{BUCKET}/{name}"
