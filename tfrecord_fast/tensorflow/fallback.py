"""Names that the face lacks are TensorFlow's, where it is installed. It is imported when such a name is asked for."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .border import lifted
from .theirs import either, given_ours

__all__ = [
    "Names",
    "face_names",
    "installed",
    "is_installed",
    "of_package",
    "of_tensorflow",
    "part_of_face",
    "without_tensorflow",
]


class Names(NamedTuple):
    """What a module of the face needs: the functions `__getattr__` and `__dir__` (PEP 562)."""

    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def part_of_face(name: str = "") -> Any:
    """The face, or a module of it by name: for those that are part of it, and can't import it when they begin."""
    return importlib.import_module(f"{__package__}.{name}" if name else str(__package__))


def of_package(name: str) -> Any:
    """A module that is no part of the face, by name: what needs it may not be there."""
    return importlib.import_module(name)


def is_installed(name: str) -> bool:
    """Whether a package can be imported here."""
    if name in sys.modules:
        return sys.modules[name] is not None
    return importlib.util.find_spec(name) is not None


def installed() -> bool:
    """Whether TensorFlow can be imported here."""
    return not _is_masked and is_installed("tensorflow")


_is_masked = False


@contextlib.contextmanager
def without_tensorflow() -> Iterator[None]:
    """The face as it is where TensorFlow is not installed."""
    global _is_masked
    before, _is_masked = _is_masked, True
    try:
        yield
    finally:
        _is_masked = before


def face_names(
    module: str, public: str, plain: str | None = None, instead: Mapping[str, str] | None = None, left_out: str = ""
) -> Names:
    """The names of a module of the face beyond those that it defines.

    Args:
      module: its `__name__`.
      public: what TensorFlow calls it: "tf.io".
      plain: a module of the package, whose functions become functions of tensors.
      instead: for names that are not there: what to use.
      left_out: names of the plain module that do not belong here.
    """
    unwanted = set(left_out.split())
    for name, value in list(vars(sys.modules[module]).items()):
        if is_shared(value):
            setattr(sys.modules[module], name, shared(value, f"{public}.{name}"))

    def of_plain(name: str) -> Any:
        if plain is None or name in unwanted:
            return None
        source = importlib.import_module(plain)
        if name not in source.__all__:
            return None
        found = getattr(source, name)
        return lifted(found) if inspect.isfunction(found) else found

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = of_plain(name)
        if found is None:
            found = of_tensorflow(f"{public}.{name}", (instead or {}).get(name))
        setattr(sys.modules[module], name, found)
        return found

    def __dir__() -> list[str]:
        known = set(vars(sys.modules[module]))
        if plain is not None:
            known |= set(importlib.import_module(plain).__all__) - unwanted
        return sorted(known)

    return Names(__getattr__, __dir__)


def of_tensorflow(name: str, instead: str | None = None) -> Any:
    """What TensorFlow has under that name.

    Raises:
      AttributeError: it is not installed, or has no such name.
    """
    advice = f" Use {instead}." if instead else ""
    if not installed():
        raise AttributeError(
            f"tfrecord_fast has no {name}, and TensorFlow, whose it would be, is not installed.{advice}"
        )
    found = importlib.import_module("tensorflow")
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AttributeError(
                f"neither tfrecord_fast nor the TensorFlow that is installed has {name}.{advice}"
            ) from None
    return given_ours(found)


def is_shared(value: Any) -> bool:
    """Whether it is one of the face's functions on tensors."""
    return inspect.isfunction(value) and value.__module__.startswith(f"{__package__}.ops.")


def shared(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function; for TensorFlow's tensors and variables, TensorFlow's of that name."""
    return either(function, name, of_tensorflow)
