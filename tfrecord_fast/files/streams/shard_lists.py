"""Lists of files, with their sizes and counts, kept as a file: so that a bucket need not be listed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.addresses import public_url
from ..naming.location import location_of
from ..stores import StoreSettings, as_settings, find_store, read_range

__all__ = ["ListedCount", "ListedFile", "ShardList", "listed_counts"]


class ListedFile(str):
    """The name of a file, and what a list says of it: `bytes` and `records`, None where it says nothing."""

    bytes: int | None
    records: int | None

    def __new__(cls, name: str, bytes: int | None = None, records: int | None = None) -> ListedFile:
        file = super().__new__(cls, name)
        file.bytes, file.records = bytes, records
        return file

    def __reduce__(self) -> tuple[type[ListedFile], tuple[str, int | None, int | None]]:
        return ListedFile, (str(self), self.bytes, self.records)


class ShardList(Sequence[ListedFile]):
    """The files that a text file or a manifest names, for everything that takes files.

    A text file has one name per line; empty lines, and those whose first character is `#`, are left out. A manifest is
    JSON, `{"files": [{"name": "a.tfrecord", "bytes": 1048, "records": 12}, …]}`, as `ExampleWriter(manifest=…)` writes
    it; `bytes` and `records` may be missing. Names are paths or URLs; relative ones are relative to the list's folder.

    With a manifest, `len(reader)` needs no look into files whose `bytes` and `records` are there. A file that has
    another size than its manifest says is not read from a store: the manifest, or the file, is out of date.

    The list is read once, here. It is a sequence of str, whose slices are lists of the same kind; it pickles.

    Args:
      path: the list's path or URL.
      storage_options: for the store of a URL; those of the files themselves are the reader's.

    Raises:
      FileNotFoundError, OSError: the list can't be read.
      errors.InvalidArgumentError: it names no file, or is no such list; names the line or the entry.

    >>> import os, tempfile, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "shards.txt")
    >>> tf.io.write_file(path, "s3://bucket/a.tfrecord")
    >>> tf.ShardList(path)[0]
    's3://bucket/a.tfrecord'
    """

    __slots__ = ("_files", "_path")

    def __init__(self, path: PathLike, *, storage_options: Mapping[str, Any] | None = None) -> None:
        place = location_of(path)
        if place.is_url:
            content = _object(place.name, as_settings(storage_options))
            self._path = public_url(place.name)
        else:
            with open(place.name, "rb") as file:
                content = file.read()
            self._path = place.name
        names = _folder_of(place.name) if place.is_url else _Folder(os.path.dirname(os.path.abspath(place.name)), "")
        self._files = _files_in(content, names, self._path)

    @property
    def path(self) -> str:
        """Where the list was read from."""
        return self._path

    @property
    def num_bytes(self) -> int | None:
        """The bytes of all files; None if the list doesn't say."""
        return _sum([file.bytes for file in self._files])

    @property
    def num_records(self) -> int | None:
        """The records of all files; None if the list doesn't say."""
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
        part = ShardList.__new__(ShardList)
        part._path, part._files = self._path, self._files[index]
        return part

    def __iter__(self) -> Iterator[ListedFile]:
        return iter(self._files)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardList):
            return NotImplemented
        return [_said(file) for file in self] == [_said(file) for file in other]

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> tuple[str, list[ListedFile]]:
        return self._path, self._files

    def __setstate__(self, state: tuple[str, list[ListedFile]]) -> None:
        self._path, self._files = state

    def __repr__(self) -> str:
        records = "" if self.num_records is None else f", {self.num_records} records"
        return f"<ShardList {self._path!r}: {len(self)} files{records}>"


class ListedCount(NamedTuple):
    """What a list says of a file."""

    bytes: int
    records: int


def listed_counts(files: Iterable[object]) -> dict[str, ListedCount]:
    """What lists say of those local files that they say both numbers of, by the names under which they are read."""
    found: dict[str, ListedCount] = {}
    for file in files:
        if isinstance(file, ListedFile) and file.bytes is not None and file.records is not None:
            place = location_of(file)
            if not place.is_url:
                found[place.name] = ListedCount(file.bytes, file.records)
    return found


class _Folder:
    """The folder that names are relative to; `end` is what a URL has after it."""

    def __init__(self, path: str, end: str) -> None:
        self._path, self._end = path, end

    def full(self, name: str) -> str:
        """The name, seen from anywhere."""
        if "://" in name or os.path.isabs(name):
            return name
        if "://" not in self._path:
            return os.path.join(self._path, name)
        return f"{self._path}/{name.removeprefix('./')}{self._end}"


def _folder_of(url: str) -> _Folder:
    """A URL's folder; chained ones, `zip://a/list.txt::s3://…`, have it in their first part."""
    first, chain, rest = url.partition("::")
    if first.startswith(("http://", "https://")):
        first = first.partition("#")[0].partition("?")[0]
    return _Folder(first.rpartition("/")[0], chain + rest)


def _object(url: str, settings: StoreSettings) -> bytes:
    store, key = find_store(url, settings)
    info = store.info(key)
    return bytes(read_range(store, key, 0, info.size, info.version, settings))


def _files_in(content: bytes, folder: _Folder, path: str) -> list[ListedFile]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidArgumentError(f"{path}: a list of files is text, in UTF-8") from None
    if text.lstrip().startswith("{"):
        files = _of_manifest(text, folder, path)
    else:
        lines = (line.strip() for line in text.splitlines())
        files = [ListedFile(folder.full(line)) for line in lines if line and not line.startswith("#")]
        wrong = next((number for number, line in enumerate(text.splitlines(), 1) if "\0" in line), None)
        if wrong is not None:
            raise InvalidArgumentError(f"{path}: line {wrong} has a null character: no name of a file")
    if not files:
        raise InvalidArgumentError(f"{path}: the list names no file")
    return files


def _of_manifest(text: str, folder: _Folder, path: str) -> list[ListedFile]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidArgumentError(f"{path}: the manifest is no JSON: {error}") from None
    listed = found.get("files")
    if not isinstance(listed, list):
        raise InvalidArgumentError(f'{path}: a manifest is {{"files": [...]}}')
    return [_entry(entry, folder, f"{path}: entry {number} of the manifest") for number, entry in enumerate(listed)]


def _entry(entry: object, folder: _Folder, where: str) -> ListedFile:
    if not isinstance(entry, dict):
        raise InvalidArgumentError(f"{where} is no object")
    name = entry.get("name")
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidArgumentError(f'{where} has no "name"')
    return ListedFile(folder.full(name), _number(entry, "bytes", where), _number(entry, "records", where))


def _number(entry: dict[str, Any], key: str, where: str) -> int | None:
    value = entry.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
        raise InvalidArgumentError(f'{where}: "{key}" is a number of them, got {value!r}')
    return value


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _said(file: ListedFile) -> tuple[str, int | None, int | None]:
    return str(file), file.bytes, file.records
