"""Image files, whose classes are folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ... import _core
from ...images.headers import image_of
from .base import BATCH_BYTES, ROWS, Malformed, Source

EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp")


def images_below(folder: str) -> list[str]:
    """Return the image files below a folder, sorted, without hidden ones."""
    paths = []
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        images = [name for name in names if not name.startswith(".") and name.lower().endswith(EXTENSIONS)]
        paths += [os.path.join(parent, name) for name in images]
    return sorted(paths)


class ImageSource(Source):
    """Reader of image files: a record for each, with the features of TensorFlow's scripts for ImageNet.

    A label is the number of the class among the names of all classes, sorted.
    """

    root: str | None = None  # the folder of the classes' folders; None: a class is the folder that holds the file

    def batches(self) -> Iterator[_core.RecordBatch]:
        paths = self.paths()
        names = self._classes(paths)
        labels = {name: label for label, name in enumerate(sorted({*names, *self._folders()}))}
        rows: list[dict[str, Any]] = []
        size = 0
        for path, name in zip(paths, names, strict=True):
            rows.append(_row_of(path, name, labels[name]))
            size += len(rows[-1]["image/encoded"])
            if len(rows) == ROWS or size >= BATCH_BYTES:
                yield self._encoded(rows)
                self.advance(size)
                rows, size = [], 0
        if rows:
            yield self._encoded(rows)
            self.advance(size)

    def _classes(self, paths: list[str]) -> list[str]:
        """Return the class of each file: the first folder below the root."""
        if self.root is None or not self._folders():
            return [os.path.basename(os.path.dirname(os.path.abspath(path))) for path in paths]
        places = [os.path.relpath(path, self.root).split(os.sep) for path in paths]
        for path, place in zip(paths, places, strict=True):
            if len(place) == 1:
                raise Malformed(f"{path}: lies beside the folders of the classes, in none of them")
        return [place[0] for place in places]

    def _folders(self) -> list[str]:
        """Return the names of the classes' folders, also of those without a file."""
        if self.root is None:
            return []
        folders = [entry.name for entry in os.scandir(self.root) if entry.is_dir()]
        return [name for name in folders if not name.startswith(".")]

    def _encoded(self, rows: list[dict[str, Any]]) -> _core.RecordBatch:
        return self.encode({key: [row[key] for row in rows] for key in rows[0]}, len(rows))


def _row_of(path: str, name: str, label: int) -> dict[str, Any]:
    with open(path, "rb") as file:
        data = file.read()
    image = image_of(data)
    if image is None:
        raise Malformed(f"{path}: not a JPEG, PNG, GIF, BMP or WebP image")
    format, width, height = image
    return {
        "image/encoded": data,
        "image/format": format.encode(),
        "image/height": height,
        "image/width": width,
        "image/class/label": label,
        "image/class/text": os.fsencode(name),
        "image/filename": os.fsencode(os.path.basename(path)),
    }
