"""Open a URL as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..stores.file_systems import FileSystemStore
from ..stores.finding import find_store
from .url_reader import UrlReader, has_a_size
from .url_writer import UrlWriter

__all__ = ["open_url"]


def open_url(url: str, mode: str, options: Mapping[str, Any] | None = None) -> Any:
    """Opens a URL for bytes; to be written, as a UrlWriter.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme; a mode that objects don't have, such as "a".
      FileNotFoundError, OSError: when it is opened, or when it is read.
    """
    mode = mode.replace("b", "").replace("t", "") + "b"
    if mode != "rb":
        return UrlWriter(url, mode, options)
    store, key = find_store(url, options)
    if isinstance(store, FileSystemStore) and not (store.fetches and has_a_size(store, key)):
        return store.open(key)
    return UrlReader(store, key)
