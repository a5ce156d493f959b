"""The store on loopback: native/object_server.cc, compiled when it is first asked for."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.native.build import CACHE, HERE, compiler

__all__ = ["BUCKET", "OPTIONS", "serving"]

BUCKET = "bench"
OPTIONS = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "aws_region": "us-east-1", "allow_http": "true"}


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


@contextlib.contextmanager
def serving(folder: Path, latency_ms: float, megabytes: float) -> Iterator[int]:
    """The port of a server over the files of a folder."""
    command = [str(_program()), str(folder), str(latency_ms), str(megabytes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()
            server.wait(10)
