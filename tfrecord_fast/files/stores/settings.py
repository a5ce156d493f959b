"""How a reader or a writer uses its stores: what the user says once, and what travels to worker processes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

__all__ = ["CONNECT_TIMEOUT", "STALL_TIMEOUT", "StoreSettings", "as_settings"]

CONNECT_TIMEOUT = 5.0  # seconds; a host that is not there shows within them
STALL_TIMEOUT = 15.0  # seconds without a byte, after which a request counts as broken


@dataclasses.dataclass(frozen=True, repr=False)
class StoreSettings:
    """Settings for stores of objects.

    Attributes:
      storage_options: what the store takes: credentials, an endpoint, `anon`. None: the environment says it.
      max_requests: how many requests a reader has under way at most.
      cache_dir: a folder on a local disk that keeps whole objects; None for none.
      cache_bytes: how many bytes it keeps at most; None for no bound.
      timeout: seconds that one range may take in all, retries included.
      request_timeout: seconds that one request may take.
      hedge_after: seconds after which a request that is slow gets a second one beside it; None for never.

    Raises:
      TypeError, ValueError: a setting that can't be.

    Its `repr` has the names of the options, and not their values. A pickle has the values, for worker processes.
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
        shown = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if field.name == "storage_options":
                value = "{" + ", ".join(f"{name!r}: …" for name in value) + "}"
                shown.append(f"storage_options={value}")
            else:
                shown.append(f"{field.name}={value!r}")
        return f"StoreSettings({', '.join(shown)})"


def as_settings(given: StoreSettings | Mapping[str, Any] | None) -> StoreSettings:
    """The settings; of mere options, or of None, with the other settings at their defaults."""
    return given if isinstance(given, StoreSettings) else StoreSettings(storage_options=given)
