"""The libraries that read and write images, imported when used."""

from __future__ import annotations

from typing import Any

from ..base.optional import optional, optional_or_none

__all__ = ["pillow", "simplejpeg"]


def pillow() -> Any:
    """PIL.Image."""
    return optional("PIL.Image", "images need Pillow")


def simplejpeg() -> Any:
    """The package simplejpeg; None if it is not installed."""
    return optional_or_none("simplejpeg")
