"""Contenders: one file each, found by being in this folder. The file sets `CONTENDER`, and imports what it
measures only inside its functions, so that a list of contenders costs nothing.

    def raw(job):
        import rival
        return [Reading("threads=2", rival.Dataset(job.dataset.files, threads=2), records=list)]

    CONTENDER = Contender("rival", "Rival", package="rival", tasks={"raw": raw})

A task's function runs in a process of the contender's own and gives settings; those of the same row compete,
the best of them is timed. The loop that is timed is here, the same for all.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pkgutil
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import rivals
from benchmarks.answers import Answer, digest, frames
from benchmarks.dataset import Dataset


@dataclass(frozen=True)
class Job:
    """What a contender is to work on. `dataset` is None for tasks that have none; `scratch` is a folder of
    its own, for what it writes."""

    task: str
    dataset: Any  # Dataset, or None
    scratch: Path

    def loaded(self) -> list[list[bytes]]:
        """The records of each file, in memory, for tasks that write."""
        return [list(frames(path, check=False)) for path in self.dataset.files]

    def sources(self, *known: str) -> tuple[list[str], str]:
        """The files as whoever has them has them, and their compression type, "" for none; else one of those known, or
        CannotError is raised."""
        return self.packed(*known) if self.dataset.only_packed else (self.dataset.files, "")

    def columns(self) -> list[dict[str, Any]]:
        """The columns (columns.Column, by feature) of each file, in memory, for tasks that write them. It takes the
        protobuf runtime."""
        from benchmarks.reference import columns_by_file

        return columns_by_file(self.dataset)

    def batches(self) -> list[list[bytes]]:
        """The records in memory, as many in a batch as `dataset` has it."""
        n = self.dataset.batch
        return [records[i : i + n] for records in self.loaded() for i in range(0, len(records), n)]

    def outputs(self, suffix: str = "") -> list[str]:
        """Where to write what `loaded` gave, file for file."""
        names = [Path(path).name + suffix for path in self.dataset.files]
        return [str(self.scratch / f"{i:05}-{name}") for i, name in enumerate(names)]

    def packed(self, *known: str) -> tuple[list[str], str]:
        """The compressed files and their compression type, which is one of those known, or CannotError is raised."""
        kind = self.dataset.compression
        if kind not in known:
            raise CannotError(f"no {kind}")
        return self.dataset.gzip_files, kind

    def needs_features(self) -> None:
        """Raises CannotError where there is nothing to parse."""
        if not self.dataset.features and not self.dataset.sequences:
            raise CannotError("hands out parsed Examples, not records")


class CannotError(Exception):
    """Raised by a task's function for data that is beyond the contender; the text says why."""


class Setting:
    """One way of doing a task. `label` says what is set; `row` tells apart ways that are worth a row of their
    own; `order` is "file" or "any" (see answers.difference); `partial` is for those that only count."""

    order = "file"
    partial = False

    def __init__(self, label: str, row: str = "") -> None:
        self.label = label
        self.row = row

    def run(self) -> int:
        """What is timed: one pass over the data. Returns the number of records."""
        raise NotImplementedError

    def answer(self) -> Answer:
        """Not timed: a pass that takes what `run` takes and says what it saw. `{"written": paths}` leaves it
        to the harness to read what was written."""
        raise NotImplementedError

    def seconds(self) -> float | None:
        """After `run`: the time it took, where it measured that itself."""
        return None

    def peak(self) -> int | None:
        """After `run`: the peak of memory in bytes, where that is another process's."""
        return None

    def cleanup(self) -> None:
        """Not timed: after each pass."""


class Reading(Setting):
    """Iterates over `source`, which can be iterated again and again.

    Args:
      records: gives the records (bytes-like) of one item; None if an item is a record.
      count: gives the number of records of one item.
    """

    def __init__(
        self,
        label: str,
        source: Iterable[Any] | Callable[[], Iterable[Any]],
        records: Callable[[Any], Iterable[bytes]] | None = None,
        count: Callable[[Any], int] = len,
        row: str = "",
        order: str = "file",
    ) -> None:
        super().__init__(label, row)
        self.open: Callable[[], Iterable[Any]] = source if callable(source) else lambda: source
        self.records = records
        self.count = count
        self.order = order

    def run(self) -> int:
        n = 0
        if self.records is None:
            for _ in self.open():
                n += 1
        else:
            count = self.count
            for item in self.open():
                n += count(item)
        return n

    def answer(self) -> Answer:
        if self.records is None:
            return digest(self.open())
        return digest(record for item in self.open() for record in self.records(item))


