"""Other file formats, recognised by their first bytes, for error messages."""

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
from .compression import COMPRESSION_TYPES

HEAD_BYTES = 1 << 16
_NOT_TFRECORD = "not a TFRecord file (looks like "

# Riegeli's first 64 bytes are always the same. ArrayRecord files are Riegeli files in whole blocks.
_RIEGELI = bytes.fromhex("83af70d10d884a3f0000000000000000400000000000000091bac23c9287e1a9")
_RIEGELI_BLOCK = 1 << 16

# An Arrow message: a marker, its size, the offset of its first table.
_ARROW_MARKER, _ARROW_TABLE = b"\xff" * 4, b"\x10\0\0\0\0\0"

_DOWNLOAD = "as left by a failed download"

# (offset, bytes there, format). The core recognises further formats, in looks_like.cc.
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
    (0, b"\xfd7zXZ\0", "XZ data: run `unxz`"),
    (0, b"BZh", "BZIP2 data: run `bunzip2`"),
    (0, b"\x04\x22\x4d\x18", "LZ4 data: run `unlz4`"),
)
_ZIPPED = ((b".npy", "a NumPy archive (.npz)"), (b"/data.pkl", "a PyTorch checkpoint"))
_INDEX = re.compile(rb"(\d+ \d+\r?\n)+(\d+( \d*)?)?")
_MARKUP = (
    (re.compile(r"\s*<(!doctype html|html|head|body)", re.IGNORECASE), "HTML"),
    (re.compile(r"\s*<\?xml"), "XML"),
)
_FILE_FORMS = ("image", "audio", "RIFF", "NumPy", "pickle", "ZSTD")


def foreign_format(head: bytes, size: int | None = None) -> str | None:
    """Guess the format of a file that is not a TFRecord file, or None.

    Args:
      head: the file's first bytes, up to HEAD_BYTES.
      size: the file's size; None if not known.

    >>> foreign_format(b"PAR1...")
    'a Parquet file'
    """
    for offset, magic, name in _MAGIC:
        if head.startswith(magic, offset):
            return name
    if head.startswith(_ARROW_MARKER) and head.startswith(_ARROW_TABLE, 8):
        return "an Arrow IPC stream"
    if head.startswith(_RIEGELI):
        is_blocks = size is not None and size % _RIEGELI_BLOCK == 0 and size > _RIEGELI_BLOCK
        return "an ArrayRecord file" if is_blocks else "a Riegeli file"
    if head.startswith(b"PK\x03\x04"):
        return next((name for member, name in _ZIPPED if member in head[:1024]), "a ZIP archive")
    if head.startswith(b"\x1f\x8b"):
        inflated = _inflated(head)
        inner = "GZIP data" if inflated.startswith(b"\x1f\x8b") else foreign_format(inflated)
        return inner and f"{inner}, compressed with GZIP"
    if _is_hadoop_snappy(head):
        return "Hadoop's Snappy data"
    return _text_format(head) or _other_format(head, size)


def _is_hadoop_snappy(head: bytes) -> bool:
    """Check for a block of Hadoop's SnappyCodec: its length, a compressed length, and Snappy data of that length."""
    length, compressed = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big")
    claim = sum((byte & 127) << 7 * i for i, byte in enumerate(head[8:11]))  # a varint of up to three bytes
    return 1 << 14 <= length < 1 << 24 and compressed < 2 * length and claim & 0x3FFF == length & 0x3FFF


def _inflated(head: bytes) -> bytes:
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    return b""


def _text_format(head: bytes) -> str | None:
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)  # the last character may be incomplete
    except UnicodeDecodeError:
        return None
    form = _core.looks_like(text.encode())
    if not form.endswith("text"):
        return None
    if _INDEX.fullmatch(head):
        return "an index (.idx) of the records of another file"
    for start, name in _MARKUP:
        if start.match(text):
            return f"{name}, {_DOWNLOAD}"
    if form == "JSON text":
        return form
    lines = text.splitlines()[:3]
    counts = [{line.count(separator) for line in lines} for separator in ",\t"]
    is_table = len(lines) > 1 and any(len(numbers) == 1 and 0 not in numbers for numbers in counts)
    return "CSV text" if is_table else "text"


def _other_format(head: bytes, size: int | None) -> str | None:
    form = _core.looks_like(head)
    if any(word in form for word in _FILE_FORMS):
        return form
    is_whole = size == len(head) > 0
    return f"{form} without TFRecord's frame" if is_whole and form.endswith("Example") else None


def head_of(path: str) -> tuple[bytes, int | None]:
    """Return the first bytes of a local regular file, and its size; (b"", None) for other files."""
    with contextlib.suppress(OSError, ValueError):
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            with open(path, "rb") as file:
                return file.read(HEAD_BYTES), status.st_size
    return b"", None


def explained(error: DataLossError, head: bytes | None = None, size: int | None = None) -> DataLossError:
    """Return the error, or one that names the file's format if its first record is damaged.

    Args:
      error: raised by a reader.
      head, size: of the error's file; None: read now, if the file is local.
    """
    if error.record_index or error.offset or error.path is None or is_foreign(error) or "too large" in error.reason:
        return error
    if head is None:
        head, size = head_of(error.path)
    guess = foreign_format(head, size)
    return error if guess is None else DataLossError(error.path, None, None, foreign_reason(guess))


def with_format(error: DataLossError) -> DataLossError:
    """Return the error of a first record, whose reason also names the format of a local file, if that is known."""
    head, size = (b"", None) if error.path is None else head_of(error.path)
    guess, detected, codec = foreign_format(head, size), _core.detect_compression(head), error.reason.partition(":")[0]
    if guess is not None and "ZSTD" not in error.reason:  # whose errors name the format themselves
        hint = f"it looks like {guess}"
    elif "too large" in error.reason:  # its header was read with the right codec
        return error
    elif guess is None and head and detected != (codec if codec in COMPRESSION_TYPES else ""):
        hint = f"it is {f'compressed with {detected}' if detected else 'not compressed'}; compression=None detects that"
    else:
        return error
    return DataLossError(error.path, error.offset, error.record_index, f"{error.reason}; {hint}")


def foreign_reason(guess: str) -> str:
    return f"{_NOT_TFRECORD}{guess})"


def is_foreign(error: DataLossError) -> bool:
    return error.reason.startswith(_NOT_TFRECORD)


@contextlib.contextmanager
def explaining() -> Iterator[None]:
    """Name the format in errors about local files that are not TFRecord files."""
    try:
        yield
    except DataLossError as error:
        better = explained(error)
        if better is error:
            raise
        raise better from None
