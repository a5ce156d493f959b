"""Object stores behind URLs: listing, sizes, ranges and uploads.

| module | contents |
| --- | --- |
| `store` | the contract of a store, and the checks of answers |
| `finding` | the store of a URL |
| `objects`, `matching` | the objects that a URL or a pattern of URLs names |
| `obstore_store`, `obstore_upload`, `obstore_options` | through obstore |
| `fsspec_store`, `fsspec_answers` | through fsspec |
| `retrying`, `threads` | retries, hedging and request threads |
| `cache`, `cache_folder` | whole objects on a local disk |
| `settings`, `errors` | shared |
"""

from .cache import ObjectCache, cache_of
from .finding import find_object, find_store
from .retrying import read_head, read_info, read_range
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
    "find_object",
    "find_store",
    "read_head",
    "read_info",
    "read_range",
]
