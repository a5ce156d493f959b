"""Files that are written under another name first, so that they appear complete or not at all."""

from __future__ import annotations

import os

__all__ = ["temporary_beside"]


def temporary_beside(path: str) -> str:
    """The name of a file that is written first and gets the name `path` when it is complete; nobody else uses it."""
    folder, name = os.path.split(path)
    stem = os.fsdecode(os.fsencode(name)[:180])  # names have at most 255 bytes
    return os.path.join(folder, f".{stem}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
