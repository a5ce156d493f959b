"""WebDataset: the same records as samples of tar files (https://github.com/webdataset/webdataset)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from benchmarks.contenders import CannotError, Contender, Job, Reading, Setting, cores
from benchmarks.contenders.kit.feeding import Feeding, Row, SideBySide, buffer_of, needs
from benchmarks.contenders.kit.imaging import (
    Photos,
    collated,
    computed,
    count_of,
    of_arrays,
    photos_of,
    row_of,
    step_of,
)
from benchmarks.contenders.kit.remote import title_of
from benchmarks.data.answers import frames
from benchmarks.native.store import Store


def train_feed(job: Job) -> list[Setting]:
    """A sample's numbers side by side, in as few arrays as can be: as .npy files that `decode()` reads, or all of a
    sample in one file, of which `numpy.frombuffer` makes arrays. As many tar files as there are TFRecord files."""
    needs("torch")
    job.needs_features()
    layout = SideBySide(job.dataset)
    one = [name for name in ("packed",) if len(layout.strings) < 2]
    paths = {kind: job.outputs(f".{kind}.tar") for kind in ("npy", *one)}
    write(layout, paths)
    ways: dict[str, Any] = {"npy": lambda data: data.decode().map(decoded)}
    if one:
        ways["packed"] = lambda data: data.map(lambda sample: layout.unpacked(sample["packed.bin"]))
    return [loader(job, kind, paths[kind], ways[kind], layout, workers) for workers in (0, 2) for kind in paths]


def loader(job: Job, kind: str, paths: list[str], way: Any, layout: SideBySide, workers: int) -> Setting:
    import webdataset

    buffer = buffer_of(job)
    data = webdataset.WebDataset(paths, shardshuffle=len(paths)).shuffle(buffer, initial=buffer)
    batches = way(data).batched(job.dataset.batch, collation_fn=layout.collated).map(tensors)
    web_loader = webdataset.WebLoader(batches, batch_size=None, num_workers=workers, persistent_workers=workers > 0)
    label = {"npy": "npy, decode()", "packed": "one file a sample, frombuffer"}[kind]
    row = f"DataLoader, {workers} workers" if workers else "DataLoader"
    return Feeding(f"{label}, shuffle({buffer})", web_loader, layout.columns, row)


def write(layout: SideBySide, paths: dict[str, list[str]]) -> None:
    import webdataset

    number = 0
    for i, rows in enumerate(layout.rows()):
        writers = {kind: webdataset.TarWriter(paths[kind][i]) for kind in paths}
        for row in rows:
            key = {"__key__": f"{number:09}"}
            named = {f"{name}.{'npy' if name in layout.numbers else 'bin'}": value for name, value in row.items()}
            writers["npy"].write(key | named)
            if "packed" in writers:
                writers["packed"].write(key | {"packed.bin": layout.packed(row)})
            number += 1
        for writer in writers.values():
            writer.close()


def decoded(sample: dict[str, Any]) -> Row:
    return {name.rpartition(".")[0]: value for name, value in sample.items() if not name.startswith("__")}


def tensors(batch: dict[str, Any]) -> dict[str, Any]:
    import torch

    return {name: value if isinstance(value, list) else torch.from_numpy(value) for name, value in batch.items()}


def images(job: Job) -> list[Setting]:
    """Photographs with their labels, computed by Pillow in workers; as many tar files as there are TFRecord files."""
    needs("torch", "PIL")
    import webdataset

    step, paths = step_of(job), job.outputs(".tar")
    for path, photos in zip(paths, photos_of(job), strict=True):
        with webdataset.TarWriter(path) as writer:
            for label, data in photos:
                writer.write({"__key__": str(label), "jpg": data, "cls": label})

    def image(sample: tuple[bytes, bytes]) -> tuple[Any, int]:
        return computed(step, sample[0]), int(sample[1])

    def loader(workers: int) -> Setting:
        samples = webdataset.WebDataset(paths, shardshuffle=False).to_tuple("jpg", "cls")
        batches = samples.map(image).batched(job.dataset.batch, collation_fn=collated)
        data = webdataset.WebLoader(batches, batch_size=None, num_workers=workers, persistent_workers=workers > 0)
        return Photos(job, f"WebLoader, {workers} workers", data, of_arrays, count_of, row_of(job))

    return [loader(workers) for workers in (0, cores())]


def remote(job: Job) -> list[Setting]:
    """A tar file for each object, read by curl, as it does."""
    needs("torch")
    if shutil.which("curl") is None:
        raise CannotError("needs curl")
    return [of_store(job, files) for files in job.dataset.shardings]


def of_store(job: Job, files: list[str]) -> Setting:
    import webdataset

    folder = job.scratch / f"tar-{len(files)}"
    folder.mkdir()
    paths = [str(folder / f"{i:05}.tar") for i in range(len(files))]
    number = 0
    for source, path in zip(files, paths, strict=True):
        with webdataset.TarWriter(path) as writer:
            for record in frames(source, check=False):
                writer.write({"__key__": f"{number:09}", "bin": record})
                number += 1
    store = Store(paths, job.scratch / f"store-{len(files)}")
    urls = [f"pipe:curl -s -f {store.url(Path(path).name)}" for path in paths]
    workers = 4 if len(files) > 1 else 0  # without workers, several objects take about three times as long
    data = webdataset.WebDataset(urls, shardshuffle=False, empty_check=False)  # a worker may have empty files alone
    batches = data.batched(job.dataset.batch, collation_fn=binaries)
    loader = webdataset.WebLoader(batches, batch_size=None, num_workers=workers)
    label = f"WebDataset(pipe:curl), {workers} workers"
    return Reading(label, loader, list, row=title_of(files), order="any" if workers else "file")


def binaries(samples: list[dict[str, Any]]) -> list[bytes]:
    return [sample["bin"] for sample in samples]


CONTENDER = Contender(
    "webdataset",
    "WebDataset",
    package="webdataset",
    module="webdataset",
    leaves_out="tar files of its own; no checksums",
    checks=False,
    requirements=("webdataset==1.0.2", "torch==2.13.0", "numpy", "pillow", "protobuf"),
    tasks={"train-feed": train_feed, "images": images, "remote": remote},
)
