"""Environments of their own for rivals that can't share this one: `python -m benchmarks --install NAME`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data.places import kept

FOLDER = kept(".rivals")


def interpreter(name: str) -> Path | None:
    """The Python of the rival's own environment, None if it has none."""
    path = FOLDER / name / "bin" / "python"
    return path if (FOLDER / name / "complete").exists() and path.exists() else None


def install(name: str, requirements: Sequence[str]) -> None:
    """Makes the environment, from scratch if it is there already.

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
