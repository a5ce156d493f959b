"""Cloud object stores and HTTP servers, through obstore (the extra `cloud`)."""

from __future__ import annotations

import datetime
import itertools
import re
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import InvalidArgumentError
from ..naming.addresses import Address, public_url
from .errors import call
from .obstore_options import CloudOptions
from .obstore_upload import ObjectUpload, part_sizes
from .store import Answer, CheckedReads, ObjectInfo, Upload, Version

_PAGE = 1000  # keys per request
_PIECE = 1 << 20  # bytes
_UPLOAD_SECONDS = 60
# Errors about servers that ignore ranges, or do not know the object's size: the whole object is requested instead.
_NO_RANGES = re.compile("does not support range requests|non-partial response|parse value for CONTENT_RANGE")


class ObjectStore(CheckedReads):
    def __init__(self, library: Any, address: Address, options: CloudOptions) -> None:
        self._library = library
        self._base = f"{address.scheme}://{address.bucket}"
        self._provider = options.provider
        # A directory bucket of S3 Express, recognised by its name, lists its keys in no particular order.
        self._is_express = options.provider == "S3" and options.bucket.endswith("--x-s3")
        self._part_bytes = options.part_bytes
        # Reads are retried by stores/retrying.py, other requests by the library.
        self._plain = self._library_store(options, {"max_retries": 0})
        patient = {"max_retries": 5, "retry_timeout": datetime.timedelta(seconds=_UPLOAD_SECONDS)}
        self._patient = self._library_store(options, options.retries or patient)

    def _library_store(self, options: CloudOptions, retries: Any) -> Any:
        module = self._library.store
        arguments: dict[str, Any] = {"client_options": options.client, "retry_config": retries}
        if options.provider == "HTTP":
            return call(self._base, module.HTTPStore, f"{self._base}/", **arguments, **options.config)
        if options.credentials is not None:
            arguments["credential_provider"] = options.credentials
        classes = {"S3": module.S3Store, "GCS": module.GCSStore, "Azure": module.AzureStore}
        return call(self._base, classes[options.provider], options.bucket, config=options.config or None, **arguments)

    def __repr__(self) -> str:
        return f"ObjectStore({public_url(self._base)!r})"

    def __reduce__(self) -> Any:
        raise TypeError("a store cannot be pickled; pickle its URL and its options")

    def url(self, key: str) -> str:
        if self._provider == "HTTP":
            key = urllib.parse.quote(key, safe="/:@!$&'()*+,;=~")
        return public_url(f"{self._base}/{key}")

    def info(self, key: str) -> ObjectInfo:
        meta = call(self.url(key), self._library.head, self._plain, self._checked(key))
        return self._info_of(meta, key)

    def _info_of(self, meta: Any, key: str) -> ObjectInfo:
        return ObjectInfo(self.url(key), int(meta["size"]), Version.of(*_tag_time_size(meta)))

    def request(self, key: str, start: int, end: int, version: str | None, streams: bool) -> Answer:
        try:
            answer = self._library.get(self._plain, self._checked(key), options={"range": (start, end)})
        except Exception as error:
            if type(error).__name__ != "NotSupportedError" and not _NO_RANGES.search(str(error)):
                raise
            answer, streams = self._library.get(self._plain, self._checked(key)), True
        tag, time, size = _tag_time_size(answer.meta)
        pieces = answer.stream(min_chunk_size=_PIECE) if streams else (answer.bytes() for _ in range(1))
        begin, stop = answer.range
        return Answer(begin, stop, size, tag, time, pieces)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        folder, _, _ = prefix.rpartition("/")
        url = self.url(prefix)
        in_order = self._provider in ("S3", "GCS") and not self._is_express
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
                    return

    def folders(self, prefix: str) -> tuple[Sequence[str], Sequence[ObjectInfo]]:
        folder = prefix.rstrip("/")
        listing = call(
            self.url(prefix), self._library.list_with_delimiter, self._patient, self._checked(folder) or None
        )
        objects = [self._info_of(meta, meta["path"]) for meta in listing["objects"] if meta["path"] != folder]
        return sorted(f"{name}/" for name in listing["common_prefixes"]), sorted(objects)

    def upload(self, key: str, *, overwrite: bool = True, beside: int = 1) -> Upload:
        sizes = part_sizes(self._part_bytes, beside)
        return ObjectUpload(self._library, self._patient, self.url(key), self._checked(key), overwrite, sizes)

    def delete(self, key: str) -> None:
        call(self.url(key), self._library.delete, self._patient, self._checked(key))

    def move(self, source: str, target: str) -> None:
        names = self._checked(source), self._checked(target)
        call(self.url(source), self._library.copy, self._patient, *names)
        self.delete(source)

    def is_folder(self, key: str) -> bool:
        return key == "" or next(self.list(f"{key.rstrip('/')}/"), None) is not None

    def make_folder(self, key: str, *, parents: bool) -> None:
        """Do nothing: a folder is a prefix of keys."""

    def delete_below(self, key: str) -> None:
        keys = (self.key_of(info) for info in self.list(f"{key.rstrip('/')}/" if key else ""))
        while page := list(itertools.islice(keys, _PAGE)):
            call(self.url(key), self._library.delete, self._patient, page)

    def key_of(self, info: ObjectInfo) -> str:
        """Return the key of an object, for providers whose URLs contain keys unchanged."""
        return info.url[len(self._base) + 1 :]

    def _checked(self, key: str) -> str:
        """Reject a key that obstore would change into another one."""
        if key.startswith("/") or "//" in key or any(name in (".", "..") for name in key.split("/")):
            raise InvalidArgumentError(
                f"{self.url(key)}: a key must not contain //, begin with /, or have a part named . or .."
            )
        return key


def _tag_time_size(meta: Any) -> tuple[str | None, float | None, int]:
    tag = str(meta.get("e_tag") or "").replace('"', "")  # listings of some stores leave the quotes out
    # If a server sends no time, the library sets the beginning of 1970.
    return tag or None, meta["last_modified"].timestamp() or None, int(meta["size"])


def _just_before(prefix: str) -> str | None:
    """Return a key that sorts before all keys with this prefix and after most others."""
    last = ord(prefix[-1]) if prefix else 0
    return f"{prefix[:-1]}{chr(last - 1)}\U0010ffff" if 0x21 < last < 0x80 else None