class Tallying(Reading):
    """As Reading, where the answer is only how many records and bytes there are: for data too large to look at twice.
    Without `records` an item is asked for its count alone."""

    partial = True

    def run(self) -> int:
        return sum(map(self.count, self.open()))

    def answer(self) -> Answer:
        if self.records is None:
            return {"records": self.run()}
        sizes = [len(record) for item in self.open() for record in self.records(item)]
        return {"records": len(sizes), "bytes": sum(sizes)}


class Parsing(Reading):
    """As Reading, of items that hold columns: `columns` gives those of one item, as columns.py has them, by name."""

    def __init__(
        self,
        label: str,
        source: Iterable[Any] | Callable[[], Iterable[Any]],
        columns: Callable[[Any], Any],
        count: Callable[[Any], int],
        row: str = "",
        order: str = "file",
    ) -> None:
        super().__init__(label, source, records=list, count=count, row=row, order=order)
        self.columns = columns

    def answer(self) -> Answer:
        from benchmarks.columns import digest_of_columns

        return digest_of_columns(map(self.columns, self.open()))


class Picking(Setting):
    """Asks `pick` for every record once, in an order that is random but the same for all, 1,000 at a time.

    Args:
      pick: from a list or array of record numbers, which count through all files, to an item.
      records: gives the records (bytes-like) of one item.
      numbers: what `pick` wants its numbers in.
    """

    BATCH = 1000

    def __init__(
        self,
        label: str,
        job: Job,
        pick: Callable[[Any], Any],
        records: Callable[[Any], Iterable[bytes]] = list,
        numbers: Callable[[Any], Any] = list,
        row: str = "",
    ) -> None:
        import numpy as np

        super().__init__(label, row)
        self.pick = pick
        self.records = records
        order = np.random.Generator(np.random.PCG64(0)).permutation(job.dataset.records)
        self.order = "file"
        self.numbers = order.tolist()
        self.batches = [numbers(order[i : i + self.BATCH]) for i in range(0, len(order), self.BATCH)]

    def run(self) -> int:
        n = 0
        for batch in self.batches:
            n += len(self.pick(batch))
        return n

    def answer(self) -> Answer:
        """Every record back in its place, so that one that was given for another shows."""
        found: list[bytes] = [b""] * len(self.numbers)
        picked = (bytes(record) for batch in self.batches for record in self.records(self.pick(batch)))
        for number, record in zip(self.numbers, picked, strict=True):
            found[number] = record
        return digest(found)


class Writing(Setting):
    """Calls `write(path, part)` for each output, where `parts` are those of the loaded data."""

    def __init__(
        self,
        label: str,
        job: Job,
        write: Callable[[str, Any], None],
        parts: Sequence[Any],
        row: str = "",
        suffix: str = "",
    ) -> None:
        super().__init__(label, row)
        self.write = write
        self.parts = parts
        self.paths = job.outputs(suffix)
        self.records: int = job.dataset.records

    def run(self) -> int:
        for path, part in zip(self.paths, self.parts, strict=True):
            self.write(path, part)
        return self.records  # what is on the disk is the answer's business

    def answer(self) -> Answer:
        self.run()
        return {"written": self.paths}

    def cleanup(self) -> None:
        for path in self.paths:
            Path(path).unlink(missing_ok=True)


