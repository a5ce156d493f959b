"""Conversions between str and bytes, under TensorFlow's names; values in HTML, for notebooks."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

SHOWN_ROWS = 10
_LONGEST = 80  # characters of a value in HTML


def as_bytes(bytes_or_text: str | bytes | bytearray, encoding: str = "utf-8") -> bytes:
    """Return str, bytes or a bytearray as bytes.

    Raises:
      TypeError: another type.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """Return str or bytes as str.

    Raises:
      TypeError: another type.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: object, encoding: str = "utf-8") -> str:
    """Return any value as str."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """Return a PathLike as str; every other value as it is."""
    return as_str_any(os.fspath(path)) if isinstance(path, os.PathLike) else path


def did_you_mean(name: object, known: Iterable[object], show: Callable[[object], str] = repr) -> str:
    """Return "; did you mean …?" for the known name most like `name`, or nothing."""
    names = {str(other).lower(): other for other in known}
    near = difflib.get_close_matches(str(name).lower(), names, 1)
    return f"; did you mean {show(names[near[0]])}?" if near else ""


def html_table(title: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a title and rows of values as HTML. Long values are cut."""
    lines = ["<tr>" + "".join(f"<td>{escape(_cut(value))}</td>" for value in row) + "</tr>" for row in rows]
    return f"<code>{escape(title)}</code>" + (f"<table>{''.join(lines)}</table>" if lines else "")


def _cut(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
