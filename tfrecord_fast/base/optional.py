"""Optional packages: imported on first use, named by their extra when missing, and given hints in reprs."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

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
}


def optional(module: str, need: str) -> Any:
    """Import an optional module.

    Args:
      module: the name, such as "google.protobuf.json_format".
      need: the beginning of the error, such as "messages need protobuf".

    Raises:
      ImportError: the module cannot be imported. The error has the command to install it, or the cause.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        extra = _EXTRAS.get(package)
        target = package if extra is None else f"'tfrecord_fast[{extra}]'"
        why = "" if isinstance(error, ModuleNotFoundError) and error.name == package else f" ({error})"
        raise ImportError(f"{need}: pip install {target}{why}", name=error.name) from error


@contextlib.contextmanager
def extra_named(extra: str) -> Iterator[None]:
    """Import an integration's package inside; if it is missing, the error names the integration's extra.

    Raises:
      ModuleNotFoundError: a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tfrecord_fast"):
            raise
        need = f"tfrecord_fast.integrations.{extra} needs {error.name}"
        raise ModuleNotFoundError(f"{need}: pip install 'tfrecord_fast[{extra}]'", name=error.name) from error


def optional_or_none(module: str) -> Any:
    """Import an optional module; return None if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def shown_to_keras(text: str, argument: str) -> str:
    """Return the text for `format()` of an object; if Keras is imported, with the class that Keras accepts.

    Keras' error about unknown data formats the object.
    """
    if "keras" not in sys.modules:
        return text
    return f"{text} (for Keras, wrap it: tfrecord_fast.integrations.keras.TFRecordPyDataset({argument}))"
