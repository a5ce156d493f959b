"""The pipelines: scripts as people publish them, and the records that each of them reads."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import wire
from benchmarks.data.photos import PHOTOS
from benchmarks.data.workloads import FLOAT, INT64, WORKLOADS, Columns, Feature, Ragged, Scalars, Sequences, Workload

SCRIPTS = Path(__file__).parent / "scripts"
IMPORT = "import tensorflow as tf"
BYTES = Feature("fixed", "string")
IMAGES = 0.01  # decoders of JPEG and methods to resize differ by a level here and there
Rows = Callable[[np.random.Generator, int], Columns]


@dataclass(frozen=True)
class Lists(Workload):
    """Examples of lists, scalars and strings, whose columns `rows` makes."""

    rows: Rows = lambda rng, n: {}

    def columns(self, rng: np.random.Generator, n: int) -> Columns:
        return self.rows(rng, n)

    def encode(self, columns: Columns, order: list[str]) -> list[bytes]:
        entries = [list_entries(name, columns[name]) for name in order]
        return [wire.message(parts) for parts in zip(*entries, strict=True)]


def list_entries(name: str, column: Any) -> list[bytes]:
    """Encode the map entry of each record."""
    if isinstance(column, list):
        return [wire.list_entry(name, "string", value) for value in column]
    if not isinstance(column, Ragged) and column.ndim == 1:
        return wire.scalar_entries(name, column.dtype.name, column).split()
    if not isinstance(column, Ragged):
        column = Ragged(column.ravel(), np.full(len(column), column[0].size))
    values, lengths = column
    if values.dtype == np.float32:
        packed = wire.split(values.astype("<f4").tobytes(), 4 * lengths)
    else:
        varints = wire.varints(values)
        sizes = np.concatenate([[0], np.cumsum(np.count_nonzero(varints.mask, axis=1))])
        ends = sizes[np.cumsum(lengths)]
        packed = wire.split(varints.data[varints.mask].tobytes(), np.diff(ends, prepend=0))
    return [wire.list_entry(name, values.dtype.name, data) for data in packed]


def photo(rng: np.random.Generator, height: int, width: int) -> bytes:
    """Return a JPEG of blurred spots and a little noise, which compresses like a photograph."""
    from PIL import Image

    spots = Image.fromarray(rng.integers(0, 256, (9, 9, 3), np.uint8)).resize((width, height), Image.Resampling.BICUBIC)
    noise = rng.integers(-6, 7, (height, width, 1), np.int16)
    pixels = np.clip(np.asarray(spots, np.int16) + noise, 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=85)
    return file.getvalue()


def flowers(rng: np.random.Generator, n: int) -> Columns:
    return {"image": [photo(rng, 200, 200) for _ in range(n)], "class": rng.integers(0, 104, n)}


def objects(rng: np.random.Generator, n: int) -> Columns:
    counts = rng.integers(0, 13, n)
    total = int(counts.sum())
    low = rng.random((2, total), np.float32) / 2
    corners = zip(
        ("xmin", "ymin", "xmax", "ymax"), (*low, *(low + rng.random((2, total), np.float32) / 2)), strict=True
    )
    images = [photo(rng, int(height), int(width)) for height, width in rng.integers(160, 257, (n, 2))]
    return {
        "image/encoded": images,
        **{f"image/object/bbox/{name}": Ragged(values, counts) for name, values in corners},
        "image/object/class/label": Ragged(rng.integers(0, 80, total), counts),
    }


def sentences(rng: np.random.Generator, n: int) -> Columns:
    mask = (np.arange(128) < rng.integers(16, 129, n)[:, None]).astype(np.int64)
    return {
        "input_ids": rng.integers(100, 30_522, (n, 128)) * mask,
        "input_mask": mask,
        "segment_ids": mask * (np.arange(128) >= rng.integers(8, 100, n)[:, None]),
        "label_ids": rng.integers(0, 3, n),
    }


def token_lists(rng: np.random.Generator, n: int) -> Columns:
    return {"input_token_ids": ragged_tokens(rng, rng.integers(64, 513, n))}


def texts(rng: np.random.Generator, n: int) -> Columns:
    return {"tokens": ragged_tokens(rng, rng.integers(16, 241, n)), "label": rng.integers(0, 5, n)}


def ragged_tokens(rng: np.random.Generator, lengths: NDArray[np.int64]) -> Ragged:
    return Ragged(rng.integers(1, 50_000, int(lengths.sum())), lengths)


def words(rng: np.random.Generator, n: int) -> Columns:
    return {"audio": rng.standard_normal((n, 16_384), np.float32), "label": rng.integers(0, 35, n)}


def bands(rng: np.random.Generator, n: int) -> Columns:
    return {name: rng.random((n, 256 * 256), np.float32) for name in ("B2", "B3", "B4", "impervious")}


def classes(rng: np.random.Generator, n: int) -> Columns:
    return {"features": rng.standard_normal((n, 32), np.float32), "label": rng.integers(0, 10, n)}


def signals(rng: np.random.Generator, n: int) -> Columns:
    return {
        "signal": rng.standard_normal((n, 256), np.float32),
        "backwards": rng.integers(0, 2, n),
        "label": rng.integers(0, 10, n),
    }


@dataclass(frozen=True)
class Pipeline:
    """A script and its records.

    Args:
      tolerance: of floats, as a part of a batch's sum; 0 if they must be equal bit by bit.
      ordered: without shuffling, the order of the records is that of the file.
      flipped: images are mirrored at random.
      varies: what a shuffled epoch holds depends on the order: records of an incomplete batch are dropped, or the
        padding is not zero.
    """

    workload: Workload
    tolerance: float = 0.0
    ordered: bool = True
    flipped: bool = False
    varies: bool = False

    def script(self, module: str) -> str:
        """Return the script's text with `module` in place of TensorFlow."""
        text = (SCRIPTS / f"{self.workload.name.replace('-', '_')}.py").read_text()
        assert text.count(IMPORT) == 1
        return text.replace(IMPORT, f"import {module} as tf")


