"""Files named by a URL, through fsspec (the extra `fsspec`)."""

from __future__ import annotations

from typing import Any, BinaryIO

from ..base.optional import optional

__all__ = ["file_system_of", "is_url", "matching_urls", "open_url"]


def is_url(path: str) -> bool:
    """Whether the path names a file system of fsspec: `scheme://…`."""
    scheme, colon, _ = path.partition("://")
    return bool(colon) and scheme.replace("+", "").replace("::", "").isalnum() and len(scheme) > 1


def open_url(url: str, mode: str, encoding: str | None = None) -> BinaryIO:
    """Opens a URL; as text if the mode says so."""
    file: BinaryIO = _fsspec().open(url, mode, encoding=encoding).open()
    return file


def file_system_of(url: str) -> tuple[Any, str]:
    """fsspec's file system of a URL, and the path in it."""
    system, path = _fsspec().core.url_to_fs(url)
    return system, path


def matching_urls(url: str) -> list[str]:
    """The URL; for a pattern, the URLs that match it, sorted.

    Raises:
      FileNotFoundError: a pattern matches nothing.
    """
    if not any(c in url for c in "*?["):
        return [url]
    system, pattern = file_system_of(url)
    urls = sorted(system.unstrip_protocol(name) for name in system.glob(pattern))
    if not urls:
        raise FileNotFoundError(2, "no file matches the pattern", url)
    return urls


def _fsspec() -> Any:
    return optional("fsspec", "URLs need fsspec")
