"""Write to a URL as to a file."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping
from typing import Any

from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..naming.addresses import public_url
from ..stores.errors import check_process
from ..stores.finding import find_object
from ..stores.store import Upload


class UrlWriter:
    """A binary file object that writes an object. The object appears, complete, when it is closed.

    Args:
      url: the object's URL.
      mode: "wb", or "xb", which does not replace an object.
      options: `storage_options` of the store.
      beside: the number of objects written at the same time, which share the memory for upload parts.

    `discard` leaves the previous object. If the writer is dropped, or the process ends, it is discarded with a warning.
    Later writes are ignored.

    Raises:
      errors.InvalidArgumentError: no file system supports the URL's scheme, or another mode.
      FileExistsError: (now or in `close`) the object exists, with "xb".
      OSError: (in any method) the store fails. Nothing appears.
      errors.FailedPreconditionError: (in `write` and `close`) this is a forked process of the opening one.
    """

    def __init__(
        self, url: str, mode: str = "wb", options: Mapping[str, Any] | None = None, *, beside: int = 1
    ) -> None:
        store, key = find_object(url, options)
        if mode not in ("wb", "xb"):
            raise InvalidArgumentError(
                f"{public_url(url)}: mode {mode!r} is not supported for URLs: objects are written as a whole and can't "
                "be appended to; write another object instead"
            )
        self._upload: Upload = store.upload(key, overwrite=mode == "wb", beside=beside)
        self._complete = False
        self._origin, self._name = Origin(), public_url(url)
        self._written = 0
        # Unlike __del__, it also runs when the interpreter exits.
        self._open = weakref.finalize(self, _drop, self._name, self._origin, self._upload)

    @property
    def closed(self) -> bool:
        return not self._open.alive

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def write(self, data: bytes | memoryview) -> int:
        """Take all the bytes."""
        check_process(self._origin, self._name)
        size = memoryview(data).nbytes
        if self._open.alive:
            try:
                self._upload.write(data)
            except BaseException:
                self.discard()
                raise
            self._written += size
        elif self._complete:
            raise ValueError("I/O operation on closed file.")
        return size

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Do nothing: the object appears when it is closed."""

    def close(self) -> None:
        """Complete the object. Further calls do nothing."""
        if self._open.detach() is None:
            return
        check_process(self._origin, self._name)
        try:
            self._upload.complete()
            self._complete = True
        except BaseException:
            self._upload.abort()
            raise

    def discard(self) -> None:
        """Abort the upload. Does nothing after `close`."""
        if self._open.detach() is not None:
            self._upload.abort()

    def drop(self) -> None:
        if self._open.alive:
            self._open()


def _drop(url: str, origin: Origin, upload: Upload) -> None:
    upload.abort()
    if origin.is_here():
        warnings.warn(f"{url}: not closed, so nothing was written", RuntimeWarning, stacklevel=3)
