"""Compiles native code into benchmarks/.cache: the floor's loops, when they are first asked for."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.data.places import ROOT, kept

HERE = Path(__file__).parent
CORE = ROOT / "csrc"
CACHE = kept(".cache")
FLAGS = ["-O3", "-std=c++20", "-shared", "-fPIC", "-Wall", "-Wextra", "-pthread"]


def compiler() -> list[str]:
    return os.environ.get("CXX", "c++").split()


def has_compiler() -> bool:
    return shutil.which(compiler()[0]) is not None


def why_not() -> str | None:
    """Why the floor can't be built here, in words; None if it can."""
    if not CORE.is_dir():
        return "needs a checkout with csrc/"
    if not has_compiler():
        return f"needs a C++ compiler ({compiler()[0]} not found)"
    return None if compiles("#include <isa-l.h>") else "needs ISA-L's headers (Debian: libisal-dev)"


def why_no_jpeg() -> str | None:
    """Return why `jpeg` can't be built here; None if it can."""
    return None if compiles("#include <cstdio>\n#include <jpeglib.h>") else "needs Debian's libjpeg-dev"


@functools.cache
def compiles(source: str) -> bool:
    command = [*compiler(), "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=source + "\n", capture_output=True, text=True).returncode == 0


@functools.cache
def floor() -> ctypes.CDLL:
    """The functions of floor.cc, with the core's own CRC32C."""
    sources = [HERE / "floor.cc", *sorted((CORE / "crc32c").glob("*.cc")), CORE / "base" / "cpu.cc"]
    return ctypes.CDLL(str(library("floor", sources, ["-lisal"])))


@functools.cache
def jpeg() -> ctypes.CDLL:
    """The functions of jpeg.cc, with the system's libjpeg-turbo."""
    return ctypes.CDLL(str(library("jpeg", [HERE / "jpeg.cc"], ["-ljpeg"])))


def library(name: str, sources: list[Path], libraries: list[str]) -> Path:
    """A shared library of these sources; compiled unless the same command has compiled the same sources and headers
    before."""
    command = [*compiler(), *FLAGS, f"-I{CORE}"]
    state = hashlib.sha256(" ".join(command).encode())
    for source in [*sources, *sorted(CORE.rglob("*.h"))]:
        state.update(source.read_bytes())
    path = CACHE / f"{name}-{state.hexdigest()[:12]}.so"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = CACHE / f"{path.name}.{os.getpid()}"
        done = subprocess.run(
            [*command, *map(str, sources), "-o", str(draft), *libraries], capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")
        draft.rename(path)
    return path
