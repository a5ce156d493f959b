"""Makes a workload's files and keeps them under benchmarks/.data, in a folder named after all that they depend on."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.data.answers import digest_of_files, frames, masked_crc
from benchmarks.data.dataset import Dataset
from benchmarks.data.pipelines import EVERY
from benchmarks.data.places import kept
from benchmarks.data.workloads import GENERATOR, Workload

CACHE = kept(".data")
POOL_BYTES = 16_000_000  # below this, starting processes takes longer than the work

Call = tuple[Callable[..., None], Sequence[Any]]


def dataset_of(
    workload: Workload, scale: float = 1.0, seed: int = 0, gzip: bool = False, cache: Path = CACHE
) -> Dataset:
    """The files of a workload at `scale` times its records, made if they are not there yet.

    Args:
      gzip: with a GZIP variant (level 6, one member, as TensorFlow's writer makes it) of each file.
    """
    records = workload.records_at(scale)
    key = f"{GENERATOR}/{workload.name}/{records}/{workload.shards}/{seed}"
    folder = cache / f"{workload.name}-{records}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    if not folder.exists():
        make(workload, records, seed, folder)
    dataset = Dataset.from_json(json.loads((folder / "dataset.json").read_text()))
    files = [str(folder / name) for name in dataset.files]
    packed = [f"{path}.gz" for path in files] if gzip else []
    in_parallel(
        [(compress, (plain, gz)) for plain, gz in zip(files, packed, strict=False) if not os.path.exists(gz)],
        dataset.file_bytes,
    )
    return replace(
        dataset, files=files, gzip_files=packed, gzip_bytes=sum(map(os.path.getsize, packed)), folder=str(folder)
    )


def make(workload: Workload, records: int, seed: int, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        names = [f"train-{i:05}-of-{workload.shards:05}.tfrecord" for i in range(workload.shards)]
        files = [str(draft / name) for name in names]
        in_parallel(
            [(write_shard, (workload.name, shard, records, seed, file)) for shard, file in enumerate(files)],
            records * workload.mean_bytes * workload.shards,
        )
        dataset = Dataset(
            name=workload.name,
            files=names,
            gzip_files=[],
            batch=workload.batch,
            file_bytes=sum(map(os.path.getsize, files)),
            gzip_bytes=0,
            answer=digest_of_files(files),
            features={name: list(f) for name, f in workload.features.items()},
            sequences={name: list(f) for name, f in workload.sequences.items()},
        )
        (draft / "dataset.json").write_text(json.dumps(dataset.as_json(), indent=1))
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def resharded(dataset: Dataset, numbers: Sequence[int]) -> Dataset:
    """The dataset, with the same records in other numbers of shards as well."""
    return replace(dataset, shardings=[over(dataset, shards) for shards in numbers])


def in_shards(dataset: Dataset, shards: int) -> Dataset:
    """The dataset, with the same records in that many files instead."""
    folder = Path(dataset.folder) / f"of-{shards}"  # for parts, which have as many
    return replace(dataset, files=over(dataset, shards), gzip_files=[], gzip_bytes=0, folder=str(folder))


def over(dataset: Dataset, shards: int) -> list[str]:
    """The records in that many files, made next to the dataset's if they are not there yet."""
    folder = Path(dataset.files[0]).parent / f"shards-{shards}"
    if not folder.exists():
        draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            records = (record for path in dataset.files for record in frames(path, check=False))
            for i in range(shards):
                n = dataset.records * (i + 1) // shards - dataset.records * i // shards
                (draft / f"{i:05}-of-{shards:05}.tfrecord").write_bytes(framed(islice(records, n)))
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return sorted(str(path) for path in folder.iterdir())


def repeated(dataset: Dataset, size: float) -> Dataset:
    """The dataset's records over and over in one file of about `size` bytes, or of half the free space if that is less.
    The file is in a folder of its own, which the caller removes."""
    folder = Path(tempfile.mkdtemp(prefix="large.", dir=Path(dataset.files[0]).parent))
    size = min(size, shutil.disk_usage(folder).free / 2)
    times = max(1, round(size / dataset.file_bytes))
    path = folder / "large.tfrecord"
    try:
        with open(path, "wb") as out:
            for source in dataset.files * times:
                with open(source, "rb") as file:
                    shutil.copyfileobj(file, out, 1 << 22)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    answer = {name: dataset.answer[name] * times for name in ("records", "bytes")}
    return replace(dataset, files=[str(path)], file_bytes=path.stat().st_size, answer=answer, folder=str(folder))


def in_parallel(calls: list[Call], total_bytes: int) -> None:
    if total_bytes < POOL_BYTES or len(calls) < 2:
        for function, arguments in calls:
            function(*arguments)
        return
    with ProcessPoolExecutor(min(len(calls), os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        for running in [pool.submit(function, *arguments) for function, arguments in calls]:
            running.result()


def write_shard(name: str, shard: int, records: int, seed: int, path: str) -> None:
    with open(path, "wb") as file:
        for _, serialized in EVERY[name].chunks(shard, records, seed):
            file.write(framed(serialized))


def framed(records: Iterable[bytes]) -> bytes:
    parts = []
    for record in records:
        length = struct.pack("<Q", len(record))
        parts += [
            length,
            struct.pack("<I", masked_crc(length)),
            record,
            struct.pack("<I", masked_crc(record)),
        ]
    return b"".join(parts)


def compress(plain: str, packed: str) -> None:
    """GZIP with the parameters of TensorFlow's writer: level 6, mem_level 9, one member."""
    draft = f"{packed}.{os.getpid()}"
    with open(plain, "rb") as source, open(draft, "wb") as sink:
        deflate = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS + 16, 9)
        while block := source.read(1 << 20):
            sink.write(deflate.compress(block))
        sink.write(deflate.flush())
    os.rename(draft, packed)
