"""Image files, whose classes are the folders that hold them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ... import _core
from ...images.headers import image_of
from .base import BATCH_BYTES, ROWS, Malformed, Source

EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp")


class ImageSource(Source):
    """Reader of image files: a record for each, with the features of TensorFlow's scripts for ImageNet.

    A label is the number of the class among the names of all folders, sorted.
    """

    def batches(self) -> Iterator[_core.RecordBatch]:
        paths = self.paths()
        classes = sorted({_class_of(path) for path in paths})
        labels = {name: label for label, name in enumerate(classes)}
        rows: list[dict[str, Any]] = []
        size = 0
        for path in paths:
            rows.append(_row_of(path, labels))
            size += len(rows[-1]["image/encoded"])
            if len(rows) == ROWS or size >= BATCH_BYTES:
                yield self._encoded(rows)
                self.advance(size)
                rows, size = [], 0
        if rows:
            yield self._encoded(rows)
            self.advance(size)

    def _encoded(self, rows: list[dict[str, Any]]) -> _core.RecordBatch:
        return self.encode({key: [row[key] for row in rows] for key in rows[0]}, len(rows))


def _class_of(path: str) -> str:
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def _row_of(path: str, labels: dict[str, int]) -> dict[str, Any]:
    with open(path, "rb") as file:
        data = file.read()
    image = image_of(data)
    if image is None:
        raise Malformed(f"{path}: not a JPEG, PNG, GIF, BMP or WebP image")
    format, width, height = image
    name = _class_of(path)
    return {
        "image/encoded": data,
        "image/format": format.encode(),
        "image/height": height,
        "image/width": width,
        "image/class/label": labels[name],
        "image/class/text": os.fsencode(name),
        "image/filename": os.fsencode(os.path.basename(path)),
    }
