"""Open a URL as a file."""

from __future__ import annotations

import errno
import io
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from ...base.process import Origin
from ..stores.errors import check_process
from ..stores.finding import find_object
from ..stores.fsspec_store import FileSystemStore
from ..stores.retrying import read_range
from ..stores.settings import StoreSettings, as_settings
from ..stores.store import Buffer, ObjectInfo, Store
from ..stores.threads import start as request_thread
from .url_writer import UrlWriter

_BLOCK = 4 << 20
_AHEAD = 4  # blocks


def open_url(url: str, mode: str, options: Mapping[str, Any] | None = None) -> Any:
    """Open a URL as a binary file; for writing, as a UrlWriter."""
    mode = mode.replace("b", "").replace("t", "") + "b"
    if mode != "rb":
        return UrlWriter(url, mode, options)
    store, key = find_object(url, options)
    if isinstance(store, FileSystemStore) and not store.fetches:
        return store.open(key)
    return UrlReader(store, key)


class UrlReader(io.RawIOBase):
    """A seekable binary file object that reads an object, in the version that it has when it is opened.

    Bytes are fetched in blocks; while they are read in order, the next blocks are requested ahead.
    """

    def __init__(self, store: Store, key: str, settings: StoreSettings | Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._blocks: dict[int, Future[Buffer]] = {}  # first of all: close() needs it even if the object is missing
        self._store, self._key, self._settings = store, key, as_settings(settings)
        self.info: ObjectInfo = store.info(key)
        self.name = self.info.url
        self._position = 0
        self._in_order = 0  # the block after the last one
        self._origin = Origin()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.info.size}[whence]
        if base + offset < 0:
            raise OSError(errno.EINVAL, "negative seek position", self.name)
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        target = memoryview(buffer).cast("B")
        if len(target) == 0 or self._position >= self.info.size:
            return 0
        check_process(self._origin, self.name)  # requests and connections are the opening process's
        number, offset = divmod(self._position, _BLOCK)
        data = memoryview(self._block(number)).cast("B")[offset : offset + len(target)]
        target[: len(data)] = data
        self._position += len(data)
        return len(data)

    def _block(self, number: int) -> Buffer:
        in_order = number in (0, self._in_order, self._in_order - 1)
        self._in_order = number + 1
        last = (self.info.size - 1) // _BLOCK
        # The first block is requested alone, since no more may be needed; then one more each time, up to _AHEAD.
        ahead = min(_AHEAD, number) if in_order else 0
        for needed in range(number, min(last, number + ahead) + 1):
            if needed not in self._blocks:
                self._blocks[needed] = self._requested(needed)
        block = self._blocks[number]
        for other in [other for other in self._blocks if not number <= other <= number + _AHEAD]:
            del self._blocks[other]
        try:
            return block.result()
        except BaseException:
            self._blocks.pop(number, None)  # the next read requests it again
            raise

    def _requested(self, number: int) -> Future[Buffer]:
        start = number * _BLOCK
        end = min(start + _BLOCK, self.info.size)
        return request_thread(read_range, self._store, self._key, start, end, self.info.version, self._settings)

    def close(self) -> None:
        self._blocks.clear()
        super().close()
