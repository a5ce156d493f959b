"""Reading a URL as a file."""

from __future__ import annotations

import errno
import io
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ...base.process import Origin
from ..stores.errors import check_process
from ..stores.requests import read_range
from ..stores.settings import StoreSettings, as_settings
from ..stores.store import Buffer, ObjectInfo, Store
from ..stores.threads import run

__all__ = ["UrlReader", "has_a_size"]

_BLOCK = 4 << 20
_AHEAD = 4  # blocks


def has_a_size(store: Store, key: str) -> bool:
    """Whether the store says how large the object is; without that, it is read from its start to its end only."""
    try:
        store.info(key)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return False
        raise
    return True


class UrlReader(io.RawIOBase):
    """An object of a store, as a binary file object that can seek.

    Bytes come in blocks; where reading goes on in order, some blocks are asked for ahead. All are of the version that
    the object had when it was opened.

    Raises:
      errors.FailedPreconditionError: it is read in a process that was forked from the one that opened it.
      FileNotFoundError, PermissionError, ConnectionError, TimeoutError, OSError: now, or when it is read; ESTALE if the
        object has changed.
    """

    def __init__(self, store: Store, key: str, settings: StoreSettings | Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._store, self._key, self._settings = store, key, as_settings(settings)
        self.info: ObjectInfo = store.info(key)
        self.name = self.info.url
        self._position = 0
        self._in_order = 0  # the block after the last one that was read in order
        self._blocks: OrderedDict[int, _Block] = OrderedDict()
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
        check_process(self._origin, self.name)  # what was asked for arrives there, and connections are that process's
        number, offset = divmod(self._position, _BLOCK)
        data = memoryview(self._block(number)).cast("B")[offset : offset + len(target)]
        target[: len(data)] = data
        self._position += len(data)
        return len(data)

    def _block(self, number: int) -> Buffer:
        in_order = number in (0, self._in_order, self._in_order - 1)
        self._in_order = number + 1
        last = (self.info.size - 1) // _BLOCK
        # The first block is read alone, since it may be all that is wanted; then one more at a time goes ahead.
        ahead = min(_AHEAD, number) if in_order else 0
        for wanted in range(number, min(last, number + ahead) + 1):
            if wanted not in self._blocks:
                self._blocks[wanted] = self._asked(wanted)
        block = self._blocks[number]
        self._blocks.move_to_end(number)
        for other in [other for other in self._blocks if not number <= other <= number + _AHEAD]:
            del self._blocks[other]
        try:
            return block.taken()
        except BaseException:
            self._blocks.pop(number, None)  # the next try asks again
            raise

    def _asked(self, number: int) -> _Block:
        start = number * _BLOCK
        end = min(start + _BLOCK, self.info.size)
        return _Block(self._store, self._key, start, end, self.info.version, self._settings)

    def close(self) -> None:
        self._blocks.clear()
        super().close()


class _Block:
    """A range that was asked for."""

    def __init__(self, *request: Any) -> None:
        self._request = request
        self._there = threading.Event()
        self._data: Buffer | None = None
        self._error: Exception | None = None
        run(self._fetch)

    def _fetch(self) -> None:
        try:
            self._data = read_range(*self._request)
        except Exception as error:
            self._error = error
        self._there.set()

    def taken(self) -> Buffer:
        self._there.wait()
        if self._error is not None:
            raise self._error
        return self._data
