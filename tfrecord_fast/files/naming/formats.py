"""Files that are no TFRecord files, known by their first bytes, so that errors can say what they are instead."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import stat
import zlib
from collections.abc import Iterator

from ... import _core
from ...errors import DataLossError

__all__ = ["HEAD_BYTES", "NO_TFRECORD", "explained", "explaining", "foreign_kind", "head_of"]

HEAD_BYTES = 1 << 16
NO_TFRECORD = "no TFRecord file: it is "  # what reasons begin with

# Riegeli's first 64 bytes are always the same. ArrayRecord files are Riegeli files in whole blocks.
_RIEGELI = bytes.fromhex("83af70d10d884a3f0000000000000000400000000000000091bac23c9287e1a9")
_RIEGELI_BLOCK = 1 << 16

# A message of Arrow: a mark, its size, and then where its first table is.
_ARROW_MARK, _ARROW_TABLE = b"\xff" * 4, b"\x10\0\0\0\0\0"

_DOWNLOAD = "as a failed download leaves it"

# Where, what stands there, and what that is. Names of images, archives and so on are the core's, in looks_like.cc.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"version https://git-lfs.github.com/spec/", "a Git LFS pointer in place of the data: run `git lfs pull`"),
    (0, b"/annex/objects/", "a git-annex pointer in place of the data: run `git annex get`"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ARROW1\0\0", "an Arrow IPC file"),
    (0, b"ORC", "an ORC file"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (257, b"ustar", "a tar archive"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"\xfd7zXZ\0", "XZ data"),
    (0, b"BZh", "BZIP2 data"),
)
_ZIPPED = ((b".npy", "a NumPy archive (.npz)"), (b"/data.pkl", "a PyTorch checkpoint"))
_INDEX = re.compile(rb"(\d+ \d+\r?\n)+(\d+( \d*)?)?")
_MARKUP = (
    (re.compile(r"\s*<(!doctype html|html|head|body)", re.IGNORECASE), "HTML"),
    (re.compile(r"\s*<\?xml"), "XML"),
)
_FILE_FORMS = ("image", "audio", "RIFF", "NumPy", "pickle", "ZSTD")


def foreign_kind(head: bytes, size: int | None = None) -> str | None:
    """What a file is that is no TFRecord file; None if that is not known.

    Args:
      head: its first bytes, up to HEAD_BYTES.
      size: how many bytes it has; None if not known.

    >>> foreign_kind(b"PAR1...")
    'a Parquet file'
    """
    for place, magic, name in _MAGIC:
        if head.startswith(magic, place):
            return name
    if head.startswith(_ARROW_MARK) and head.startswith(_ARROW_TABLE, 8):
        return "an Arrow IPC stream"
    if head.startswith(_RIEGELI):
        is_blocks = size is not None and size % _RIEGELI_BLOCK == 0 and size > _RIEGELI_BLOCK
        return "an ArrayRecord file" if is_blocks else "a Riegeli file"
    if head.startswith(b"PK\x03\x04"):
        return next((name for part, name in _ZIPPED if part in head[:1024]), "a ZIP archive")
    if head.startswith(b"\x1f\x8b"):
        inner = foreign_kind(_inflated(head))
        return inner and f"{inner}, compressed with GZIP"
    return _text_kind(head) or _other_kind(head, size)


def _inflated(head: bytes) -> bytes:
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    return b""


def _text_kind(head: bytes) -> str | None:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return None
    form = _core.looks_like(text.encode())
    if not form.endswith("text"):
        return None
    if _INDEX.fullmatch(head):
        return "an index (.idx), the offsets and sizes of another file's records"
    for start, name in _MARKUP:
        if start.match(text):
            return f"{name}, {_DOWNLOAD}"
    if form == "JSON text":
        return form
    lines = text.splitlines()[:3]
    counts = [{line.count(mark) for line in lines} for mark in ",\t"]
    is_table = len(lines) > 1 and any(len(some) == 1 and 0 not in some for some in counts)
    return "CSV text" if is_table else "text"


def _other_kind(head: bytes, size: int | None) -> str | None:
    form = _core.looks_like(head)
    if any(word in form for word in _FILE_FORMS):
        return form
    is_whole = size == len(head) > 0
    return f"{form} without TFRecord's frame" if is_whole and form.endswith("Example") else None


def head_of(path: str) -> tuple[bytes, int | None]:
    """The first bytes of a local regular file, and its size; nothing of any other."""
    with contextlib.suppress(OSError, ValueError):
        known = os.stat(path)
        if stat.S_ISREG(known.st_mode):
            with open(path, "rb") as file:
                return file.read(HEAD_BYTES), known.st_size
    return b"", None


def explained(error: DataLossError, head: bytes | None = None, size: int | None = None) -> DataLossError:
    """The error itself, or one that says which other kind of file this is, if the first record is what is wrong.

    Args:
      error: what reading gave.
      head, size: of the file that the error is about; None: read now, if it is a local file.
    """
    if error.record_index or error.offset or error.path is None or error.reason.startswith(NO_TFRECORD):
        return error
    if head is None:
        head, size = head_of(error.path)
    kind = foreign_kind(head, size)
    return error if kind is None else DataLossError(error.path, None, None, NO_TFRECORD + kind)


@contextlib.contextmanager
def explaining() -> Iterator[None]:
    """Errors of reading local files say what these are, if they are no TFRecord files."""
    try:
        yield
    except DataLossError as error:
        told = explained(error)
        if told is error:
            raise
        raise told from None
