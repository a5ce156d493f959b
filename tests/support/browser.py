"""A real browser, Debian's Chromium, driven by Playwright; and axe-core, which looks for faults of accessibility."""

import contextlib
import os
import shutil

import pytest

from tests.support.paths import ROOT

__all__ = ["accessibility_faults", "browsing"]

CHROMIUM = os.environ.get("TFRECORD_FAST_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
AXE = ROOT / "build" / "servers" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextlib.contextmanager
def browsing():
    """The browser. A test that asks for it is skipped where it, or Playwright, is not installed."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not os.path.exists(CHROMIUM):
        pytest.skip("needs Chromium: bash .ci/browser")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def accessibility_faults(page):
    """What axe finds on a page that is serious or worse, as (rule, element)."""
    if not AXE.exists():
        pytest.skip("needs axe-core: bash .ci/browser")
    page.evaluate(f"{AXE.read_text()};0")  # not as an element: the page's policy forbids that
    found = page.evaluate("axe.run()")
    assert found["passes"]
    return [
        (fault["id"], fault["nodes"][0]["html"])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
