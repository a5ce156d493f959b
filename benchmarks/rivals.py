"""Environments of their own for rivals that can't share this one: `python -m benchmarks --install NAME`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
IN_CHECKOUT = (HERE.parent / "setup.py").is_file()


def kept(name: str) -> Path:
    """A folder that stays from run to run: beside this file in a checkout, else in the user's cache."""
    if IN_CHECKOUT:
        return HERE / name
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tfrecord_fast" / "benchmarks" / name.lstrip(".")


FOLDER = kept(".rivals")


def interpreter(name: str) -> Path | None:
    """The Python of the rival's own environment, None if it has none."""
    path = FOLDER / name / "bin" / "python"
    return path if (FOLDER / name / "complete").exists() and path.exists() else None


def install(name: str, requirements: Sequence[str]) -> None:
    """Makes the environment anew.

    Raises:
      RuntimeError: pip could not; the text is the end of what it said.
    """
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirements],
    ):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(f"{name}: {' '.join(command[1:])}: {done.stdout.strip()[-1000:]}")
    (folder / "complete").touch()
