"""Names of a package that are imported on first use, so that importing the package stays cheap."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple


class LazyNames(NamedTuple):
    """The sorted names of a package, and its functions `__getattr__` and `__dir__` (PEP 562)."""

    names: list[str]
    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def lazy_names(package: str, names_by_module: Mapping[str, str], hidden: str = "") -> LazyNames:
    """Make the lazy names of a package.

    Args:
      package: the name of the package.
      names_by_module: the names in each module, separated by spaces. A module is relative, as ".module"; "." has the
        package's own modules.
      hidden: the module whose names `dir` leaves out.
    """
    module_of = {name: module for module, names in names_by_module.items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            # With the name and the module, Python adds "Did you mean: …?"
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        if module == ".":
            return importlib.import_module(f".{name}", package)
        value = getattr(importlib.import_module(module, package), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        own = vars(sys.modules[package]).items()
        values = {name for name, value in own if not isinstance(value, ModuleType)}  # internal packages are none
        return sorted(name for name in values | module_of.keys() if module_of.get(name) != hidden)

    return LazyNames(sorted(module_of), __getattr__, __dir__)
