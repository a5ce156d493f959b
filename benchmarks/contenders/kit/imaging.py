"""The setting that makes batches of images of photographs, and Pillow's steps as data loaders call them. It needs
NumPy."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.reading import Reading, Source
from benchmarks.data.answers import FEW, Answer
from benchmarks.data.photos import (
    DECODE,
    PHOTOS,
    RATIO,
    SCALE,
    SIZE,
    TRAIN,
    Pixels,
    computed_photo,
    described_images,
)
from benchmarks.data.reference import batches_of

ANTIALIAS, BILINEAR = "antialias", "bilinear"  # rows: how images are resized; BILINEAR mixes four pixels only
COMPARED = 64  # images of another pass whose crops are compared
Labelled = Iterable[tuple[Any, Pixels]]


def step_of(job: Job) -> str:
    return PHOTOS[job.dataset.name].step


def row_of(job: Job) -> str:
    """Return the row of a contender whose methods to resize are all Pillow's."""
    return "" if step_of(job) == DECODE else ANTIALIAS


def photos_of(job: Job) -> Iterator[list[tuple[int, bytes]]]:
    """Return the labels and JPEGs of each file, for formats of other projects."""
    for path in job.dataset.files:
        batches = list(batches_of(replace(job.dataset, files=[path]), check=False))
        labels = [label for batch in batches for label in batch["label"].values.tolist()]
        yield list(zip(labels, [image for batch in batches for image in batch["image"].values], strict=True))


class Photos(Reading):
    """Iterates over batches of images.

    Args:
      labelled: the label and the image [h, w, 3] of each record of a batch.
      count: the number of records of a batch.
    """

    def __init__(
        self,
        job: Job,
        label: str,
        source: Source,
        labelled: Callable[[Any], Labelled],
        count: Callable[[Any], int],
        row: str,
    ) -> None:
        super().__init__(label, source, records=list, count=count, row=row, order="any")
        self.step = step_of(job)
        self.labelled = labelled

    def images(self) -> Iterator[tuple[int, Pixels]]:
        """Raises ValueError if an image has another size than the step computes."""
        for batch in self.open():
            for label, image in self.labelled(batch):
                pixels = np.asarray(image)
                if self.step != DECODE and pixels.shape != (SIZE, SIZE, 3):
                    raise ValueError(f"an image has the shape {pixels.shape}, expected {(SIZE, SIZE, 3)}")
                yield int(label), pixels

    def answer(self) -> Answer:
        """Describe the images of a pass.

        Raises:
          ValueError: another pass has the same random crops.
        """
        digests: dict[int, bytes] = {}
        answer = described_images(noted(self.images(), digests), self.step)
        if self.step == TRAIN and answer["records"] >= FEW:
            others: dict[int, bytes] = {}
            for _ in islice(noted(self.images(), others), COMPARED):
                pass
            if sum(digests[label] == digest for label, digest in others.items()) * 2 > len(others):
                raise ValueError("the crops of two passes are the same, not random")
        return answer


def noted(images: Iterator[tuple[int, Pixels]], digests: dict[int, bytes]) -> Iterator[tuple[int, Pixels]]:
    """Pass images on, and keep a digest of each by its label."""
    for label, image in images:
        digests[label] = hashlib.sha256(image.tobytes()).digest()
        yield label, image


def computed(step: str, data: bytes | Path, rng: np.random.Generator | None = None) -> Pixels:
    """Return the image of a step by Pillow."""
    from PIL import Image

    if step != TRAIN:
        return np.asarray(computed_photo(data, step))
    rng = rng or np.random.default_rng()
    photo = computed_photo(data, DECODE)
    photo = photo.crop(random_box(photo.height, photo.width, rng)).resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    return np.asarray(photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else photo)


def random_box(height: int, width: int, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of a random crop, drawn as torchvision's RandomResizedCrop draws it."""
    for _ in range(10):
        area = height * width * rng.uniform(*SCALE)
        ratio = math.exp(rng.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            top, left = int(rng.integers(0, height - h + 1)), int(rng.integers(0, width - w + 1))
            return left, top, left + w, top + h
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return left, top, left + side, top + side


def of_arrays(batch: Any) -> Labelled:
    """Return the labels and images of a batch (images, labels) of arrays, tensors or lists."""
    images, labels = batch
    return zip(labels, images, strict=True)


def count_of(batch: Any) -> int:
    return len(batch[1])


def collated(rows: list[tuple[Pixels, int]]) -> Any:
    """Return a batch of (image, label): images of one size in one array, others in a list."""
    images = [image for image, _ in rows]
    same = len({image.shape for image in images}) == 1
    return (np.stack(images) if same else images), np.array([label for _, label in rows])