TOKENS = Feature("varlen", "int64")
FLOATS = Feature("varlen", "float32")
BERT = {name: Feature("fixed", "int64", (128,)) for name in ("input_ids", "input_mask", "segment_ids")}
FLOWERS = {"image": BYTES, "class": INT64}
OBJECTS = {
    "image/encoded": BYTES,
    **{f"image/object/bbox/{name}": FLOATS for name in ("xmin", "ymin", "xmax", "ymax")},
    "image/object/class/label": TOKENS,
}
BANDS = {name: Feature("fixed", "float32", (256, 256)) for name in ("B2", "B3", "B4", "impervious")}
SIGNALS = {"signal": Feature("fixed", "float32", (256,)), "backwards": INT64, "label": INT64}

PIPELINES: dict[str, Pipeline] = {
    pipeline.workload.name: pipeline
    for pipeline in (
        Pipeline(
            Lists("jpeg-augment", "JPEGs of 200 × 200, resized, flipped at random", 200, 8_730, FLOWERS, rows=flowers),
            tolerance=IMAGES,
            flipped=True,
        ),
        Pipeline(
            Lists("jpeg-onehot", "JPEGs of 200 × 200, one-hot labels", 300, 8_730, FLOWERS, rows=flowers),
            tolerance=IMAGES,
            ordered=False,
        ),
        Pipeline(
            Lists("detection", "JPEGs, resized, with 0 to 12 boxes, padded", 150, 9_800, OBJECTS, rows=objects),
            tolerance=IMAGES,
            varies=True,
        ),
        Pipeline(
            Lists("bert-outside", "BERT's three lists of 128", 6_000, 585, BERT | {"label_ids": INT64}, rows=sentences),
            varies=True,
        ),
        Pipeline(
            Lists(
                "bert-inside",
                "the same, features described in the function",
                6_000,
                585,
                BERT | {"label_ids": INT64},
                rows=sentences,
            )
        ),
        Pipeline(
            Lists(
                "tokens", "lists of 64 to 512 tokens, padded", 4_000, 796, {"input_token_ids": TOKENS}, rows=token_lists
            )
        ),
        Pipeline(
            Scalars(
                "ctr-40",
                "40 scalars, two stacks, a logarithm",
                5_000,
                619,
                {f"C{i}": INT64 for i in range(1, 27)} | {f"I{i}": FLOAT for i in range(1, 14)} | {"label": INT64},
            ),
            tolerance=1e-6,
        ),
        Pipeline(
            Lists(
                "speech",
                "16,384 floats of sound",
                400,
                65_600,
                {"audio": Feature("fixed", "float32", (16_384,)), "label": INT64},
                rows=words,
            )
        ),
        Pipeline(Lists("patches", "four bands of 256 × 256, stacked", 32, 1_048_700, BANDS, chunk=32, rows=bands)),
        Pipeline(
            Sequences(
                "sequences",
                "SequenceExamples of two lists of 1 to 30 steps, padded",
                4_000,
                788,
                {"user_id": INT64, "score": FLOAT},
                {"items": Feature("sequence", "int64"), "frames": Feature("sequence", "float32", (8,))},
            )
        ),
        Pipeline(
            Lists(
                "filter",
                "32 floats; half of the labels, where, one-hot",
                8_000,
                169,
                {"features": Feature("fixed", "float32", (32,)), "label": INT64},
                rows=classes,
            )
        ),
        Pipeline(
            Lists(
                "cond",
                "16 to 240 tokens, cut or padded by tf.cond",
                5_000,
                386,
                {"tokens": TOKENS, "label": INT64},
                rows=texts,
            )
        ),
        Pipeline(
            Lists("python-if", "256 floats, reversed by a Python if", 8_000, 1_083, SIGNALS, rows=signals),
            tolerance=1e-6,
        ),
    )
}
EVERY: dict[str, Workload] = WORKLOADS | PHOTOS | {name: pipeline.workload for name, pipeline in PIPELINES.items()}
