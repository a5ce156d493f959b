"""Finding the store of a URL. Stores are kept within a process, to reuse their connections."""

from __future__ import annotations

import contextlib
import errno
import importlib.machinery
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import threading
import urllib.parse
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from ...base.handlers import raised_by_handler
from ...base.optional import optional, optional_or_none
from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..naming.addresses import Address, address_of, is_folder_name, public_url
from .errors import os_error
from .fsspec_store import FileSystemStore
from .obstore_options import CloudOptions, cloud_options
from .obstore_store import ObjectStore
from .settings import StoreSettings
from .store import Store

_ENDPOINT = re.compile(r"https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+", re.ASCII)
_VARIABLES = (b"AWS_", b"AZURE_", b"GOOGLE_", b"STORAGE_EMULATOR_HOST")  # prefixes
_MOST = 64  # kept stores


class _Kept:
    def __init__(self) -> None:
        self.origin = Origin()
        self.lock = threading.Lock()
        self.stores: OrderedDict[object, Store] = OrderedDict()


_kept = _Kept()
_before: list[_Kept] = []  # of parent processes: never closed here, since their threads are missing


def find_store(
    url: str, options: Mapping[str, Any] | StoreSettings | None = None, *, lists: bool = False
) -> tuple[Store, str]:
    """Return the store of a URL and the object's key in it, without a request to a server.

    Args:
      url: `scheme://…`, also chained as in fsspec, `zip://a::s3://…`.
      options: settings, or `storage_options`: credentials, an endpoint, `anon`, …, spelled as for obstore or for
        fsspec's file system.
      lists: the store must be able to list. For HTTP, only fsspec's can.

    s3, gs, az, abfs and http(s) use obstore if it is installed and no option is fsspec's own; otherwise fsspec.

    Raises:
      errors.InvalidArgumentError: no file system supports the URL's scheme or an option.
      ImportError: neither obstore nor fsspec is installed.
    """
    storage_options = (options.storage_options if isinstance(options, StoreSettings) else options) or {}
    address = address_of(url)
    cloud = _cloud_options(url, address, storage_options)
    if cloud is not None and not (lists and cloud.provider == "HTTP"):
        identity = (address.scheme, address.bucket, _frozen(storage_options), _environment())
        store = _kept_store(identity, lambda: ObjectStore(obstore_or_none(), address, cloud))
        is_http = cloud.provider == "HTTP"
        return store, urllib.parse.unquote(address.key.partition("#")[0]) if is_http else address.key
    system, path = file_system_of(url, {name: value for name, value in storage_options.items() if name != "part_bytes"})
    _, chain, outer = url.partition("::")
    base = optional("fsspec", "URLs need fsspec").AbstractFileSystem
    if not getattr(system, "cachable", True):
        return FileSystemStore(system, base, chain + public_url(outer)), path
    return _kept_store(("fsspec", id(system), outer), lambda: FileSystemStore(system, base, chain + outer)), path


def find_object(url: str, options: Mapping[str, Any] | StoreSettings | None = None) -> tuple[Store, str]:
    """Return the store and the key as `find_store` does, for a URL that names an object and not a folder.

    Raises:
      IsADirectoryError: the URL ends in "/".
    """
    if is_folder_name(url):
        scheme, _, bucket = url.partition("://")
        message = "an object's name must not end in /; remove it"
        if bucket and "/" not in bucket:
            message = f"the URL names a bucket, not an object; add a name, as {scheme}://{bucket}/a.tfrecord"
        raise IsADirectoryError(errno.EISDIR, message, public_url(url))
    return find_store(url, options)


def _cloud_options(url: str, address: Address, storage_options: Mapping[str, Any]) -> CloudOptions | None:
    if "::" in url:
        return None
    if address.scheme in ("http", "https"):
        if "?" in url or "@" in address.bucket or urllib.parse.unquote(address.key).endswith("/"):
            return None
    cloud = cloud_options(address, storage_options)
    if cloud is not None:
        endpoint = cloud.config.get("endpoint") or cloud.config.get("base_url")
        if endpoint and not _ENDPOINT.fullmatch(str(endpoint)):  # obstore would panic
            raise InvalidArgumentError(f"{public_url(url)}: storage_options: the endpoint is not an http(s) URL")
    return cloud if cloud is not None and address.bucket and obstore_or_none() is not None else None


