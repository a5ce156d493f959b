"""Which files there are, how they are opened, and where they are divided.

Local paths are read by the core. So are URLs where the caller says how (`storage_options` and the like) or Beam has no
file system for the scheme; all others go through Beam's file systems, with the pipeline's options and credentials.
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
from ...files.naming.byte_range import FilePart, changed_since
from ...files.naming.location import location_of
from ...files.reading.byte_ranges import Split, plan_splits
from ...files.stores import StoreSettings
from ...files.streams.core_files import DEFAULT_SETTINGS, CoreFile, core_files
from ...files.streams.fetching import open_stream
from ...files.streams.listing import listed_parts
from ...files.system.opening import open_url
from .compression import Compression

__all__ = ["Access", "names_of"]

LEAST_DIVIDED = 1 << 20  # bytes of a file that it is worth to look into only to divide it while it is read
_MIME = "application/octet-stream"
_THREADS = 16  # that look for records in files of Beam's file systems
_HIDDEN = (".", "_")
_RECORD = re.compile(r"\(record (\d+)\)$")


@dataclass(frozen=True)
class Access:
    """How files are found and opened. It pickles.

    Attributes:
      compression: as the caller has said.
      settings: of our stores of URLs; None where Beam's file systems are used.
      options: of the core's streams: verify_crc, max_record_bytes, on_corrupt and others.
    """

    compression: Compression
    settings: StoreSettings | None = None
    options: dict[str, Any] = field(default_factory=dict)

    # ---- Listing ----

    def listed(self, names: Iterable[str]) -> list[FilePart]:
        """The files of paths, URLs, patterns and folders (of a store with "/" at the end), each as one part.

        Raises:
          FileNotFoundError: there is none for one of the names.
          OSError: it can't be listed.
        """
        return [part for name in names for part in self._listed(name)]

    def _listed(self, name: str) -> list[FilePart]:
        if self._is_ours(name):
            return listed_parts([name], self.settings or DEFAULT_SETTINGS)
        pattern = name + "**" if name.endswith("/") else name
        found: list[FileMetadata] = FileSystems.match([pattern])[0].metadata_list
        if name.endswith("/"):
            found = [one for one in found if not _is_hidden(one.path[len(name) :])]
        if not found:
            raise FileNotFoundError(2, "no file matches", name)
        parts = [FilePart(one.path, one.size_in_bytes, _stamp(one)) for one in found]
        return sorted(parts, key=lambda part: part.file)

    def _is_ours(self, name: str) -> bool:
        """Whether the core opens what has this name."""
        if not location_of(name).is_url:
            return True
        if self.settings is not None:
            return True
        try:
            FileSystems.get_filesystem(name)
        except ValueError:
            return True  # Beam has none for the scheme
        return False

    def _is_read_by_core(self, part: FilePart) -> bool:
        return self._is_ours(part.file) and not self.compression.of_file(part.file).is_of_beam

    # ---- Dividing ----

    @property
    def divides(self) -> bool:
        """Whether files may be divided: where damage is passed over, it may change what the records are."""
        return bool(self.options.get("on_corrupt", "raise") == "raise")

    def planned(self, files: Sequence[FilePart], share: int) -> list[Split]:
        """Files and parts of files in groups of about `share` bytes. Large uncompressed files are cut at records.

        Raises:
          errors.DataLossError: the headers of a file that is to be divided are damaged.
        """
        ours = [file for file in files if self._is_read_by_core(file)]
        others = [file for file in files if not self._is_read_by_core(file)]
        splits = plan_splits(
            ours,
            split_bytes=share,
            compression_type=self.compression.ours,
            max_record_bytes=self.options.get("max_record_bytes"),
            on_corrupt=self.options.get("on_corrupt", "raise"),
            settings=self.settings,
        )
        if others:
            with ThreadPoolExecutor(min(_THREADS, len(others))) as pool:
                cut = [part for parts in pool.map(lambda file: self._cut(file, share), others) for part in parts]
            splits += plan_splits(cut, split_bytes=share, on_corrupt="keep")
        return [replace(split, parts=tuple(map(self._marked, split.parts))) for split in splits]

    def grouped(self, files: Sequence[FilePart], share: int) -> list[Split]:
        """Whole files in groups of about `share` bytes. Nothing is opened."""
        return plan_splits(list(files), split_bytes=share, on_corrupt="keep")

    def _marked(self, part: FilePart) -> FilePart:
        """With an end, if it is known to be uncompressed: then it may be divided while it is read."""
        return replace(part, end=part.bytes) if part.end is None and self._may_be_cut(part, "") else part

    def looked_at(self, part: FilePart) -> FilePart:
        """The same, looking into a file of which nobody has said whether it is compressed, unless it is small."""
        return part if part.bytes < LEAST_DIVIDED else self._looked_into(part)

    def _looked_into(self, part: FilePart) -> FilePart:
        if part.end is not None or not self._may_be_cut(part, None):
            return part
        with self._open(part) as opened:
            is_plain = not _core.detect_compression(opened.read(DETECTION_BYTES))
        return replace(part, end=part.bytes) if is_plain else part

    def _may_be_cut(self, file: FilePart, ours: str | None) -> bool:
        compression = self.compression.of_file(file.file)
        return self.divides and not compression.is_of_beam and compression.ours == ours

    def _cut(self, file: FilePart, share: int) -> list[FilePart]:
        """A file of Beam's file systems, cut at records, which its headers tell."""
        file = self._marked(file)
        if file.bytes <= share + share // 2:
            return [file]
        file = self._looked_into(file)
        if file.end is None:
            return [file]
        with self._open(file) as opened:
            count = max(round(file.bytes / share), 1)
            targets = (number * (file.bytes // count) for number in range(1, count))
            places = [(0, 0), *self._boundaries(opened, file, targets)]
        places = sorted({place for place in places if place[0] < file.bytes})
        ends = [*(place for place, _ in places[1:]), file.bytes]
        return [
            replace(file, begin=begin, end=end, first_record=number)
            for (begin, number), end in zip(places, ends, strict=True)
        ]

    def part_from(self, part: FilePart, offset: int) -> FilePart | None:
        """The records of the part that begin at `offset` or after it; None if there are none.

        An offset is any byte. Where records begin is told by the headers from the part's beginning on, and not by what
        looks like a header near the offset: that may be data.
        """
        with self._open(part) as opened:
            ((begin, number),) = self._boundaries(opened, part, [offset])
        if part.end is None or begin >= part.end:
            return None
        return replace(part, begin=begin, first_record=number, records=None)

    def _boundaries(self, opened: BinaryIO, part: FilePart, targets: Iterable[int]) -> Iterator[tuple[int, int]]:
        """For each target, in order, the offset and the number of the first record that begins there or later."""
        end = part.bytes if part.end is None else part.end
        most = self.options.get("max_record_bytes") or MAX_RECORD_BYTES
        place, number = part.begin, part.first_record
        for target in targets:
            while place < target and place < end:
                opened.seek(place)
                header = opened.read(HEADER_BYTES)
                length = int.from_bytes(header[:8], "little")
                if len(header) < HEADER_BYTES or _masked(header[:8]) != header[8:] or length > most:
                    raise DataLossError(public_url(part.file), place, number, "no header of a record")
                place, number = place + length + FRAME_BYTES, number + 1
            yield place, number

    # ---- Opening ----

    def batches(self, part: FilePart, batch_size: int) -> tuple[Any, Iterator[_core.RecordBatch]]:
        """The core's stream of a part, and its batches."""
        compression = self.compression.of_file(part.file)
        ours = "" if part.end is not None else compression.ours
        if self._is_read_by_core(part):
            files = core_files([part], self.settings or DEFAULT_SETTINGS)
        else:
            files = [CoreFile(public_url(part.file).encode(), self._opener(part))]
        settings = self.settings or DEFAULT_SETTINGS
        stream = open_stream(files, settings, batch_size=batch_size, compression_type=ours, **self.options)
        return stream, stream.batches()

    @contextmanager
    def errors_of(self, part: FilePart) -> Iterator[None]:
        """Errors about records of a part have their places in the file, where the core has seen the part alone."""
        try:
            yield
        except (DataLossError, InvalidArgumentError) as error:
            if part.end is None or self._is_read_by_core(part):
                raise
            raise _moved(error, part) from None

    def sampled(self, files: Sequence[FilePart]) -> list[Any]:
        """The files as a TableSource takes them, to look at some of their records here."""
        return [file if self._is_read_by_core(file) else _Later(file, self) for file in files]

    def whole(self, part: FilePart) -> BinaryIO:
        """A file of Beam's file systems, uncompressed by them if the core can't."""
        opened: BinaryIO = FileSystems.open(part.file, _MIME, compression_type=self.compression.of_file(part.file).beam)
        return opened

    def _opener(self, part: FilePart) -> Callable[[], object]:
        def opener() -> object:
            self._check(part)
            opened = self.whole(part)
            return opened if part.end is None else _Slice(opened, part.begin, part.end)

        return opener

    def _open(self, part: FilePart) -> BinaryIO:
        """To be looked into."""
        if not location_of(part.file).is_url:
            part.check_local()
            return open(part.file, "rb")
        if self._is_ours(part.file):
            opened: BinaryIO = open_url(
                part.file, "rb", None if self.settings is None else self.settings.storage_options
            )
            return opened
        self._check(part)
        found: BinaryIO = FileSystems.open(part.file, _MIME, compression_type=Compression("").beam)
        return found

    def _check(self, part: FilePart) -> None:
        """Raises OSError (ESTALE) if a file is not the one that was listed."""
        if not location_of(part.file).is_url:
            part.check_local()
            return
        now = FileSystems.match([part.file])[0].metadata_list
        if [(one.size_in_bytes, _stamp(one)) for one in now] != [(part.bytes, part.version)]:
            raise changed_since(part.file)


class _Later:
    """A file of Beam's file systems that is opened when it is read."""

    def __init__(self, part: FilePart, access: Access) -> None:
        self.name = part.file
        self._part, self._access = part, access
        self._opened: BinaryIO | None = None

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return 0 if self._opened is None else self._opened.tell()

    def seek(self, place: int) -> None:
        if self._opened is None:
            self._opened = self._access.whole(self._part)
        if self._opened.tell() != place:
            self._opened.seek(place)

    def read(self, size: int) -> bytes:
        assert self._opened is not None
        return self._opened.read(size)


class _Slice:
    """The bytes of a part of an open file, as a file."""

    def __init__(self, file: BinaryIO, begin: int, end: int) -> None:
        self._file, self._left = file, end - begin
        file.seek(begin)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._file.close()


def _moved(error: DataLossError | InvalidArgumentError, part: FilePart) -> Exception:
    if isinstance(error, InvalidArgumentError):
        text = _RECORD.sub(lambda found: f"(record {part.first_record + int(found[1])})", str(error))
        return InvalidArgumentError(text)
    if error.offset is None or error.record_index is None:
        return error
    offset, record = part.begin + error.offset, part.first_record + error.record_index
    return DataLossError(error.path, offset, record, error.reason)


def _stamp(found: FileMetadata) -> int | None:
    """When it was changed, in microseconds, if the file system says so."""
    seconds = found.last_updated_in_seconds
    return int(seconds * 1_000_000) if seconds else None


def _is_hidden(path: str) -> bool:
    return any(name.startswith(_HIDDEN) for name in path.split("/"))


def _masked(data: bytes) -> bytes:
    crc = _core.crc32c(data)
    return ((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


def names_of(given: object) -> list[str]:
    """Paths and URLs as text, of Beam's ValueProvider too, if it has its value.

    Raises:
      TypeError: one of them is neither.
    """
    if isinstance(given, ValueProvider):
        return names_of(given.get())
    if isinstance(given, (str, bytes, os.PathLike)):
        return [os.fsdecode(given)]
    if isinstance(given, FileMetadata):
        return [given.path]
    if isinstance(given, (list, tuple)):
        return [path for one in given for path in names_of(one)]
    raise TypeError(f"a path, a URL or a pattern is wanted, got {type(given).__name__}")
