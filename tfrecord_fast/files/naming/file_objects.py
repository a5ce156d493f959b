"""File objects passed by the user, read from their current position."""

from __future__ import annotations

import functools
import io
import os
import threading
from collections.abc import Callable
from typing import Any

from ...errors import InvalidArgumentError


class FileObject:
    """A file object passed by the user. Each reading begins at the object's position when it was passed.

    An object that can't seek can be read once; the second reading raises InvalidArgumentError.
    """

    def __init__(self, file: Any, start: int | None = None) -> None:
        self.file = file
        self.start = _position(file) if start is None else start
        name = getattr(file, "name", None)
        self.label = os.fsencode(name) if isinstance(name, (str, bytes)) else b"<stream>"
        self._was_read = False
        self._lock = threading.Lock()

    def open(self) -> object:
        """Return a descriptor or a file object for the core."""
        if self.start is None:
            if self._was_read:
                raise InvalidArgumentError(
                    f"{os.fsdecode(self.label)}: this file object can't seek, so it can be read only once"
                )
            self._was_read = True
        if type(self.file) is io.FileIO:
            # Without a buffer, the core can read from the descriptor.
            if self.start is not None:
                self.file.seek(self.start)
            return self.file.fileno()
        return _Borrowed(self.file, self.start, self._lock)

    def __reduce__(self) -> tuple[type[FileObject], tuple[Any, int | None]]:
        return FileObject, (self.file, self.start)

    def __repr__(self) -> str:
        return repr(self.file)


def _position(file: Any) -> int | None:
    try:
        can_seek = file.seekable() if hasattr(file, "seekable") else hasattr(file, "seek")
        position = file.tell() if can_seek else None
    except (AttributeError, OSError, ValueError):  # reading will raise the error
        return None
    return position if isinstance(position, int) else None


class _Borrowed:
    """One reading of a file object, which stays open at the end. Readings may run at the same time."""

    def __init__(self, file: Any, start: int | None, lock: threading.Lock) -> None:
        readinto = getattr(file, "readinto1", None) or getattr(file, "readinto", None)
        if start is None:
            if readinto is not None:
                self.readinto = readinto
            self.read = file.read
            return
        self._seek, self._position, self._lock = file.seek, start, lock
        if readinto is not None:
            self.readinto = functools.partial(self._at_position, readinto, int)
        self.read = functools.partial(self._at_position, file.read, len)

    def _at_position(self, read: Callable[[Any], Any], size: Callable[[Any], int], argument: Any) -> Any:
        with self._lock:
            self._seek(self._position)
            result = read(argument)
            self._position += 0 if result is None else size(result)
            return result
