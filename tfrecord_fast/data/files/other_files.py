"""TextLineDataset and FixedLengthRecordDataset."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...dtypes import string
from ...errors import DataLossError, InvalidArgumentError
from ...files.naming.location import location_of, shown_name
from ...files.streams.core_files import flatten
from ...files.system.file_system import GFile
from ...values.elements.specs import TensorSpec
from ..dataset import Dataset
from ..handle import Handle, node_of
from ..nodes.native.running import check_names
from ..nodes.sources.values import Generated, Specified
from ..numbers import check_count, files_at_once

_BLOCK = 1 << 18
_STRING = TensorSpec((), string)


class TextLineDataset(Dataset[bytes]):
    r"""The lines of text files, as bytes, without the characters that end them ("\n" or "\r\n").

    Args:
      filenames: a path or URL, or a list, an array or a Dataset of these.
      compression_type: None or "", "GZIP" or "ZLIB".
      num_parallel_reads: the number of files to interleave, one element each in turn (TensorFlow's deterministic
        order); None or AUTOTUNE keeps file order.
      buffer_size, name: accepted.

    Raises:
      ValueError: unknown compression_type, num_parallel_reads below 1.
      TypeError: numbers instead of paths.
      FileNotFoundError, OSError: when iterated; iteration continues with the next file.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> tf.io.write_file(path, "one\r\n\ntwo")
    >>> list(TextLineDataset(path))
    [b'one', b'', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        at_once = files_at_once(num_parallel_reads)
        files = opened_files(filenames, compression_type, _lines, "TextLineDataset", at_once=at_once)
        super().__init__(Specified(node_of(files), _STRING))


class FixedLengthRecordDataset(Dataset[bytes]):
    """Records of a fixed size, as bytes, from binary files.

    Args:
      filenames, compression_type, buffer_size, num_parallel_reads, name: as for TextLineDataset.
      record_bytes: the size of each record.
      header_bytes, footer_bytes: bytes to skip at the beginning and the end of each file.

    Raises:
      ValueError: a size out of range, unknown compression_type.
      errors.InvalidArgumentError: when iterated: a file's last record is incomplete. Raised before the file's first
        record, or, for a compressed file, after its last complete one.
      FileNotFoundError, OSError: when iterated.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"abcdef")
    >>> list(FixedLengthRecordDataset(path, record_bytes=3))
    [b'abc', b'def']
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: int | None = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        size = check_count("record_bytes", record_bytes)
        header = 0 if header_bytes is None else check_count("header_bytes", header_bytes, 0)
        footer = 0 if footer_bytes is None else check_count("footer_bytes", footer_bytes, 0)

        def check(length: int, shown: Any) -> None:
            if length < header + footer or (length - header - footer) % size:
                raise _excess(shown, size)

        records = partial(_records, size=size, header=header, footer=footer)
        at_once = files_at_once(num_parallel_reads)
        files = opened_files(filenames, compression_type, records, "FixedLengthRecordDataset", check, at_once)
        super().__init__(Specified(node_of(files), _STRING))


def opened_files(
    filenames: Any, compression_type: str | None, elements: Any, label: str, check: Any = None, at_once: int = 1
) -> Dataset[Any]:
    """Return a dataset of `elements(read, name)` for each file, where `read(size)` returns bytes.

    Args:
      check: called first with the size and the name of an uncompressed file; may raise.
      at_once: the number of files to interleave.
    """
    if compression_type not in (None, "", "GZIP", "ZLIB"):
        raise InvalidArgumentError(f"Unsupported compression_type: {compression_type!r}")

    def of_file(name: Any) -> Dataset[Any]:
        return Dataset(Generated(partial(_opened, name, compression_type or "", elements, check), label))

    if isinstance(filenames, Handle):
        check_names(node_of(filenames))
        names: Any = filenames
    else:
        names = Dataset(Generated(flatten(filenames).__iter__, "names"))
    opened: Dataset[Any] = names.flat_map(of_file) if at_once == 1 else names.interleave(of_file, at_once, 1)
    return opened


def _opened(name: Any, compression_type: str, elements: Any, check: Any) -> Iterator[Any]:
    location = location_of(name)
    shown = shown_name(location)
    with GFile(location.name, "rb") as file:
        if check is not None and not compression_type and (size := file.size()):  # 0 for a pipe
            check(size, shown)
        read: Any = _until_a_short_block(file.read)
        if compression_type == "GZIP":
            read = gzip.GzipFile(fileobj=file, mode="rb").read1  # returns what comes before damage
        elif compression_type:
            read = _Inflated(file).read
        try:
            yield from elements(read, shown)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataLossError(shown, reason=f"damaged or not {compression_type}: {error}") from None


def _until_a_short_block(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return `read` for a file that ends with its first short block, even if it grows later."""
    ended = False

    def read_block(size: int) -> bytes:
        nonlocal ended
        block = b"" if ended else read(size)
        ended = len(block) < size
        return block

    return read_block


class _Inflated:
    """A file of any number of ZLIB streams, one after the other."""

    def __init__(self, file: Any) -> None:
        self._file, self._inflate = file, zlib.decompressobj()
        self._left, self._begun = b"", False

    def read(self, size: int) -> bytes:
        while True:
            if self._inflate.eof:
                self._left = self._inflate.unused_data
                self._inflate, self._begun = zlib.decompressobj(), False
            compressed = self._inflate.unconsumed_tail or self._left or self._file.read(_BLOCK)
            self._left = b""
            self._begun = self._begun or bool(compressed)
            data = self._inflate.decompress(compressed, size)
            if data:
                return data
            if not compressed and not self._inflate.eof:
                if self._begun:
                    raise EOFError("compressed file ended before the end of its stream")
                return b""


def _lines(read: Callable[[int], bytes], name: Any) -> Iterator[bytes]:
    pieces: list[bytes] = []  # of a line that has not ended
    while block := read(_BLOCK):
        first, *others = block.split(b"\n")
        pieces.append(first)
        for piece in others:
            yield b"".join(pieces).removesuffix(b"\r")
            pieces = [piece]
    if any(pieces):
        yield b"".join(pieces)


def _records(read: Callable[[int], bytes], name: Any, size: int, header: int, footer: int) -> Iterator[bytes]:
    kept = bytearray()
    passed = 0
    while block := read(_BLOCK):
        if passed < header:
            block, passed = block[header - passed :], passed + len(block)
        kept += block
        whole = max(len(kept) - footer, 0) // size * size
        for start in range(0, whole, size):
            yield bytes(kept[start : start + size])
        del kept[:whole]
    if passed < header or len(kept) != footer:
        raise _excess(name, size)


def _excess(name: Any, size: int) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Excess bytes in input file: {name}: its size without header and footer is not a multiple of {size}"
    )
