"""llms.txt: the pages of the site for language models, as https://llmstxt.org describes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

__all__ = ["text"]

ROOT = Path(__file__).parents[2]


def text(config: Any) -> str:
    """Return one line per page: its title, its address and its first sentence."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    lines += _lines(config.nav, config)
    return "\n".join(lines).rstrip() + "\n"


def _lines(nav: list[Any], config: Any) -> list[str]:
    lines = []
    for entry in nav:
        for title, inside in entry.items():
            if isinstance(inside, list):
                lines += ["", f"## {title}", "", *_lines(inside, config)]
            else:
                sentence = _first_sentence(Path(config.docs_dir) / inside)
                lines.append(f"- [{title}]({_address(inside)}){': ' + sentence if sentence else ''}")
    return lines


def _address(page: str) -> str:
    """Return the page's address from the root of the site."""
    stem = page.removesuffix(".md")
    return "index.html" if stem == "index" else f"{stem.removesuffix('index').rstrip('/')}/index.html"


def _first_sentence(path: Path) -> str:
    if not path.exists():
        return ""
    for paragraph in path.read_text().split("\n\n")[1:]:
        if re.match(r"[A-Z]|`(?!``)", paragraph):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.:])\s", plain)[0].rstrip(":")
    return ""
