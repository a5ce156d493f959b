"""The arguments of readers that say how stores of objects are used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..typing import PathLike
from .stores import StoreSettings

__all__ = ["store_settings"]


def store_settings(
    storage_options: Mapping[str, Any] | None = None, max_requests: int = 16, cache_dir: PathLike | None = None
) -> StoreSettings:
    """The settings for a reader.

    Raises:
      TypeError, ValueError: an argument that can't be.
    """
    folder = None if cache_dir is None else os.fsdecode(cache_dir)
    return StoreSettings(storage_options=storage_options, max_requests=max_requests, cache_dir=folder)
