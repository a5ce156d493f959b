"""The micro-benchmarks of this folder: one C++ program per room, built when first asked for, and the rows it prints."""

from __future__ import annotations

import hashlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.native import build

FLAGS = ["-O3", "-std=c++20", "-fno-strict-aliasing", "-Wall", "-Wextra", "-pthread"]
HEADERS = {  # header, what links it, Debian's package
    "isal": ("isa-l.h", "libisal-dev"),
    "deflate": ("libdeflate.h", "libdeflate-dev"),
    "z": ("zlib.h", "zlib1g-dev"),
    "zstd": ("zstd.h", "libzstd-dev"),
    "snappy": ("snappy.h", "libsnappy-dev"),
    "jpeg": ("jpeglib.h", "libjpeg-dev"),
    "png": ("png.h", "libpng-dev"),
}
STREAMS = ("isal", "deflate", "z", "zstd", "snappy")


@dataclass(frozen=True)
class Room:
    """A program. `needs` are the folders of csrc/ that it is linked with; `workloads` are those whose file it is given,
    one at a time, or none."""

    name: str
    title: str
    needs: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()


ROOMS = {
    room.name: room
    for room in (
        Room("crc32c", "CRC32C by backend", ("base", "crc32c")),
        Room("framing", "The frame", ("base", "crc32c", "codec", "io", "framing"), STREAMS),
        Room("inflate", "Inflating", ("base", "codec", "io"), STREAMS, ("ctr", "tok")),
        Room("varint", "Varints by backend", ("base", "varint")),
        Room(
            "parse",
            "The wire walk, and records to columns",
            ("base", "crc32c", "wire", "varint", "images", "parse"),
            ("jpeg", "png"),
            ("ctr", "wide", "tok", "emb", "seq"),
        ),
        Room("deflate", "Deflate by library and level", ("base",), STREAMS, ("ctr", "tok")),
    )
}


class Figure(NamedTuple):
    """A row that a program printed: how fast `how` does `case`, in each round."""

    case: str
    how: str
    unit: str
    rounds: list[float]


class Lacking(NamedTuple):
    """A program that this processor can't run; the message explains why."""

    how: str
    why: str


class ProgramFailed(Exception):
    """The program returned a wrong answer or died."""


def why_not(room: Room) -> str | None:
    """Why the room's program can't be built here, in words; None if it can."""
    missing = [folder for folder in room.needs if not (build.CORE / folder).is_dir()]
    if missing:
        return f"needs a checkout (no csrc/{missing[0]} here)"
    if not build.has_compiler():
        return f"needs a C++ compiler ({build.compiler()[0]} not found; CXX names another)"
    headers = [HEADERS[name] for name in room.libraries]
    lacks = [header for header in headers if not build.compiles(f"#include <cstdio>\n#include <{header[0]}>")]
    if lacks:
        return "needs " + ", ".join(f"{header} (Debian: {package})" for header, package in lacks)
    return None


def program(room: Room) -> Path:
    """The built program. Objects are kept under a hash of their source and of all headers."""
    sources = [build.HERE / f"{room.name}.cc"]
    sources += [path for folder in room.needs for path in sorted((build.CORE / folder).glob("*.cc"))]
    headers = hashlib.sha256(" ".join([*build.compiler(), *FLAGS]).encode())
    for path in [*sorted(build.HERE.glob("*.h")), *sorted(build.CORE.rglob("*.h"))]:
        headers.update(path.read_bytes())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compiled(source, headers.hexdigest()), sources))
    state = hashlib.sha256(" ".join(path.name for path in objects).encode()).hexdigest()[:12]
    libraries = [f"-l{name}" for name in room.libraries]
    return made(build.CACHE / f"{room.name}-{state}", [*FLAGS, *map(str, objects), *libraries])


def compiled(source: Path, headers: str) -> Path:
    state = hashlib.sha256(headers.encode() + source.read_bytes()).hexdigest()[:12]
    target = build.CACHE / f"{source.parent.name}-{source.stem}-{state}.o"
    return made(target, [*FLAGS, f"-I{build.CORE}", f"-I{build.HERE}", "-c", str(source)])


def made(target: Path, arguments: list[str]) -> Path:
    """Calls the compiler with `arguments`, unless the target is there. Raises ProgramFailed if it refuses."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f"{target.name}.{os.getpid()}")
        command = [*build.compiler(), *arguments, "-o", str(draft)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ProgramFailed(f"{target.name}: {done.stderr.strip()}")
        draft.rename(target)
    return target


def run(path: Path, rounds: int, milliseconds: float, *files: str) -> tuple[list[Figure], list[Lacking]]:
    """Run the program and return its output.

    Raises:
      ProgramFailed: an answer was wrong, and nothing was timed from there on.
    """
    done = subprocess.run([path, str(rounds), str(milliseconds), *files], capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip() or f"died with status {done.returncode}"
        raise ProgramFailed(f"{path.name}: {reason}")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    figures = [
        Figure(case, how, unit, [float(value) for value in rounds.split()])
        for line_type, case, how, unit, rounds in (line for line in lines if line[0] == "row")
    ]
    return figures, [Lacking(*line[1:]) for line in lines if line[0] == "lacking"]
