"""PyTorch's DataLoader over a folder of JPEGs, with torchvision or Pillow in its workers
(https://pytorch.org/vision/stable/)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.contenders import Contender, Job, Setting, cores
from benchmarks.contenders.kit.imaging import (
    ANTIALIAS,
    Photos,
    collated,
    computed,
    count_of,
    of_arrays,
    photos_of,
    step_of,
)
from benchmarks.contenders.kit.importing import importable
from benchmarks.data.photos import DECODE, EVALUATE, RATIO, SCALE, SHORTER_SIDE, SIZE

Compute = Callable[[Path], Any]


class Folder:
    """A dataset with one JPEG for each number; the label is the file's name, as ImageFolder has it by folder."""

    def __init__(self, paths: list[Path], compute: Compute) -> None:
        self.paths = paths
        self.compute = compute

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        path = self.paths[number]
        return self.compute(path), int(path.stem)


class ByPillow:
    def __init__(self, step: str) -> None:
        self.step = step

    def __call__(self, path: Path) -> Any:
        return computed(self.step, path)


class ByTorchvision:
    """Transforms v2 of tensors that torchvision has decoded."""

    def __init__(self, step: str) -> None:
        from torchvision.transforms import v2

        steps: list[Any] = []
        if step == EVALUATE:
            steps = [v2.Resize(SHORTER_SIDE, antialias=True), v2.CenterCrop(SIZE)]
        elif step != DECODE:
            steps = [v2.RandomResizedCrop(SIZE, SCALE, RATIO, antialias=True), v2.RandomHorizontalFlip()]
        self.transform = v2.Compose(steps) if steps else None

    def __call__(self, path: Path) -> Any:
        from torchvision.io import ImageReadMode, decode_image

        image = decode_image(str(path), ImageReadMode.RGB)
        return image if self.transform is None else self.transform(image)


def images(job: Job) -> list[Setting]:
    step = step_of(job)
    paths = [written(job, label, data) for photos in photos_of(job) for label, data in photos]
    ways: dict[str, Any] = {"Pillow": ByPillow} | ({"torchvision": ByTorchvision} if importable("torchvision") else {})
    row = "" if step == DECODE else f", {ANTIALIAS}"
    return [
        loader(job, Folder(paths, way(step)), workers, f"{name}{row}", name == "torchvision")
        for name, way in ways.items()
        for workers in (0, cores())
    ]


def written(job: Job, label: int, data: bytes) -> Path:
    path = job.scratch / f"{label}.jpg"
    path.write_bytes(data)
    return path


def loader(job: Job, folder: Folder, workers: int, row: str, tensors: bool) -> Setting:
    from torch.utils.data import DataLoader

    data: Any = folder
    batches: Any = DataLoader(
        data,
        batch_size=job.dataset.batch,
        num_workers=workers,
        persistent_workers=workers > 0,
        collate_fn=stacked if tensors else collated,
    )
    label = f"DataLoader, {workers} workers" if workers else "DataLoader"
    return Photos(job, label, batches, channels_last if tensors else of_arrays, count_of, row)


def stacked(rows: list[tuple[Any, int]]) -> Any:
    """Return a batch of tensors; photographs of several sizes in a list."""
    import torch

    images, labels = zip(*rows, strict=True)
    same = len({image.shape for image in images}) == 1
    return (torch.stack(images) if same else list(images)), torch.tensor(labels)


def channels_last(batch: Any) -> Any:
    images, labels = batch
    return ((label, image.permute(1, 2, 0).numpy()) for label, image in zip(labels, images, strict=True))


CONTENDER = Contender(
    "torch",
    "PyTorch",
    package="torch",
    module="torch",
    install="pip install torch",
    leaves_out="reads a folder of JPEGs; no checksums",
    checks=False,
    requirements=("torch==2.14.1", "torchvision==0.29.1", "pillow", "numpy", "protobuf"),
    tasks={"images": images},
)
