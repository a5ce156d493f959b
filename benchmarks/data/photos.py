"""Synthetic photographs as JPEGs, the images that are computed from them, and the reference's answer by Pillow.

A photograph has ellipses with soft and hard edges, a texture whose amplitudes fall with frequency, and a sensor's
noise. A JPEG of it has the size of a photograph's, and takes as long to decode.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.answers import Answer
from benchmarks.data.dataset import Dataset
from benchmarks.data.reference import kept_answer
from benchmarks.data.workloads import INT64, Columns, Feature, Images

SIZE, SHORTER_SIDE = 224, 256  # of a computed image, and of a photograph before its centre is cut out
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)  # of a random crop: its part of the area, and its width by its height
DECODE, EVALUATE, TRAIN = "decode", "evaluate", "train"
Pixels = NDArray[Any]
FEATURES = {"image": Feature("fixed", "string"), "label": INT64}


@dataclass(frozen=True)
class Photographs(Images):
    """Examples of a JPEG and a label, which differs from record to record.

    Args:
      step: what is computed from a photograph.
      sizes: heights and widths, each as common as it is in the list.
      quality: of the JPEGs.
    """

    step: str = DECODE
    sizes: tuple[tuple[int, int], ...] = ((375, 500),)
    quality: int = 96

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        sizes = [self.sizes[i] for i in rng.integers(0, len(self.sizes), n)]
        return {
            "image": [jpeg(photograph(rng, height, width), self.quality) for height, width in sizes],
            "label": rng.integers(0, 2**40, n),
        }


def jpeg(pixels: Pixels, quality: int) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return file.getvalue()


def photograph(rng: np.random.Generator, height: int, width: int) -> Pixels:
    """Return pixels of a synthetic photograph."""
    canvas = np.full((height, width, 3), rng.uniform(60, 200, 3), np.float32)
    radii = np.minimum((rng.pareto(1.6, 120) + 1) * 0.02, 0.45) * width
    for radius in np.sort(radii)[::-1]:
        add_ellipse(canvas, rng, radius)
    texture = spectrum_noise(rng, height, width, 1.1)
    strength = np.maximum(1 + spectrum_noise(rng, height, width, 2.2), 0.05)
    canvas += (17 * strength * texture)[..., None] * np.array([1, 0.97, 0.9], np.float32)
    canvas += 2.5 * rng.standard_normal((height, width, 1), np.float32)
    canvas += 1.5 * rng.standard_normal((height, width, 3), np.float32)
    return np.clip(canvas, 0, 255).astype(np.uint8)


def add_ellipse(canvas: Pixels, rng: np.random.Generator, radius: float) -> None:
    """Paint an ellipse of a random colour and shading over the canvas."""
    height, width, _ = canvas.shape
    y, x = rng.uniform(0, height), rng.uniform(0, width)
    tall = radius * rng.uniform(0.5, 1.5)
    rows = np.arange(max(0, int(y - tall)), min(height, int(y + tall) + 1))
    columns = np.arange(max(0, int(x - radius)), min(width, int(x + radius) + 1))
    down, across = (rows - y)[:, None, None] / tall, (columns - x)[None, :, None] / radius
    softness = rng.choice([1.0, 2.0, 5.0])
    cover = np.clip((1 - down**2 - across**2) * min(radius, tall) / (2 * softness), 0, 1)
    colour = rng.normal(120, 55) + rng.normal(0, 22, 3)
    shaded = colour + rng.normal(0, 15) * down + rng.normal(0, 15) * across
    window = canvas[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    window += cover * (shaded - window)


def spectrum_noise(rng: np.random.Generator, height: int, width: int, exponent: float) -> Pixels:
    """Return noise of variance 1 whose amplitudes fall with the frequency, as its power `-exponent`."""
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    frequency[0, 0] = np.inf
    amplitude = rng.standard_normal(frequency.shape) + 1j * rng.standard_normal(frequency.shape)
    noise = np.fft.irfft2(amplitude * frequency**-exponent, (height, width))
    return (noise / noise.std()).astype(np.float32)


SIZES = ((375, 500), (375, 500), (375, 500), (333, 500), (500, 375), (400, 500), (333, 500), (500, 333))
PHOTOS: dict[str, Photographs] = {
    workload.name: workload
    for workload in (
        Photographs(
            f"photos-{step}",
            f"JPEGs of about 500 × 375: {title}",
            512,
            110_000,
            FEATURES,
            batch=256,
            chunk=16,
            step=step,
            sizes=SIZES,
        )
        for step, title in {
            DECODE: "decode",
            EVALUATE: f"decode, resize the shorter side to {SHORTER_SIDE}, cut out the central {SIZE} × {SIZE}",
            TRAIN: f"decode, resize a random crop to {SIZE} × {SIZE}, flip at random",
        }.items()
    )
}
PHOTOS["photos-large"] = Photographs(
    "photos-large",
    f"JPEGs of 2,000 × 1,500: decode, resize a random crop to {SIZE} × {SIZE}, flip at random",
    48,
    870_000,
    FEATURES,
    batch=32,
    chunk=4,
    step=TRAIN,
    sizes=((1500, 2000),),
    quality=90,
)


def resized_size(height: int, width: int) -> tuple[int, int]:
    """Return the height and width of a photograph whose shorter side is resized to SHORTER_SIDE."""
    shorter = min(height, width)
    return int(SHORTER_SIDE * height / shorter), int(SHORTER_SIDE * width / shorter)


def photos_answer(dataset: Dataset, cache: Path) -> Answer:
    """Return Pillow's answer to a workload of photographs, kept in the folder `cache`."""
    step = PHOTOS[dataset.name].step

    def answer(batches: Iterable[Any]) -> Answer:
        labelled = (
            (int(label), np.asarray(computed_photo(image, step)))
            for batch in batches
            for label, image in zip(batch["label"].values, batch["image"].values, strict=True)
        )
        return described_images(labelled, step)

    return kept_answer(f"photos-{step}", dataset, cache, answer)


def described_images(labelled: Iterable[tuple[int, Pixels]], step: str) -> Answer:
    """Describe images [h, w, 3] of levels 0 to 255, each with its label, for `elements.difference_of_images`.

    An image is described by its shape and its levels at some pixels. Where the crop is random, all images are described
    by the mean and deviation of their levels.
    """
    images: dict[str, list[Any]] = {}
    means, squares = [], []
    for label, image in labelled:
        if step == TRAIN:
            levels = image.astype(np.float32)
            means.append(float(levels.mean()))
            squares.append(float(np.square(levels).mean()))
            images[str(label)] = [[], ""]
            continue
        levels = np.clip(np.rint(image[::15, ::15]), 0, 255).astype(np.uint8)
        images[str(label)] = [list(image.shape), base64.b64encode(levels.tobytes()).decode()]
    answer: Answer = {"of": images}
    if means:
        mean = sum(means) / len(means)
        answer |= {"mean": mean, "deviation": math.sqrt(sum(squares) / len(squares) - mean**2)}
    return {"records": len(images), "images": answer}


def computed_photo(data: bytes | Path, step: str) -> Any:
    """Return the image of a step by Pillow, as one of Pillow's; the whole photograph where the crop is random."""
    from PIL import Image

    photo = Image.open(io.BytesIO(data) if isinstance(data, bytes) else data).convert("RGB")
    if step != EVALUATE:
        return photo
    height, width = resized_size(photo.height, photo.width)
    top, left = (height - SIZE) // 2, (width - SIZE) // 2
    photo = photo.resize((width, height), Image.Resampling.BILINEAR)
    return photo.crop((left, top, left + SIZE, top + SIZE))
