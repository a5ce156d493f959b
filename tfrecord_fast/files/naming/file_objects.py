"""The user's file objects, read from their current position, as often as they can be."""

from __future__ import annotations

import functools
import io
import os
import threading
from collections.abc import Callable
from typing import Any

from ...errors import InvalidArgumentError

__all__ = ["FileObject"]


class FileObject:
    """One of the user's file objects: each reading begins at the position that it had when it was given.

    If it can't seek there is one reading; the second raises InvalidArgumentError.
    """

    def __init__(self, file: Any, start: int | None = None) -> None:
        self.file = file
        self.start = _position(file) if start is None else start
        name = getattr(file, "name", None)
        self.label = os.fsencode(name) if isinstance(name, (str, bytes)) else b"<stream>"
        self._was_read = False
        self._lock = threading.Lock()

    def open(self) -> object:
        """What the core reads."""
        if self.start is None:
            if self._was_read:
                raise InvalidArgumentError(
                    f"{os.fsdecode(self.label)}: this file object can't seek, so it can be read only once"
                )
            self._was_read = True
        if type(self.file) is io.FileIO:
            # Unbuffered, so the descriptor's position is the file's: the core reads it without Python.
            if self.start is not None:
                self.file.seek(self.start)
            return self.file.fileno()
        return _Borrowed(self.file, self.start, self._lock)

    def __reduce__(self) -> tuple[type[FileObject], tuple[Any, int | None]]:
        return FileObject, (self.file, self.start)

    def __repr__(self) -> str:
        return repr(self.file)


def _position(file: Any) -> int | None:
    """The file's position; None if it can't be brought back there."""
    try:
        can_seek = file.seekable() if hasattr(file, "seekable") else hasattr(file, "seek")
        position = file.tell() if can_seek else None
    except (AttributeError, OSError, ValueError):  # a closed file says so when it is read
        return None
    return position if isinstance(position, int) else None


class _Borrowed:
    """One reading of a file object, which stays open at the end. Others may read the object at the same time."""

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
            got = read(argument)
            self._position += 0 if got is None else size(got)
            return got
