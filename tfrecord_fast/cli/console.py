"""The output of subcommands: results on standard output, problems and progress on standard error."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .progress import Progress

_COLOURS = {"head": "1", "name": "36", "kind": "2", "number": "33", "text": "32", "image": "35", "bad": "31"}


class OutputFailed(Exception):
    """Standard output can't be written. Not an OSError, which would be attributed to an input file."""


class OutputClosed(OutputFailed):
    """The reader of standard output has closed it, as in `tfrecord-fast cat FILE | head`."""


class Style:
    """Colours for a terminal. There are none if NO_COLOR is set or standard output is not a terminal.

    >>> Style(coloured=False)("name", "label")
    'label'
    """

    def __init__(self, coloured: bool | None = None) -> None:
        if coloured is None:
            wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
            coloured = wanted and sys.stdout is not None and sys.stdout.isatty()
        self._coloured = coloured

    def __call__(self, role: str, text: str) -> str:
        """Colour a text by its role: "head", "name", "kind", "number", "text", "image" or "bad"."""
        return f"\x1b[{_COLOURS[role]}m{text}\x1b[0m" if self._coloured else text


def printable(text: str) -> str:
    r"""Escape control characters, and bytes of names that are not UTF-8, with backslashes, as `ls` does.

    >>> print(printable("a\nb"))
    a\nb
    """
    return "".join(
        f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c if c.isprintable() else repr(c)[1:-1]
        for c in text
    )


def counted(number: int, noun: str = "record") -> str:
    """Return a number with its noun: `1 record`, `1,000 records`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


class Console:
    """Printer of whole lines. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._progress: Progress | None = None

    def line(self, text: str) -> None:
        """Print one line of results; control characters are escaped."""
        self.text(printable(text))

    def text(self, text: str) -> None:
        """Print results as they are: they may have colours or several lines."""
        self.write(text.encode("utf-8", "backslashreplace") + b"\n")

    def json(self, value: dict[str, Any]) -> None:
        self.text(json.dumps(value))

    def write(self, data: bytes) -> None:
        with self._lock, self._without_progress():
            if sys.stdout is None:
                raise OutputFailed("it is closed")
            try:
                sys.stdout.buffer.write(data)
                # Show each result at once, and detect a broken pipe here instead of when Python exits.
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                raise OutputClosed from None
            except OSError as error:
                raise OutputFailed(error.strerror or str(error)) from None

    def problem(self, text: str) -> None:
        line = f"tfrecord-fast: {printable(text)}\n"
        with self._lock, self._without_progress():
            sys.stderr.write(line.encode("utf-8", "backslashreplace").decode())
            sys.stderr.flush()

    def progress(self, total_bytes: int | None) -> Progress:
        """Return a progress bar, a context manager; it shows nothing unless standard error is a terminal.

        Args:
          total_bytes: the number of bytes to read; None if unknown.
        """
        self._progress = Progress(total_bytes, self._lock)
        return self._progress

    def _without_progress(self) -> AbstractContextManager[None]:
        return nullcontext() if self._progress is None else self._progress.hidden()
