"""Modules of `tf` that consist of names, each from a table, from a module of the package, or from TensorFlow."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .blocks.rules import on_blocks
from .fallback import from_tensorflow, is_tensor_function, with_dispatch
from .tensors.wrapping import wrap_function


class ModuleNames(NamedTuple):
    """The names of a module, sorted, and its functions `__getattr__` and `__dir__` (PEP 562)."""

    names: list[str]
    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def module_lazy_names(
    module: str, names_by_module: Mapping[str, str], public: str, plain: str = "", left_out: str = ""
) -> ModuleNames:
    """Return the names of a module of `tf`, beside those that its file defines.

    Args:
      module: its `__name__`.
      names_by_module: for each module, relative to `tfrecord_fast.tensorflow`, the names that it defines, separated by
        spaces. "alias=name" offers `name` as `alias`. Under "." are the modules themselves.
      public: what TensorFlow calls the module, such as "tf.io".
      plain: a module of the package, whose functions take and return tensors here.
      left_out: names of the plain module that do not belong here.
    """
    sources = {
        alias: (source, name or alias)
        for source, names in names_by_module.items()
        for alias, _, name in (entry.partition("=") for entry in names.split())
    }
    unwanted = set(left_out.split())
    if module in sys.modules:
        for name, value in list(vars(sys.modules[module]).items()):
            if is_tensor_function(value):
                setattr(sys.modules[module], name, on_blocks(with_dispatch(value, f"{public}.{name}"), value))

    def plain_names() -> set[str]:
        return set(importlib.import_module(plain).__all__) - unwanted if plain else set()

    def find(name: str) -> Any:
        if name in sources:
            source, original = sources[name]
            if source == ".":
                return importlib.import_module(f".{original}", __package__)
            value = getattr(importlib.import_module(source, __package__), original)
            if not is_tensor_function(value):
                return value
            return on_blocks(with_dispatch(value, f"{public}.{name}"), value)
        if name in plain_names():
            value = getattr(importlib.import_module(plain), name)
            return on_blocks(wrap_function(value), value) if inspect.isfunction(value) else value
        return from_tensorflow(f"{public}.{name}")

    def __getattr__(name: str) -> Any:
        # TensorFlow is not imported for a private name: tools such as pytest ask every module for theirs.
        if name.startswith("_") or (name not in sources and name in _submodules(module)):  # not imported yet
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = find(name)
        setattr(sys.modules[module], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[module]), *sources, *plain_names()})

    return ModuleNames(sorted(sources), __getattr__, __dir__)


def _submodules(module: str) -> set[str]:
    return {submodule.name for submodule in pkgutil.iter_modules(getattr(sys.modules[module], "__path__", []))}


def add_modules(package: str, *modules: tuple[str, ModuleNames]) -> None:
    """Make modules of names below a package, so that `import` finds them as it finds files."""
    for path, names in modules:
        parts = path.split(".")
        for depth in range(1, len(parts) + 1):
            name = ".".join([package, *parts[:depth]])
            if name not in sys.modules:
                sys.modules[name] = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, None))
            setattr(sys.modules[name.rpartition(".")[0]], parts[depth - 1], sys.modules[name])
        vars(sys.modules[f"{package}.{path}"]).update(__getattr__=names.getattr, __dir__=names.dir, __all__=names.names)
