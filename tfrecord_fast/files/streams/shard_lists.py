"""Lists of files with their sizes and record counts, read from a file instead of listing a bucket."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.addresses import public_url
from ..naming.location import location_of
from ..stores import StoreSettings, as_settings, find_object, read_range


class ListedFile(str):
    """The name of a file, with `bytes` and `records` from a shard list (None if not listed)."""

    bytes: int | None
    records: int | None

    def __new__(cls, name: str, bytes: int | None = None, records: int | None = None) -> ListedFile:
        file = super().__new__(cls, name)
        file.bytes, file.records = bytes, records
        return file

    def __reduce__(self) -> tuple[type[ListedFile], tuple[str, int | None, int | None]]:
        return ListedFile, (str(self), self.bytes, self.records)


class ShardList(Sequence[ListedFile]):
    """The files named in a text file or a manifest. Every reader accepts it as files.

    A text file has one name per line; empty lines and lines that begin with `#` are skipped. A manifest is JSON,
    `{"files": [{"name": "a.tfrecord", "bytes": 1048, "records": 12}, …]}`, as written by `ExampleWriter(manifest=…)`;
    `bytes` and `records` are optional. Names are paths or URLs; relative ones are relative to the list's folder.

    `len(reader)` uses `bytes` and `records` from a manifest instead of opening the files. Reading an object whose size
    differs from its manifest raises an error, since one of them is out of date.

    The list is read once, here. It is a sequence of str that can be pickled; a slice is another ShardList.

    Args:
      path: the list's path or URL.
      storage_options: for the list's URL; the reader has its own for the files.

    Raises:
      FileNotFoundError, OSError: the list can't be read.
      errors.InvalidArgumentError: the list is empty or malformed; the error names the line or the entry.

    >>> import os, tempfile, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "shards.txt")
    >>> tf.io.write_file(path, "s3://bucket/a.tfrecord")
    >>> tf.ShardList(path)[0]
    's3://bucket/a.tfrecord'
    """

    __slots__ = ("_files", "_path")

    def __init__(self, path: PathLike, *, storage_options: Mapping[str, Any] | None = None) -> None:
        name, is_url = location_of(path)
        if is_url:
            content, folder = _object(name, as_settings(storage_options)), _folder_of(name)
            self._path = public_url(name)
        else:
            with open(name, "rb") as file:
                content, folder = file.read(), _Folder(os.path.dirname(os.path.abspath(name)), "")
            self._path = name
        self._files = _files_in(content, folder, self._path)

    @property
    def path(self) -> str:
        """The path or URL of the list."""
        return self._path

    @property
    def num_bytes(self) -> int | None:
        """The total size of the files; None if the list does not have all sizes."""
        return _sum([file.bytes for file in self._files])

    @property
    def num_records(self) -> int | None:
        """The total number of records; None if the list does not have all numbers."""
        return _sum([file.records for file in self._files])

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> ListedFile: ...

    @overload
    def __getitem__(self, index: slice) -> ShardList: ...

    def __getitem__(self, index: int | slice) -> ListedFile | ShardList:
        if not isinstance(index, slice):
            return self._files[index]
        files = ShardList.__new__(ShardList)
        files._path, files._files = self._path, self._files[index]
        return files

    def __iter__(self) -> Iterator[ListedFile]:
        return iter(self._files)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardList):
            return NotImplemented
        return [_entry_of(file) for file in self] == [_entry_of(file) for file in other]

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> tuple[str, list[ListedFile]]:
        return self._path, self._files

    def __setstate__(self, state: tuple[str, list[ListedFile]]) -> None:
        self._path, self._files = state

    def __repr__(self) -> str:
        records = "" if self.num_records is None else f", {self.num_records} records"
        return f"<ShardList {self._path!r}: {len(self)} files{records}>"


class ListedCount(NamedTuple):
    bytes: int
    records: int


def listed_counts(files: Iterable[object]) -> dict[str, ListedCount]:
    """Return the sizes and numbers of records of local files for which a list has both, by path."""
    counts: dict[str, ListedCount] = {}
    for file in files:
        if isinstance(file, ListedFile) and file.bytes is not None and file.records is not None:
            location = location_of(file)
            if not location.is_url:
                counts[location.name] = ListedCount(file.bytes, file.records)
    return counts


class _Folder(NamedTuple):
    """The folder that names are relative to; `end` is the rest of a URL after it."""

    path: str
    end: str

    def full(self, name: str) -> str:
        if "://" in name or os.path.isabs(name):
            return name
        if "://" not in self.path:
            return os.path.join(self.path, name)
        return f"{self.path}/{name.removeprefix('./')}{self.end}"


def _folder_of(url: str) -> _Folder:
    """Return the folder of a URL; of a chained URL, `zip://a/list.txt::s3://…`, of its first link."""
    first, chain, rest = url.partition("::")
    if first.startswith(("http://", "https://")):
        first = first.partition("#")[0].partition("?")[0]
    return _Folder(first.rpartition("/")[0], chain + rest)


def _object(url: str, settings: StoreSettings) -> bytes:
    store, key = find_object(url, settings)
    info = store.info(key)
    return bytes(read_range(store, key, 0, info.size, info.version, settings))


def _files_in(content: bytes, folder: _Folder, path: str) -> list[ListedFile]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidArgumentError(f"{path}: the list is not UTF-8 text") from None
    if text.lstrip().startswith("{"):
        files = _manifest_files(text, folder, path)
    else:
        lines = (line.strip() for line in text.splitlines())
        files = [ListedFile(folder.full(line)) for line in lines if line and not line.startswith("#")]
        wrong = next((number for number, line in enumerate(text.splitlines(), 1) if "\0" in line), None)
        if wrong is not None:
            raise InvalidArgumentError(f"{path}: line {wrong} has a null character")
    if not files:
        raise InvalidArgumentError(f"{path}: the list is empty")
    return files


def _manifest_files(text: str, folder: _Folder, path: str) -> list[ListedFile]:
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise InvalidArgumentError(f"{path}: the manifest is not valid JSON: {error}") from None
    entries = manifest.get("files")
    if not isinstance(entries, list):
        raise InvalidArgumentError(f'{path}: the manifest has no "files": [...]')
    return [_file(entry, folder, f"{path}: entry {number} of the manifest") for number, entry in enumerate(entries)]


def _file(entry: object, folder: _Folder, where: str) -> ListedFile:
    if not isinstance(entry, dict):
        raise InvalidArgumentError(f"{where} is not an object")
    name = entry.get("name")
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidArgumentError(f'{where} has no valid "name"')
    return ListedFile(folder.full(name), _number(entry, "bytes", where), _number(entry, "records", where))


def _number(entry: dict[str, Any], key: str, where: str) -> int | None:
    value = entry.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
        raise InvalidArgumentError(f'{where}: "{key}" must be a non-negative integer, got {value!r}')
    return value


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _entry_of(file: ListedFile) -> tuple[str, int | None, int | None]:
    return str(file), file.bytes, file.records
