"""Fingerprints of datasets: equal, also in other processes, if files, options and functions are the same.

Functions count by their bytecode, and by the values that they use: constants, defaults, outer and global variables, as
they are now. Objects of the script's classes count by their attributes, and others by their `repr`. A text that is the
name of a local file counts with the file's size and times.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import chain
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...base.file_stamp import FileStamp
from ...files.naming.location import shown_name
from ...values.columns.ragged import RaggedTensor
from ...values.columns.sparse import SparseTensor
from ..handle import Handle, node_of
from ..nodes.ahead.prefetch import Prefetch
from ..nodes.base.node import Draws, Node
from ..nodes.elements.options import WithOptions
from ..nodes.order.cache import Cache, FileCache
from .saved import serialized

_PACKAGE = __package__.partition(".")[0]
_LIBRARIES = tuple(
    {os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "purelib", "platlib")}
    | {os.path.join(os.path.dirname(sys.modules[_PACKAGE].__file__ or ""), ""), "<frozen "}
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
# Attributes of nodes that change no element, and what nodes keep of their own properties.
_ATTRIBUTES = {
    Draws: ("chosen", "again"),
    MethodType: ("__func__", "__self__"),
    ModuleType: ("__name__",),
    partial: ("func", "args", "keywords"),
}
_EMPTY = CellType()
_IGNORED = {*vars(Node), "settings", "buffer_bytes", "threads", "tried", "verdict", "_verdict"} - {"inputs", "function"}


def fingerprint(node: Node, *options: Any) -> str:
    """Return the fingerprint of a node with all below it, and of options, as 16 hexadecimal digits."""
    return _Digests().of((node, options)).hex()[:16]


class _Digests(dict[int, tuple[bytes, Any]]):
    """Digests of objects by their id. The objects are kept, so that ids stay unique."""

    def of(self, value: Any) -> bytes:
        if isinstance(value, str | bytes):
            return _joined([type(value).__name__, value, *_file_stamp(value)])
        if value is None or isinstance(value, bool | int | float | complex):
            return _joined([type(value).__name__, repr(value)])
        if id(value) not in self:
            self[id(value)] = b"around", value  # for the object within itself
            self[id(value)] = _joined(self._parts(value)), value
        return self[id(value)][0]

    def _parts(self, value: Any) -> Iterator[Any]:
        """Iterate over digests, names and contents that make up the value."""
        while isinstance(value, Prefetch | WithOptions | Cache | FileCache):
            value = value.input
        cls = type(value)
        yield cls.__name__
        if isinstance(value, Node):
            names = sorted(vars(value).keys() - _IGNORED)
            yield from (*names, *(self.of(getattr(value, name)) for name in (*names, "draws")))
        elif isinstance(value, Handle) and cls.__iter__ is Handle.__iter__:
            yield self.of(node_of(value))
        elif isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, CodeType):
            yield from (value.co_code, *value.co_names, *value.co_varnames, *map(self.of, value.co_consts))
        elif cls in _ATTRIBUTES:
            yield from (self.of(getattr(value, name)) for name in _ATTRIBUTES[cls])
        elif isinstance(value, Mapping):
            yield from (self.of(item) for pair in value.items() for item in pair)
        elif isinstance(value, list | tuple | set | frozenset):
            digests = [*map(self.of, value)]
            yield from sorted(digests) if isinstance(value, set | frozenset) else digests
        elif isinstance(value, type):
            yield f"{value.__module__}.{value.__qualname__}"
            if not _is_library(value.__module__):
                members = [getattr(member, "__func__", member) for member in vars(value).values()]
                yield from map(self.of, value.__bases__)
                yield from (self.of(member) for member in members if isinstance(member, FunctionType))
        elif isinstance(value, SparseTensor | RaggedTensor):
            yield from serialized(value)
        elif isinstance(value, bytearray | memoryview):
            yield value
        elif (array := _array(value)) is not None:
            yield from (str(array.dtype), str(array.shape))
            yield from map(self.of, array.ravel().tolist()) if array.dtype.hasobject else [array.ravel().view(np.uint8)]
        elif hasattr(value, "__wrapped__"):  # such as that of lru_cache
            yield self.of(value.__wrapped__)
        elif not _is_library(cls.__module__):
            yield from (self.of(cls), self.of(getattr(value, "__dict__", None)))
        elif callable(value) and hasattr(value, "__self__"):  # a method of a built-in type
            yield from (value.__name__, self.of(value.__self__))
        else:
            yield _shown(value)

    def _function(self, function: FunctionType) -> Iterator[Any]:
        code, variables = function.__code__, function.__globals__
        values: list[Any] = [function.__defaults__, function.__kwdefaults__]
        if code.co_filename.startswith(_LIBRARIES):
            yield from (variables.get("__name__", ""), code.co_name)
        else:
            names = sorted({name for inner in codes_of(code) for name in inner.co_names})
            values += [code, *(variables[name] for name in names if name in variables)]
            modules = [value for value in values if isinstance(value, ModuleType) and not _is_library(value.__name__)]
            values += [vars(module)[name] for module in modules for name in names if name in vars(module)]
        if hasattr(function, "__wrapped__") and code.co_filename.startswith(_LIBRARIES):
            values.append(function.__wrapped__)
        else:
            values += [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
        yield from map(self.of, values)


def _joined(parts: Any) -> bytes:
    digest = sha256()
    for item in parts:
        if isinstance(item, str | bytes) and ("://" if isinstance(item, str) else b"://") in item:  # type: ignore[operator]
            item = shown_name(item)  # without credentials, which change
        data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.digest()


def _file_stamp(name: str | bytes) -> list[str]:
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return []
    return [str(FileStamp.from_status(status))] if stat.S_ISREG(status.st_mode) else []


def _array(value: Any) -> Any:
    """Return the array that the value is, or can be converted to; None if there is none."""
    try:
        return np.asarray(value) if hasattr(value, "__array__") else None
    except Exception:  # such as that of a tensor on another device
        return None


def codes_of(code: CodeType) -> list[CodeType]:
    """Return the code of a function, and of the functions within it."""
    inner = [codes_of(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *chain.from_iterable(inner)]


def _is_library(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return module != "__main__" and (file is None or file.startswith(_LIBRARIES))


def _shown(value: Any) -> str:
    """Return the object's `repr` without addresses; nothing for an iterator, whose `repr` may have its position."""
    with suppress(Exception):
        return "" if isinstance(value, Iterator) else _ADDRESS.sub("", repr(value))
    return ""
