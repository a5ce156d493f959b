"""Stores of objects behind URLs: list, ask for a size, get ranges, put in parts.

| module | what |
| --- | --- |
| `store` | what a store does |
| `finding` | the store of a URL |
| `object_store`, `object_upload` | through obstore |
| `file_systems`, `file_upload` | through fsspec |
| `requests` | a range by as many requests as it takes |
| `cache`, `cache_folder` | whole objects on a local disk |
| `settings`, `addresses`, `errors` | what they share |
"""

from .cache import ObjectCache, cache_of
from .finding import find_store
from .requests import read_head, read_range
from .settings import StoreSettings, as_settings
from .store import Buffer, ObjectInfo, Store, Upload

__all__ = [
    "Buffer",
    "ObjectCache",
    "ObjectInfo",
    "Store",
    "StoreSettings",
    "Upload",
    "as_settings",
    "cache_of",
    "find_store",
    "read_head",
    "read_range",
]
