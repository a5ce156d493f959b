"""The first part of a dataset, for contenders that would take too long over all of it.

A part is the first records of each file, in files of their own, with the reference's answer to them: a contender that
is timed on it reads TFRecord files as always and is compared with that answer."""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.data.answers import Answer, digest_of_files
from benchmarks.data.dataset import Dataset
from benchmarks.data.generate import compress
from benchmarks.data.reference import answer_of_written, figures_answer, parsed_answer
from benchmarks.data.tasks import Task

SHARES = (0.01, 0.03, 0.1, 0.3)
FEWEST_BYTES, FEWEST_RECORDS = 1_000_000, 64  # in a part
FRAME = 16


class Ladder:
    """The parts of a dataset, from the smallest to all of it, each made when it is first asked for.

    Args:
      keep: folder for parts of data that has no folder of its own.
      first: what is done with each of them before anybody gets it.
    """

    def __init__(
        self, task: Task, dataset: Dataset | None, keep: Path, first: Callable[[Dataset], None] | None = None
    ) -> None:
        self.task = task
        self.whole = dataset
        self.keep = keep
        self.shares = [*shares_of(task, dataset), 1.0]
        self.first = first
        self.made: dict[float, Dataset] = {}
        self.read: dict[bytes, Answer] = {}  # by a hash of the files' bytes

    def dataset(self, share: float) -> Dataset | None:
        if self.whole is None:
            return None
        if share not in self.made:
            folder = Path(self.whole.folder or self.keep)
            dataset = self.whole if share == 1.0 else part_of(self.whole, share, self.task, folder)
            if self.first is not None:
                self.first(dataset)
            self.made[share] = dataset
        return self.made[share]

    def written(self, paths: list[str], dataset: Dataset) -> Answer:
        """The reference's answer to what a contender wrote. The same bytes are read once: most settings write the same,
        many those of the dataset.

        Raises:
          ValueError: the files are damaged, or their records do not fit the features.
        """
        if not self.task.parsed:
            self.read.setdefault(hash_of(dataset.files), dataset.answer)
        key = hash_of(paths)
        if key not in self.read:
            self.read[key] = answer_of_written(paths, dataset) if self.task.parsed else digest_of_files(paths)
        return self.read[key]

    def exact(self, share: float) -> float:
        """The share of the bytes that the part really has, as records are not cut."""
        part = self.dataset(share)
        return part.file_bytes / self.whole.file_bytes if part and self.whole else 1.0


def hash_of(paths: Sequence[str]) -> bytes:
    """Of the bytes of files, and where each ends."""
    total = hashlib.sha256()
    for path in paths:
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        total.update(digest.digest())
    return total.digest()


def shares_of(task: Task, dataset: Dataset | None) -> Sequence[float]:
    if (
        dataset is None
        or dataset.shardings
        or task.repeated
        or task.scripted
        or task.images  # a part of a few batches keeps few workers busy
        or (dataset.gzip_files and dataset.compression != "GZIP")
    ):
        return ()
    return [
        share
        for share in SHARES
        if dataset.file_bytes * share >= FEWEST_BYTES and dataset.records * share >= FEWEST_RECORDS
    ]


def part_of(dataset: Dataset, share: float, task: Task, folder: Path) -> Dataset:
    """The part, made in `folder` if it is not there yet."""
    target = folder / f"part-{share:g}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
        try:
            for path, name in zip(dataset.files, names(dataset), strict=True):
                copy_head(path, draft / name, share)
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    files = [str(target / name) for name in names(dataset)]
    packed = [f"{path}.gz" for path in files] if dataset.gzip_files else []
    for plain, gz in zip(files, packed, strict=False):
        if not os.path.exists(gz):
            compress(plain, gz)
    part = replace(
        dataset,
        files=files,
        gzip_files=packed,
        file_bytes=sum(map(os.path.getsize, files)),
        gzip_bytes=sum(map(os.path.getsize, packed)),
        folder=str(target),
    )
    return replace(part, answer=answer_of(part, task, target))


def answer_of(part: Dataset, task: Task, folder: Path) -> dict[str, object]:
    if task.parsed and (part.features or part.sequences):
        return parsed_answer(part, folder)
    answer = digest_of_files(part.files)
    return answer | {"figures": figures_answer(part, folder)} if task.figures and part.features else answer


def names(dataset: Dataset) -> list[str]:
    return [f"{i:05}-of-{len(dataset.files):05}.tfrecord" for i in range(len(dataset.files))]


def copy_head(path: str, target: Path, share: float) -> None:
    """Copies the first records of a file, as few as together have `share` of its bytes.

    Raises:
      ValueError: the file ends within them.
    """
    size = os.path.getsize(path)
    wanted = size * share
    end = 0
    with open(path, "rb") as file:
        while end < wanted:
            file.seek(end)
            header = file.read(8)
            end += struct.unpack("<Q", header)[0] + FRAME if len(header) == 8 else size
            if end > size:
                raise ValueError(f"{path}: truncated, or not a TFRecord file")
        file.seek(0)
        with open(target, "wb") as out:
            while end > 0:
                block = file.read(min(end, 1 << 20))
                out.write(block)
                end -= len(block)
