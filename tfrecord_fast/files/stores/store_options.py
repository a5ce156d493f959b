"""The arguments of readers that say how stores of objects are used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...typing import PathLike
from . import ObjectCache, StoreSettings

__all__ = ["store_settings"]


def store_settings(
    storage_options: Mapping[str, Any] | None = None, max_requests: int = 16, cache_dir: PathLike | None = None
) -> StoreSettings:
    """The settings for a reader. `cache_dir` is a folder, or an ObjectCache, which has a bound.

    Raises:
      TypeError, ValueError: an argument that can't be.
    """
    folder = None if cache_dir is None else os.fsdecode(cache_dir)
    most = cache_dir.max_bytes if isinstance(cache_dir, ObjectCache) else None
    return StoreSettings(storage_options, max_requests, folder, most)
