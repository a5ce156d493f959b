"""Packages that one feature needs and the rest does not: imported when used, and named by their extra when missing."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["optional", "optional_or_none"]

_EXTRAS = {
    "PIL": "image",
    "absl": "scripts",
    "fsspec": "fsspec",
    "google": "protobuf",
    "obstore": "cloud",
    "pyarrow": "arrow",
    "re2": "regex",
    "rich": "progress",
    "shtab": "completion",
    "simplejpeg": "image",
}


def optional(module: str, need: str) -> Any:
    """The module, imported now.

    Args:
      module: its name, such as "google.protobuf.json_format".
      need: what needs which package, such as "messages need protobuf"; the error begins with it.

    Raises:
      ImportError: it can't be imported. The error says how to install it or, if it is installed, what went wrong.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        extra = _EXTRAS.get(package)
        target = package if extra is None else f"'tfrecord_fast[{extra}]'"
        why = "" if isinstance(error, ModuleNotFoundError) and error.name == package else f" ({error})"
        raise ImportError(f"{need}: pip install {target}{why}", name=error.name) from error


def optional_or_none(module: str) -> Any:
    """The module, imported now; None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
