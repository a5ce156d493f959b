"""The record files of a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from .compression import CODECS

HIDDEN = (".", "_")  # prefixes of drafts, manifests and markers
_INDEX = ".idx"
_TFRECORDS = ("tfrecord", "tfrecords", "tfrec", "tfr", "tf", "record", "records", "rec", "recordio")
_TFRECORD = re.compile(rf"\.({'|'.join(_TFRECORDS)})(-.*)?", re.IGNORECASE)
_COMPRESSED = {codec.extension for codec in CODECS.values() if codec.extension}


def files_below(folder: str) -> list[str]:
    """Return the record files below a local folder, sorted by name, without hidden ones and indexes.

    Files with the extensions of other formats are left out, unless there is nothing else.
    """
    names = record_names(_below(folder))
    if not names:
        raise FileNotFoundError(2, "no files in the folder", folder)
    return names


def record_names(names: Iterable[str]) -> list[str]:
    """Return the names of record files among those of a folder, sorted; all but indexes if there are none."""
    ordered = sorted(names)
    others = [name for name in ordered if not name.endswith(_INDEX)] or ordered
    return [name for name in others if _may_hold_records(name)] or others


def extension_of(path: str) -> str:
    """Return the extension in lower case, without that of the compression."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in _COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def is_tfrecord_extension(extension: str) -> bool:
    return _TFRECORD.fullmatch(extension) is not None


def _may_hold_records(path: str) -> bool:
    """Return True for names of TFRecord files, and for names without an extension, such as `train-00000-of-00002`."""
    extension = extension_of(path)
    is_bare = not any(map(str.isalpha, extension))
    return is_bare or is_tfrecord_extension(extension) or ".tfrec" in os.path.basename(path).lower()


def _below(folder: str) -> Iterator[str]:
    seen = set()  # links may form circles
    for top, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        status = os.stat(top)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith(HIDDEN))
        yield from (os.path.join(top, name) for name in names if not name.startswith(HIDDEN))


def _raise(error: OSError) -> None:
    raise error
