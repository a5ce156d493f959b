"""obstore, in a state in which it can be used.

Its native library keeps threads for the whole process. A process that is forked after they were started has none of
them, and every request would wait for ever. Such a process loads a second copy of the library, with threads of its own.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from ...base.optional import optional, optional_or_none
from ...base.process import Origin

__all__ = ["obstore_or_none"]

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
