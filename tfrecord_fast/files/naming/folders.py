"""The record files of a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from .compression import CODECS
from .patterns import matching_paths

HIDDEN = (".", "_")  # prefixes of drafts, manifests and markers
# Extensions of other formats, of backups, and of files that are being written.
_OTHERS = frozenset(
    (
        "arrow avro bak bmp bz2 crc csv feather gif h5 hdf5 html idx ipynb jpeg jpg json jsonl lock log md md5 mp4 npy "
        "npz old orc orig parquet part pb pbtxt pdf pickle pkl png py sh sha256 swp tar temp tmp toml tsv txt wav webp "
        "xml yaml yml zip"
    ).split()
)
_TFRECORDS = ("tfrecord", "tfrecords", "tfrec", "tfr", "tf", "record", "records", "rec", "recordio")
_TFRECORD = re.compile(rf"\.({'|'.join(_TFRECORDS)})(-.*)?", re.IGNORECASE)
_COMPRESSED = {codec.extension for codec in CODECS.values() if codec.extension}


def files_below(folder: str) -> list[str]:
    """Return the record files below a local folder, sorted by name, without hidden ones.

    Files with the extensions of other formats, backups and unfinished files are left out, unless there is nothing else.
    """
    names = record_names(_below(folder))
    if not names:
        raise FileNotFoundError(2, "no files in the folder", folder)
    return names


def files_matching(pattern: str) -> list[str]:
    """Return the files that a local pattern matches, sorted, with the record files below folders that match."""
    names = matching_paths(pattern, recursive=True)
    if not names:
        raise FileNotFoundError(2, "no file matches the pattern", pattern)
    files = {name for name in names if not os.path.isdir(name)}
    for folder in set(names) - files:
        if not os.path.basename(folder.rstrip(os.sep)).startswith(HIDDEN):
            files.update(record_names(_below(folder)))
    if not files:
        raise FileNotFoundError(2, "only folders without files match the pattern", pattern)
    return sorted(files)


def record_names(names: Iterable[str]) -> list[str]:
    """Return the names of record files among those of a folder, sorted; all but indexes if there are none."""
    ordered = sorted(names)
    others = [name for name in ordered if not name.endswith(".idx")] or ordered
    return [name for name in ordered if _may_hold_records(name)] or others


def extension_of(path: str) -> str:
    """Return the extension in lower case, without that of the compression."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in _COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def is_tfrecord_extension(extension: str) -> bool:
    return _TFRECORD.fullmatch(extension) is not None


def _may_hold_records(path: str) -> bool:
    return not path.endswith("~") and extension_of(path)[1:] not in _OTHERS


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
