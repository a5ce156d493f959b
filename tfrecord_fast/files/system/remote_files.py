"""The functions of `file_system` for URLs. `options` are `storage_options`."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..naming.addresses import is_folder_name, public_url
from ..stores.finding import find_object, find_store
from ..stores.store import ObjectInfo, Store

Options = Mapping[str, Any] | None


def exists(url: str, options: Options) -> bool:
    store, key = find_store(url, options)
    if key and not is_folder_name(url) and _info_or_none(store, key) is not None:
        return True
    return isdir(url, options)


def _info_or_none(store: Store, key: str) -> ObjectInfo | None:
    try:
        return store.info(key)
    except (FileNotFoundError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return ObjectInfo(store.url(key), 0, None)  # it exists, and the store does not report its size


def isdir(url: str, options: Options) -> bool:
    store, key = find_store(url, options, lists=True)
    return store.is_folder(key)


def size(url: str, options: Options) -> int | None:
    """Return the size of an object in bytes; None for a folder."""
    store, key = find_store(url, options)
    try:
        if not is_folder_name(url):
            return store.info(key).size
    except IsADirectoryError:
        return None
    except FileNotFoundError:
        pass
    if isdir(url, options):
        return None
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), public_url(url))


def listdir(url: str, options: Options) -> list[str]:
    store, key = find_store(url, options, lists=True)
    folders, files = _entries(store, key)
    if not folders and not files and not store.is_folder(key):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), public_url(url))
    return sorted([*folders, *files])


def _entries(store: Store, key: str) -> tuple[list[str], list[str]]:
    folders, objects = store.folders(f"{key.rstrip('/')}/" if key.strip("/") else key)
    return (
        sorted(name.rstrip("/").rpartition("/")[2] for name in folders),
        sorted(info.url.partition("::")[0].rpartition("/")[2] for info in objects),
    )


def make_folder(url: str, options: Options, *, parents: bool) -> None:
    store, key = find_store(url, options, lists=True)
    if not parents and key.strip("/") and _info_or_none(store, key) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), public_url(url))
    store.make_folder(key, parents=parents)


def remove(url: str, options: Options) -> None:
    store, key = find_object(url, options)
    store.info(key)  # many stores ignore that it does not exist
    store.delete(key)


def rmtree(url: str, options: Options) -> None:
    store, key = find_store(url, options, lists=True)
    if not store.is_folder(key):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), public_url(url))
    store.delete_below(key)


def rename(source: str, target: str, options: Options) -> bool:
    """Rename a file; return False if the target is in another store."""
    store, key = find_object(source, options)
    other, new = find_object(target, options)
    if other is not store:
        return False
    if key == new:  # the store would refuse the copy, or delete the object after it
        store.info(key)
        return True
    store.move(key, new)
    return True


def is_same_object(source: str, target: str, options: Options) -> bool:
    """Return True if both URLs name one object, which must exist."""
    store, key = find_object(source, options)
    store.info(key)
    return find_object(target, options) == (store, key)


def walk(
    url: str, options: Options, topdown: bool = True, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield as `os.walk` does; errors are raised unless there is `onerror`."""
    store, key = find_store(url, options, lists=True)
    if not store.is_folder(key):
        return
    yield from _walk(store, key.rstrip("/"), topdown, onerror)


def _walk(
    store: Store, folder: str, topdown: bool, onerror: Callable[[OSError], object] | None
) -> Iterator[tuple[str, list[str], list[str]]]:
    try:
        folders, files = _entries(store, folder)
    except OSError as error:
        if onerror is None:
            raise
        onerror(error)
        return
    if topdown:
        yield store.url(folder), folders, files
    for name in folders:
        yield from _walk(store, f"{folder}/{name}" if folder else name, topdown, onerror)
    if not topdown:
        yield store.url(folder), folders, files
