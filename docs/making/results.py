"""The pages and charts of the benchmarks, made from the newest result in benchmarks/results/."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.reporting import document  # noqa: E402
from benchmarks.reporting.saved import load  # noqa: E402
from benchmarks.running.method import Method  # noqa: E402

__all__ = ["newest", "pages"]


def newest() -> Path:
    """Return the result of the last full run, which has a text beside it about how it was made."""
    return max((ROOT / "benchmarks" / "results").glob("*.txt")).with_suffix(".json")


@cache
def pages() -> dict[str, str]:
    """Return pages and charts by their paths in docs/."""
    result = newest()
    saved = load(result)
    note = " ".join(result.with_suffix(".txt").read_text().split())
    return document.pages(saved.tables, saved.environment, Method(**saved.method), note)