class Importing(Setting):
    """Imports a module in a fresh interpreter, NumPy being there already, and takes the time in it. The size is that of
    the distribution `package` as it is installed, without what it depends on."""

    CODE = (
        "import time, numpy; start = time.perf_counter(); import {module}; "
        "taken = time.perf_counter() - start; "
        "from benchmarks.contenders import peak_memory; print(taken, peak_memory())"
    )

    def __init__(self, module: str, package: str = "") -> None:
        super().__init__(f"import {module}")
        self.installed = installed_bytes(module, package)
        self.code = self.CODE.format(module=module)
        self.taken = 0.0
        self.memory = 0

    def run(self) -> int:
        import subprocess

        done = subprocess.run([sys.executable, "-c", self.code], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        taken, memory = done.stdout.split()[-2:]
        self.taken, self.memory = float(taken), int(memory)
        return 0

    def answer(self) -> Answer:
        self.run()
        return {"installed": self.installed}

    def seconds(self) -> float | None:
        return self.taken

    def peak(self) -> int | None:
        return self.memory


class Counting(Setting):
    """Calls a function that gives a part of the answer; what `run` counts is that answer's `records`, if it
    has it."""

    partial = True

    def __init__(self, label: str, call: Callable[[], Answer], row: str = "",
                 cleanup: Callable[[], None] | None = None) -> None:  # fmt: skip
        super().__init__(label, row)
        self.call = call
        self.clean = cleanup

    def run(self) -> int:
        return int(self.call().get("records", -1))

    def answer(self) -> Answer:
        return self.call()

    def cleanup(self) -> None:
        if self.clean is not None:
            self.clean()


@dataclass(frozen=True)
class Contender:
    """A library, or a floor, that can be measured.

    Args:
      name: as in `--rivals`.
      package: the distribution, whose version is reported.
      module: what has to be importable; "" for nothing.
      install: how to get it.
      leaves_out: what it does not do that the others do ("no CRC"), in a few words.
      ours: this project's.
      floor: what the machine can do at best, rather than a library.
      requirements: what pip installs into an environment of its own, on `--install`, with versions.
    """

    name: str
    title: str
    tasks: dict[str, Callable[[Job], list[Setting]]]
    package: str = ""
    module: str = ""
    install: str = ""
    leaves_out: str = ""
    ours: bool = False
    floor: bool = False
    requirements: tuple[str, ...] = ()
    unavailable: Callable[[], str | None] = lambda: None
    environment: dict[str, str] = field(default_factory=dict)  # variables set in its process

    def python(self) -> str:
        """The interpreter it runs in: that of its own environment, where there is one."""
        return str(rivals.interpreter(self.name) or sys.executable)

    def why_not(self) -> str | None:
        """Why it can't run here, in words; None if it can."""
        own = rivals.interpreter(self.name)
        if own is None and self.module and not importable(self.module):
            offered = [f"--install {self.name}"] if self.requirements else []
            return f"not installed: {' or '.join([*filter(None, [self.install]), *offered]) or self.module}"
        return self.unavailable()

    def version(self) -> str:
        try:
            return importlib.metadata.version(self.package) if self.package else ""
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(sys.modules.get(self.module), "__version__", ""))


def importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def installed_bytes(module: str, package: str) -> int:
    """Of the files that the distribution lists, or of the package's folder where it is not installed but found."""
    try:
        files = importlib.metadata.files(package or module) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    located = {Path(str(file.locate())) for file in files if file.suffix != ".pyc"}
    spec = importlib.util.find_spec(module)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        located |= {path for path in Path(folder).rglob("*") if "__pycache__" not in path.parts}
    return sum(path.stat().st_size for path in {path.resolve() for path in located} if path.is_file())


def index_of(path: str, folder: Path) -> str:
    """Writes the index of a TFRecord file, as `tfrecord2idx` does: a line "offset size" a record."""
    target = folder / f"{Path(path).name}-{zlib.crc32(path.encode()):08x}.idx"
    offset = 0
    with open(target, "w") as file:
        for record in frames(path, check=False):
            size = len(record) + 16
            file.write(f"{offset} {size}\n")
            offset += size
    return str(target)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shards_of(files: Sequence[str]) -> str:
    return f"{len(files):,} shard{'s' * (len(files) > 1)}"


def peak_memory() -> int:
    """The peak of this process's resident memory in bytes, 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def load(path: Path) -> Contender:
    """The contender of a file, wherever it is."""
    spec = importlib.util.spec_from_file_location(f"benchmarks.contenders.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CONTENDER  # type: ignore[no-any-return]


def found() -> dict[str, Path]:
    """The files of this folder by the contender's name: ours, then the rivals, then the floor."""
    paths = [Path(module.module_finder.path) / f"{module.name}.py"  # type: ignore[union-attr]
             for module in pkgutil.iter_modules(__path__)]  # fmt: skip
    contenders = sorted(((load(path), path) for path in paths), key=lambda c: (not c[0].ours, c[0].floor, c[0].name))
    return {contender.name: path for contender, path in contenders}


__all__ = [
    "CannotError",
    "Contender",
    "Counting",
    "Dataset",
    "Importing",
    "Job",
    "Parsing",
    "Picking",
    "Reading",
    "Setting",
    "Writing",
    "found",
    "index_of",
    "load",
]
