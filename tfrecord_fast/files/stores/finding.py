"""The store of a URL. Stores are kept: their connections are reused, within one process."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import sys
import threading
import urllib.parse
from collections import OrderedDict
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ...base.optional import optional, optional_or_none
from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..naming.addresses import Address, address_of, public_url
from .cloud_options import CloudOptions, cloud_options
from .errors import os_error
from .file_systems import FileSystemStore
from .object_store import ObjectStore
from .settings import StoreSettings
from .store import Store

__all__ = ["file_system_of", "find_store", "obstore_or_none"]

_ENDPOINT = re.compile(r"https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+", re.ASCII)
_OUTSIDE = (b"AWS_", b"AZURE_", b"GOOGLE_", b"STORAGE_EMULATOR_HOST")  # what variables of stores begin with
_MOST = 64  # stores that are kept


class _Kept:
    """The stores of this process."""

    def __init__(self) -> None:
        self.origin = Origin()
        self.lock = threading.Lock()
        self.stores: OrderedDict[object, Store] = OrderedDict()


_kept = _Kept()
_before: list[_Kept] = []  # of processes that this one was forked from: their threads are gone, and nothing is closed


def find_store(
    url: str, options: Mapping[str, Any] | StoreSettings | None = None, *, lists: bool = False
) -> tuple[Store, str]:
    """The store that a URL leads to, and the object's key in it. Nothing is asked of a server.

    Args:
      url: `scheme://…`, also chained as fsspec has it, `zip://a::s3://…`.
      options: `storage_options`: credentials, an endpoint, `anon`, in obstore's spelling or in that of fsspec's file
        system; or settings that have them.
      lists: a store that can list is asked for; of HTTP, only fsspec has one.

    s3, gs, az, abfs and http(s) go through obstore if it is installed and the options are not fsspec's own; the rest
    goes through fsspec.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme, or an option that it does not know.
      ImportError: neither obstore nor fsspec is installed.
    """
    given = (options.storage_options if isinstance(options, StoreSettings) else options) or {}
    address = address_of(url)
    cloud = _cloud_options(url, address, given)
    if cloud is not None and not (lists and cloud.kind == "HTTP"):
        name = (address.scheme, address.place, _frozen(given), _outside())
        store = _kept_store(name, lambda: ObjectStore(obstore_or_none(), address, cloud))
        return store, urllib.parse.unquote(address.key.partition("#")[0]) if cloud.kind == "HTTP" else address.key
    system, path = file_system_of(url, {name: value for name, value in given.items() if name != "part_bytes"})
    first, chain, outer = url.partition("::")
    del first
    base = optional("fsspec", "URLs need fsspec").AbstractFileSystem
    if not getattr(system, "cachable", True):
        return FileSystemStore(system, base, chain + public_url(outer)), path
    return _kept_store(("fsspec", id(system), outer), lambda: FileSystemStore(system, base, chain + outer)), path


def _cloud_options(url: str, address: Address, given: Mapping[str, Any]) -> CloudOptions | None:
    if "::" in url or (address.scheme in ("http", "https") and ("?" in url or "@" in address.place)):
        return None
    cloud = cloud_options(address, given)
    if cloud is not None:
        endpoint = cloud.config.get("endpoint") or cloud.config.get("base_url")
        if endpoint and not _ENDPOINT.fullmatch(str(endpoint)):  # obstore panics, or finds it late
            raise InvalidArgumentError(f"{public_url(url)}: storage_options: the endpoint is no URL")
    return cloud if cloud is not None and address.place and obstore_or_none() is not None else None


def _kept_store(name: object, make: Any) -> Store:
    global _kept
    if not _kept.origin.is_here():
        _before.append(_kept)
        _kept = _Kept()
    kept = _kept
    with kept.lock:
        store = kept.stores.get(name)
        if store is None:
            store = kept.stores[name] = make()
        kept.stores.move_to_end(name)
        while len(kept.stores) > _MOST:
            kept.stores.popitem(last=False)
        return store


def _outside() -> object:
    """What the environment says about stores: they are made with it."""
    return tuple((name, os.environb.get(name)) for name in sorted(os.environb) if name.startswith(_OUTSIDE))


def _frozen(value: object) -> object:
    """Options as something that can be compared: equal for equal ones."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(name), _frozen(one)) for name, one in value.items()))
    if isinstance(value, list | tuple):
        return tuple(_frozen(one) for one in value)
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    return type(value), value


class _Same:
    """Equal to others of the same object, which it keeps: nothing else comes to have its address."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


def file_system_of(url: str, options: Mapping[str, Any] | None = None) -> tuple[Any, str]:
    """fsspec's file system of a URL, and the path in it.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme.
    """
    core = optional("fsspec", "URLs need fsspec").core
    try:
        system, path = core.url_to_fs(url, **(options or {}))
        return system, path
    except ValueError as error:
        said = str(error) if "rotocol" in str(error) else type(error).__name__
        failed: Exception = InvalidArgumentError(f"{public_url(url)}: no file system for this URL: {said}")
    except Exception as error:
        failed = os_error(error, url)
    raise failed


# obstore's native library keeps threads for the whole process. A forked process has none of them, and its requests
# would wait forever. Such a process loads a second copy of the library, with its own threads.
_NATIVE = "obstore._obstore"


class _Loaded:
    """What is loaded, and in which process."""

    module: Any = None
    origin = Origin()
    before: list[Any]  # of the process that this one was forked from: what they hold must not be let go of here

    def __init__(self) -> None:
        self.before = []


_loaded = _Loaded()


def obstore_or_none() -> Any:
    """The module, with its `store` and `exceptions`; None if it is not installed."""
    if _loaded.module is not None and _loaded.origin.is_here():
        return _loaded.module
    forked = _loaded.module is not None
    if forked:
        _loaded.before.append(_loaded.module)
    module = _second_copy() if forked else optional_or_none("obstore")
    if module is not None and not forked:
        optional("obstore.store", "object stores need obstore")
        optional("obstore.exceptions", "object stores need obstore")
    _loaded.module, _loaded.origin = module, Origin()
    return module


def _second_copy() -> Any:
    """The package once more, over a copy of its native library; who has imported the first keeps that one."""
    first = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "obstore"}
    file = first[_NATIVE].__file__
    if file is None:  # not a library of its own
        return None
    for name in first:
        del sys.modules[name]
    try:
        sys.modules[_NATIVE] = _load_copy(file)
        module = optional("obstore", "object stores need obstore")
        optional("obstore.store", "object stores need obstore")
        optional("obstore.exceptions", "object stores need obstore")
        return module
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "obstore"]:
            del sys.modules[name]
        sys.modules.update(first)


def _load_copy(file: str) -> ModuleType:
    """A library is the same one if its file is. The copy has no name, and goes with the process."""
    copy = os.memfd_create("obstore")
    with open(file, "rb") as source:
        size, done = os.fstat(source.fileno()).st_size, 0
        while done < size:
            done += os.sendfile(copy, source.fileno(), done, size - done)
    path = f"/proc/self/fd/{copy}"
    loader = importlib.machinery.ExtensionFileLoader(_NATIVE, path)
    spec = importlib.util.spec_from_file_location(_NATIVE, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    os.close(copy)
    return module
