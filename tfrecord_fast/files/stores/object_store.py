"""Stores of objects in the cloud, and servers of HTTP, through obstore (the extra `cloud`)."""

from __future__ import annotations

import datetime
import errno
import itertools
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import InvalidArgumentError
from ..naming.addresses import Address, public_url
from .cloud_options import CloudOptions
from .errors import call, changed, os_error
from .object_upload import ObjectUpload, part_sizes
from .store import Buffer, ObjectInfo, Upload, Version

__all__ = ["ObjectStore"]

_PAGE = 1000  # names in a page of a listing
_PIECE = 1 << 20  # bytes of a piece
_UPLOAD_SECONDS = 60


class ObjectStore:
    """One bucket, container or host, as `Store` says."""

    def __init__(self, library: Any, address: Address, options: CloudOptions) -> None:
        self._library = library
        self._base = f"{address.scheme}://{address.place}"
        self._kind = options.kind
        # A directory bucket of S3 Express, whose name ends like this, lists its keys in no order.
        self._is_express = options.kind == "S3" and options.place.endswith("--x-s3")
        self._part_bytes = options.part_bytes
        # Requests of readers are tried again by stores/requests.py, others by the library.
        self._plain = self._made(options, {"max_retries": 0})
        patient = {"max_retries": 5, "retry_timeout": datetime.timedelta(seconds=_UPLOAD_SECONDS)}
        self._patient = self._made(options, options.retries or patient)

    def _made(self, options: CloudOptions, retries: Any) -> Any:
        module = self._library.store
        given: dict[str, Any] = {"client_options": options.client, "retry_config": retries}
        if options.kind == "HTTP":
            return call(self._base, module.HTTPStore, f"{self._base}/", **given, **options.config)
        if options.credentials is not None:
            given["credential_provider"] = options.credentials
        made = {"S3": module.S3Store, "GCS": module.GCSStore, "Azure": module.AzureStore}[options.kind]
        return call(self._base, made, options.place, config=options.config or None, **given)

    def __repr__(self) -> str:
        return f"ObjectStore({public_url(self._base)!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a store belongs to its process; its URL and its options can be pickled")

    def url(self, key: str) -> str:
        if self._kind == "HTTP":
            key = urllib.parse.quote(key, safe="/:@!$&'()*+,;=~")
        return public_url(f"{self._base}/{key}")

    def info(self, key: str) -> ObjectInfo:
        meta = call(self.url(key), self._library.head, self._plain, self._checked(key))
        return self._info_of(meta, key)

    def _info_of(self, meta: Any, key: str) -> ObjectInfo:
        return ObjectInfo(self.url(key), int(meta["size"]), _version_of(meta))

    def read(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Buffer:
        if start >= end:
            return b""
        url = self.url(key)
        return call(url, self._read, url, key, start, end, version)

    def _read(self, url: str, key: str, start: int, end: int, version: str | None) -> Buffer:
        found = self._opened(url, key, start, end, version)
        if found is None:
            return b"".join(self._skipped_to(url, key, start, end, version))
        data = found.bytes()
        if len(data) != end - start:
            raise ConnectionError(errno.ECONNRESET, "the answer was cut off", url)
        return data

    def read_head(self, key: str, most: int, *, timeout: float | None = None) -> tuple[Buffer, ObjectInfo]:
        url = self.url(key)
        try:
            return call(url, self._read_head, url, key, most)
        except (FileNotFoundError, PermissionError, ConnectionError, TimeoutError):
            raise
        except OSError:  # it is empty, where a range of nothing is refused, or there are no ranges
            info = self.info(key)
        return self.read(key, 0, min(most, info.size), version=info.version, timeout=timeout), info

    def _read_head(self, url: str, key: str, most: int) -> tuple[Buffer, ObjectInfo]:
        found = self._library.get(self._plain, self._checked(key), options={"range": (0, most)})
        info, data = self._info_of(found.meta, key), found.bytes()
        if len(data) != min(most, info.size):
            raise ConnectionError(errno.ECONNRESET, "the answer was cut off", url)
        return data, info

    def pieces(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Iterator[Buffer]:
        url = self.url(key)
        try:
            found = self._opened(url, key, start, end, version)
            if found is None:
                yield from self._skipped_to(url, key, start, end, version)
                return
            done = 0
            for piece in found.stream(min_chunk_size=_PIECE):
                done += len(piece)
                yield piece
            if done == end - start:
                return
            failed: Exception = ConnectionError(errno.ECONNRESET, "the answer was cut off", url)
        except Exception as error:
            failed = os_error(error, url)
        raise failed

    def _opened(self, url: str, key: str, start: int, end: int, version: str | None) -> Any:
        """The answer with just this range and of this version; None if the server gives no ranges."""
        try:
            found = self._library.get(self._plain, self._checked(key), options={"range": (start, end)})
        except Exception as error:
            if "does not support range requests" in str(error) or type(error).__name__ == "NotSupportedError":
                return None
            raise
        self._check_version(url, found.meta, version)
        if tuple(found.range) != (start, end):  # it is shorter than it was
            raise changed(url)
        return found

    def _skipped_to(self, url: str, key: str, start: int, end: int, version: str | None) -> Iterator[Buffer]:
        """The range, cut out of the whole object."""
        found = self._library.get(self._plain, self._checked(key))
        self._check_version(url, found.meta, version)
        place = 0
        for piece in found.stream(min_chunk_size=_PIECE):
            wanted = memoryview(piece)[max(0, start - place) : max(0, end - place)]
            place += len(piece)
            if len(wanted) > 0:
                yield wanted
            if place >= end:
                return
        raise changed(url)

    def _check_version(self, url: str, meta: Any, version: str | None) -> None:
        if isinstance(version, Version):
            fits = version.fits(*_said(meta))
        else:
            fits = version in (None, _version_of(meta))
        if not fits:
            raise changed(url)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        folder, _, _ = prefix.rpartition("/")
        url = self.url(prefix)
        in_order = self._kind in ("S3", "GCS") and not self._is_express
        offset = _just_before(prefix) if in_order and prefix != f"{folder}/" else None
        pages = call(
            url, self._library.list, self._patient, self._checked(folder) or None, offset=offset, chunk_size=_PAGE
        )
        while True:
            page = call(url, next, pages, None)
            if page is None:
                return
            for meta in page:
                if meta["path"].startswith(prefix):
                    yield self._info_of(meta, meta["path"])
                elif offset is not None and meta["path"] > prefix:
                    return  # they come in order

    def folders(self, prefix: str) -> tuple[Sequence[str], Sequence[ObjectInfo]]:
        folder = prefix.rstrip("/")
        found = call(self.url(prefix), self._library.list_with_delimiter, self._patient, self._checked(folder) or None)
        objects = [self._info_of(meta, meta["path"]) for meta in found["objects"] if meta["path"] != folder]
        return sorted(f"{name}/" for name in found["common_prefixes"]), sorted(objects)

    def upload(self, key: str, *, overwrite: bool = True, beside: int = 1) -> Upload:
        sizes = part_sizes(self._part_bytes, beside)
        return ObjectUpload(self._library, self._patient, self.url(key), self._checked(key), overwrite, sizes)

    def delete(self, key: str) -> None:
        call(self.url(key), self._library.delete, self._patient, self._checked(key))

    def copy(self, source: str, target: str) -> None:
        names = self._checked(source), self._checked(target)
        call(self.url(source), self._library.copy, self._patient, *names)

    def move(self, source: str, target: str) -> None:
        self.copy(source, target)
        self.delete(source)

    def is_folder(self, key: str) -> bool:
        return key == "" or next(self.list(f"{key.rstrip('/')}/"), None) is not None

    def make_folder(self, key: str, *, parents: bool) -> None:
        """Folders are a way to look at keys."""

    def delete_below(self, key: str) -> None:
        found = (self.key_of(info) for info in self.list(f"{key.rstrip('/')}/" if key else ""))
        while page := list(itertools.islice(found, _PAGE)):
            call(self.url(key), self._library.delete, self._patient, page)

    def key_of(self, info: ObjectInfo) -> str:
        """The key of an object of this store that has keys as they are in its URLs."""
        return info.url[len(self._base) + 1 :]

    def _checked(self, key: str) -> str:
        """Keys that obstore would change are refused: they would be others."""
        if "//" in key or any(part in (".", "..") for part in key.split("/")):
            raise InvalidArgumentError(f"{self.url(key)}: a key with an empty part, or with the part . or ..")
        return key


def _version_of(meta: Any) -> Version | None:
    return Version.of(*_said(meta))


def _said(meta: Any) -> tuple[str | None, float | None, int]:
    """The tag, the time and the size."""
    tag = str(meta.get("e_tag") or "").replace('"', "")  # listings of some stores leave the quotes out
    # The library says the beginning of 1970 where a server says no time.
    return tag or None, meta["last_modified"].timestamp() or None, int(meta["size"])


def _just_before(prefix: str) -> str | None:
    """A name after which the first one with this prefix comes."""
    last = ord(prefix[-1]) if prefix else 0
    return f"{prefix[:-1]}{chr(last - 1)}\U0010ffff" if 0x21 < last < 0x80 else None
