"""Finds contenders: those of `benchmarks/contenders/` by being there, any other by the path of its file."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from benchmarks.contenders.kit.contender import Contender

KIT = Path(__file__).parent
CONTENDERS = KIT.parent


def load(path: Path) -> Contender:
    """The contender of a file, wherever it is; that of a package by its `__init__.py`.

    Raises:
      ImportError: the path is not that of a Python file.
    """
    own = path.parent if path.name == "__init__.py" else path
    if own.parent == CONTENDERS:
        module = importlib.import_module(f"benchmarks.contenders.{own.stem}")
    else:
        spec = importlib.util.spec_from_file_location(f"benchmarks.contenders.{own.stem}", path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path}: no Python file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    contender = module.CONTENDER
    assert isinstance(contender, Contender)
    return contender


def found() -> dict[str, Path]:
    """The file of each contender of the folder, by name: ours, then the rivals, then the floor."""
    paths = [path for path in CONTENDERS.glob("*.py") if path.name != "__init__.py"]
    paths += [path for path in CONTENDERS.glob("*/__init__.py") if path.parent != KIT]
    by_name = {load(path).name: path for path in paths}

    def place(name: str) -> tuple[bool, bool, str]:
        contender = load(by_name[name])
        return not contender.ours, contender.floor, name

    return {name: by_name[name] for name in sorted(by_name, key=place)}
