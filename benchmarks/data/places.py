"""Where the harness lies, and where it keeps what it makes."""

from __future__ import annotations

import os
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent
ROOT = BENCHMARKS.parent  # the checkout, or the `_bench` of an installed package
IN_CHECKOUT = (ROOT / "setup.py").is_file()


def kept(name: str) -> Path:
    """A folder that stays from run to run: in `benchmarks/` of a checkout, else in the user's cache."""
    if IN_CHECKOUT:
        return BENCHMARKS / name
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tfrecord_fast" / "benchmarks" / name.lstrip(".")
