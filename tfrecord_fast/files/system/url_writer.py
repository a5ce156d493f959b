"""Writing to a URL as to a file."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping
from typing import Any

from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..naming.addresses import public_url
from ..stores.errors import check_process
from ..stores.finding import find_store
from ..stores.store import Upload

__all__ = ["UrlWriter"]


class UrlWriter:
    """A URL that is written, as a binary file object. It appears under its name, complete, when it is closed.

    Args:
      url: of the object.
      mode: "wb", or "xb", which does not replace an object.
      options: `storage_options` of the store.
      beside: how many are written at the same time, which share the memory for parts.

    `discard` leaves what was there before. So do being dropped and the end of the process, with a warning: nobody can
    tell whether all was written. What is written after that goes nowhere.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme; another mode.
      FileExistsError: (now or by `close`) with "xb", it exists.
      OSError: by any method: the store's answer. Nothing appears.
      errors.FailedPreconditionError: by `write` and `close`, in a process that was forked from the one that opened it.
    """

    def __init__(
        self, url: str, mode: str = "wb", options: Mapping[str, Any] | None = None, *, beside: int = 1
    ) -> None:
        store, key = find_store(url, options)
        if mode not in ("wb", "xb"):
            raise InvalidArgumentError(
                f"{public_url(url)}: an object can't be opened as {mode!r}: it is written as a whole, from its start, "
                "so nothing can be appended to it; write another one beside it"
            )
        self._upload: Upload = store.upload(key, overwrite=mode == "wb", beside=beside)
        self._complete = False
        self._origin, self._name = Origin(), public_url(url)
        self._written = 0
        # Unlike __del__, it also runs when the interpreter exits.
        self._open = weakref.finalize(self, _drop, self._name, self._origin, self._upload)

    @property
    def closed(self) -> bool:
        """Whether it was closed or discarded."""
        return not self._open.alive

    def readable(self) -> bool:
        """False."""
        return False

    def writable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """False."""
        return False

    def write(self, data: bytes | memoryview) -> int:
        """Takes all the bytes."""
        check_process(self._origin, self._name)
        size = memoryview(data).nbytes
        if self._open.alive:
            try:
                self._upload.write(data)
            except BaseException:
                self.discard()  # nobody knows what it has taken
                raise
            self._written += size
        elif self._complete:
            raise ValueError("I/O operation on closed file.")
        return size

    def tell(self) -> int:
        """How many bytes were written."""
        return self._written

    def flush(self) -> None:
        """What is written shows when the file is closed, not before."""

    def close(self) -> None:
        """Completes the file. Further calls do nothing."""
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
        """Writes nothing under the name. Does nothing to a file that was closed."""
        if self._open.detach() is not None:
            self._upload.abort()

    def drop(self) -> None:
        """As `discard`, with a warning."""
        if self._open.alive:
            self._open()


def _drop(url: str, origin: Origin, upload: Upload) -> None:
    upload.abort()
    if origin.is_here():
        warnings.warn(f"{url}: not closed, so nothing was written", RuntimeWarning, stacklevel=3)
