"""Listing, opening and dividing files.

The core reads local paths. It also reads URLs if the caller passes options of stores, such as `storage_options`, or if
Beam has no file system for the scheme. Other URLs are opened by Beam's file systems, with the pipeline's credentials.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.value_provider import ValueProvider

from ... import _core
from ...base.record_format import DETECTION_BYTES, FRAME_BYTES, HEADER_BYTES, MAX_RECORD_BYTES
from ...errors import DataLossError, InvalidArgumentError
from ...files.naming.addresses import public_url
from ...files.naming.file_part import FilePart, changed_since
from ...files.naming.location import location_of
from ...files.reading.task_splits import Split, plan_splits
from ...files.stores import StoreSettings
from ...files.streams.core_files import DEFAULT_SETTINGS, CoreFile, core_files
from ...files.streams.fetching import open_stream
from ...files.streams.listing import listed_parts
from ...files.system.url_reader import open_url
from .compression import Compression

_LEAST_DIVIDED = 1 << 20  # bytes; smaller files are not opened just to divide them while they are read
_MIME = "application/octet-stream"
_THREADS = 16  # for finding records in files of Beam's file systems
_HIDDEN = (".", "_")
_RECORD = re.compile(r"\(record (\d+)\)$")


@dataclass(frozen=True)
class Access:
    """Access to files. Pickles.

    Attributes:
      compression: the caller's.
      settings: those of this package's stores of URLs; None: Beam's file systems are used.
      options: those of the core's streams: verify_crc, max_record_bytes, on_corrupt and others.
    """

    compression: Compression
    settings: StoreSettings | None = None
    options: dict[str, Any] = field(default_factory=dict)

    # ---- Listing ----

    def listed(self, names: Iterable[str]) -> list[FilePart]:
        """List the files of paths, URLs, patterns and folders (in a store with "/" at the end)."""
        return [file for name in names for file in self._listed(name)]

    def _listed(self, name: str) -> list[FilePart]:
        if self._is_ours(name):
            return listed_parts([name], self.settings or DEFAULT_SETTINGS)
        pattern = name + "**" if name.endswith("/") else name
        matches: list[FileMetadata] = FileSystems.match([pattern])[0].metadata_list
        if name.endswith("/"):
            below = [(match, match.path[len(name) :].split("/")) for match in matches]
            matches = [match for match, path in below if not any(part.startswith(_HIDDEN) for part in path)]
        if not matches:
            raise FileNotFoundError(2, "no file matches", name)
        files = [FilePart(match.path, match.size_in_bytes, _stamp(match)) for match in matches]
        return sorted(files, key=lambda file: file.file)

    def _is_ours(self, name: str) -> bool:
        """Return True if the core opens files with this name."""
        if not location_of(name).is_url or self.settings is not None:
            return True
        try:
            FileSystems.get_filesystem(name)
        except ValueError:
            return True  # Beam does not know the scheme
        return False

    def _is_read_by_core(self, file_range: FilePart) -> bool:
        return self._is_ours(file_range.file) and not self.compression.of_file(file_range.file).is_beams

    # ---- Dividing ----

    @property
    def divides(self) -> bool:
        """True if files may be divided. Skipping damage may change where records begin."""
        return bool(self.options.get("on_corrupt", "raise") == "raise")

    def planned(self, files: Sequence[FilePart], share: int) -> list[Split]:
        """Plan tasks of about `share` bytes. Large uncompressed files are divided at records."""
        ours = [file for file in files if self._is_read_by_core(file)]
        others = [file for file in files if not self._is_read_by_core(file)]
        splits = plan_splits(
            ours,
            split_bytes=share,
            compression=self.compression.ours,
            max_record_bytes=self.options.get("max_record_bytes"),
            on_corrupt=self.options.get("on_corrupt", "raise"),
            settings=self.settings,
        )
        if others:
            with ThreadPoolExecutor(min(_THREADS, len(others))) as pool:
                divided = pool.map(lambda file: self._divided(file, share), others)
                ranges = [file_range for ranges in divided for file_range in ranges]
            splits += plan_splits(ranges, split_bytes=share, on_corrupt="keep")
        return [replace(split, parts=tuple(map(self._marked, split.parts))) for split in splits]

    def grouped(self, files: Sequence[FilePart], share: int) -> list[Split]:
        """Group whole files by about `share` bytes, without opening them."""
        return plan_splits(list(files), split_bytes=share, on_corrupt="keep")

    def _marked(self, file_range: FilePart) -> FilePart:
        """Set the end of a whole file that is known to be uncompressed, so that it may be divided while it is read."""
        is_plain = file_range.end is None and self._may_be_divided(file_range, "")
        return replace(file_range, end=file_range.bytes) if is_plain else file_range

    def inspected(self, file_range: FilePart) -> FilePart:
        """Set the end of a whole file whose content is uncompressed, unless it is small."""
        return file_range if file_range.bytes < _LEAST_DIVIDED else self._inspected(file_range)

    def _inspected(self, file_range: FilePart) -> FilePart:
        if file_range.end is not None or not self._may_be_divided(file_range, None):
            return file_range
        with self._open(file_range) as opened:
            is_plain = not _core.detect_compression(opened.read(DETECTION_BYTES))
        return replace(file_range, end=file_range.bytes) if is_plain else file_range

    def _may_be_divided(self, file: FilePart, ours: str | None) -> bool:
        compression = self.compression.of_file(file.file)
        return self.divides and not compression.is_beams and compression.ours == ours

    def _divided(self, file: FilePart, share: int) -> list[FilePart]:
        """Divide a file of Beam's file systems at records, which it finds by their headers."""
        file = self._marked(file)
        if file.bytes <= share + share // 2:
            return [file]
        file = self._inspected(file)
        if file.end is None:
            return [file]
        with self._open(file) as opened:
            count = max(round(file.bytes / share), 1)
            targets = (number * (file.bytes // count) for number in range(1, count))
            begins = [(0, 0), *self._boundaries(opened, file, targets)]
        begins = sorted({(begin, number) for begin, number in begins if begin < file.bytes})
        ends = [*(begin for begin, _ in begins[1:]), file.bytes]
        return [
            replace(file, begin=begin, end=end, first_record=number)
            for (begin, number), end in zip(begins, ends, strict=True)
        ]

    def range_from(self, file_range: FilePart, offset: int) -> FilePart | None:
        """Return the records of a byte range that begin at `offset` or later; None if it has none.

        An offset is any byte. Records are found by their headers from the beginning of the range on. Bytes near the
        offset that look like a header may be data.
        """
        with self._open(file_range) as opened:
            ((begin, number),) = self._boundaries(opened, file_range, [offset])
        if file_range.end is None or begin >= file_range.end:
            return None
        return replace(file_range, begin=begin, first_record=number, records=None)

    def _boundaries(self, opened: BinaryIO, file_range: FilePart, targets: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield, for each target in order, offset and number of the first record that begins there or later."""
        end = file_range.bytes if file_range.end is None else file_range.end
        most = self.options.get("max_record_bytes") or MAX_RECORD_BYTES
        offset, number = file_range.begin, file_range.first_record
        for target in targets:
            while offset < target and offset < end:
                opened.seek(offset)
                header = opened.read(HEADER_BYTES)
                length = int.from_bytes(header[:8], "little")
                if len(header) < HEADER_BYTES or _masked(header[:8]) != header[8:] or length > most:
                    raise DataLossError(public_url(file_range.file), offset, number, "not the header of a record")
                offset, number = offset + length + FRAME_BYTES, number + 1
            yield offset, number

    # ---- Opening ----

    def batches(self, file_range: FilePart, batch_size: int) -> tuple[Any, Iterator[_core.RecordBatch]]:
        """Return the core's stream of a byte range, and its batches."""
        compression = self.compression.of_file(file_range.file)
        ours = "" if file_range.end is not None else compression.ours
        if self._is_read_by_core(file_range):
            files = core_files([file_range], self.settings or DEFAULT_SETTINGS)
        else:
            files = [CoreFile(public_url(file_range.file).encode(), self._opener(file_range))]
        settings = self.settings or DEFAULT_SETTINGS
        stream = open_stream(files, settings, batch_size=batch_size, compression_type=ours, **self.options)
        return stream, stream.batches()

    @contextmanager
    def errors_of(self, file_range: FilePart) -> Iterator[None]:
        """Correct the offsets of errors, if the core has only seen the bytes of the range."""
        try:
            yield
        except (DataLossError, InvalidArgumentError) as error:
            if file_range.end is None or self._is_read_by_core(file_range):
                raise
            raise _moved(error, file_range) from None

    def sampled(self, files: Sequence[FilePart]) -> list[Any]:
        """Return the files for a TableSource, which reads some of their records here."""
        return [file if self._is_read_by_core(file) else _Later(file, self) for file in files]

    def whole(self, file_range: FilePart) -> BinaryIO:
        """Open a file of Beam's file systems, which decompress it if the core can't."""
        opened: BinaryIO = FileSystems.open(
            file_range.file, _MIME, compression_type=self.compression.of_file(file_range.file).beam
        )
        return opened

    def _opener(self, file_range: FilePart) -> Callable[[], object]:
        def opener() -> object:
            self._check(file_range)
            opened = self.whole(file_range)
            return opened if file_range.end is None else _Slice(opened, file_range.begin, file_range.end)

        return opener

    def _open(self, file_range: FilePart) -> BinaryIO:
        if not location_of(file_range.file).is_url:
            file_range.check_local()
            return open(file_range.file, "rb")
        if self._is_ours(file_range.file):
            opened: BinaryIO = open_url(
                file_range.file, "rb", None if self.settings is None else self.settings.storage_options
            )
            return opened
        self._check(file_range)
        stored: BinaryIO = FileSystems.open(file_range.file, _MIME, compression_type=Compression("").beam)
        return stored

    def _check(self, file_range: FilePart) -> None:
        """Raise OSError (ESTALE) unless a file is the listed one."""
        if not location_of(file_range.file).is_url:
            file_range.check_local()
            return
        now = FileSystems.match([file_range.file])[0].metadata_list
        if [(match.size_in_bytes, _stamp(match)) for match in now] != [(file_range.bytes, file_range.version)]:
            raise changed_since(file_range.file)


class _Later:
    """A file of Beam's file systems, opened when it is read."""

    def __init__(self, file_range: FilePart, access: Access) -> None:
        self.name = file_range.file
        self._part, self._access = file_range, access
        self._opened: BinaryIO | None = None

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0 if self._opened is None else self._opened.tell()

    def seek(self, offset: int) -> None:
        if self._opened is None:
            self._opened = self._access.whole(self._part)
        if self._opened.tell() != offset:
            self._opened.seek(offset)

    def read(self, size: int) -> bytes:
        assert self._opened is not None
        return self._opened.read(size)


class _Slice:
    """A byte range of an open file, as a file."""

    def __init__(self, file: BinaryIO, begin: int, end: int) -> None:
        self._file, self._left = file, end - begin
        file.seek(begin)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._file.close()


def _moved(error: DataLossError | InvalidArgumentError, file_range: FilePart) -> Exception:
    if isinstance(error, InvalidArgumentError):
        text = _RECORD.sub(lambda match: f"(record {file_range.first_record + int(match[1])})", str(error))
        return InvalidArgumentError(text)
    if error.offset is None or error.record_index is None:
        return error
    offset, record = file_range.begin + error.offset, file_range.first_record + error.record_index
    return DataLossError(error.path, offset, record, error.reason)


def _stamp(metadata: FileMetadata) -> int | None:
    """Return the time of modification in microseconds, if the file system has it."""
    seconds = metadata.last_updated_in_seconds
    return int(seconds * 1_000_000) if seconds else None


def _masked(data: bytes) -> bytes:
    crc = _core.crc32c(data)
    return ((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


def names_of(files: object) -> list[str]:
    """Return paths and URLs as text, also from lists and from a ValueProvider that has its value."""
    if isinstance(files, ValueProvider):
        return names_of(files.get())
    if isinstance(files, (str, bytes, os.PathLike)):
        return [os.fsdecode(files)]
    if isinstance(files, FileMetadata):
        return [files.path]
    if isinstance(files, (list, tuple)):
        return [name for file in files for name in names_of(file)]
    raise TypeError(f"expected a path, a URL or a pattern, got {type(files).__name__}")
