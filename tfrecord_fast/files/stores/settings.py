"""Settings of a reader or a writer for its stores."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

CONNECT_TIMEOUT = 5.0  # seconds
STALL_TIMEOUT = 15.0  # seconds without a byte, after which a request is broken


@dataclasses.dataclass(frozen=True, repr=False)
class StoreSettings:
    """Settings for object stores.

    Attributes:
      storage_options: credentials, an endpoint, `anon`, …; None: taken from the environment.
      max_requests: the limit for a reader's concurrent requests.
      cache_dir: a folder on a local disk that keeps whole objects; None for none.
      cache_bytes: the limit for that folder; None for no limit.
      timeout: seconds for one range, including retries.
      request_timeout: seconds for one request.
      hedge_after: seconds after which a slow request gets a second one beside it; None for never.

    Raises:
      TypeError, ValueError: a setting has the wrong type or value.

    `repr` shows the names of the options but not their values. A pickle has the values, for worker processes.
    """

    storage_options: Mapping[str, Any] | None = None
    max_requests: int = 16
    cache_dir: str | None = None
    cache_bytes: int | None = None
    timeout: float = 120.0
    request_timeout: float = 30.0
    hedge_after: float | None = 4.0

    def __post_init__(self) -> None:
        if self.storage_options is not None and not isinstance(self.storage_options, Mapping):
            raise TypeError(f"storage_options must be a dict, got {type(self.storage_options).__name__}")
        if isinstance(self.max_requests, bool) or not isinstance(self.max_requests, int):
            raise TypeError(f"max_requests must be an integer, got {type(self.max_requests).__name__}")
        if self.max_requests < 1:
            raise ValueError(f"max_requests must be at least 1, got {self.max_requests}")
        if self.cache_dir is not None:
            object.__setattr__(self, "cache_dir", os.fsdecode(self.cache_dir))
        if self.timeout <= 0 or self.request_timeout <= 0:
            raise ValueError("timeouts must be more than 0 seconds")

    def __repr__(self) -> str:
        changed = {
            field.name: repr(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        }
        if self.storage_options is not None:
            changed["storage_options"] = "{" + ", ".join(f"{name!r}: …" for name in self.storage_options) + "}"
        return f"StoreSettings({', '.join(f'{name}={value}' for name, value in changed.items())})"


def as_settings(settings: StoreSettings | Mapping[str, Any] | None) -> StoreSettings:
    return settings if isinstance(settings, StoreSettings) else StoreSettings(storage_options=settings)