def _kept_store(identity: object, make: Any) -> Store:
    global _kept
    if not _kept.origin.is_here():
        _before.append(_kept)
        _kept = _Kept()
    kept = _kept
    with kept.lock:
        store = kept.stores.get(identity)
        if store is None:
            store = kept.stores[identity] = make()
        kept.stores.move_to_end(identity)
        while len(kept.stores) > _MOST:
            kept.stores.popitem(last=False)
        return store


def _environment() -> object:
    return tuple((name, os.environb.get(name)) for name in sorted(os.environb) if name.startswith(_VARIABLES))


def _frozen(value: object) -> object:
    """Return a hashable value, equal for equal options."""
    if isinstance(value, Mapping):
        return tuple(sorted((str(name), _frozen(option)) for name, option in value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    return type(value), value


class _Same:
    """An unhashable object, compared by identity and kept alive, so that its address is not reused."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


def file_system_of(url: str, options: Mapping[str, Any] | None = None) -> tuple[Any, str]:
    """Return fsspec's file system for a URL, and the path in it."""
    core = optional("fsspec", "URLs need fsspec").core
    try:
        system, path = core.url_to_fs(url, **(options or {}))
        return system, path
    except ValueError as error:
        if raised_by_handler(error):
            raise
        reason = str(error) if "rotocol" in str(error) else type(error).__name__
        failure: Exception = InvalidArgumentError(f"{public_url(url)}: no file system for this URL: {reason}")
    except Exception as error:
        if raised_by_handler(error):
            raise
        failure = os_error(error, url)
    raise failure


# obstore's native library keeps threads for the whole process. A forked process lacks them, so its requests would wait
# forever. It loads a second copy of the library, with threads of its own.
_NATIVE = "obstore._obstore"


class _Loaded:
    def __init__(self) -> None:
        self.module: Any = None
        self.origin = Origin()
        self.before: list[Any] = []  # modules of parent processes, kept alive: their threads can't be ended here


_loaded = _Loaded()


def obstore_or_none() -> Any:
    """Import obstore with its `store` and `exceptions`; return None if it is not installed."""
    if _loaded.module is not None and _loaded.origin.is_here():
        return _loaded.module
    forked = _loaded.module is not None
    if forked:
        _loaded.before.append(_loaded.module)
    module = _second_copy() if forked else optional_or_none("obstore")
    if module is not None and not forked:
        _import_submodules()
    _loaded.module, _loaded.origin = module, Origin()
    return module


def _import_submodules() -> None:
    for name in ("obstore.store", "obstore.exceptions"):
        optional(name, "object stores need obstore")


def _second_copy() -> Any:
    """Import the package again, over a copy of its native library; `sys.modules` keeps the first one."""
    first = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "obstore"}
    file = first[_NATIVE].__file__
    if file is None:  # built into the interpreter
        return None
    for name in first:
        del sys.modules[name]
    try:
        sys.modules[_NATIVE] = _load_copy(file)
        module = optional("obstore", "object stores need obstore")
        _import_submodules()
        return module
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "obstore"]:
            del sys.modules[name]
        sys.modules.update(first)


def _load_copy(file: str) -> ModuleType:
    """Load a copy of a library's file: the file itself would be the same library. The copy is removed once loaded."""
    with _passing_file() as path:
        shutil.copyfile(file, path)
        loader = importlib.machinery.ExtensionFileLoader(_NATIVE, path)
        spec = importlib.util.spec_from_file_location(_NATIVE, path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module


@contextlib.contextmanager
def _passing_file() -> Iterator[str]:
    """Return a context manager with the path of an empty file: in memory, or temporary where the system lacks those."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("obstore")
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            yield file.name
