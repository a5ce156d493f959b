"""Draws README.md's table of speedups as bars, for light and dark pages: `python docs/making/speedup.py`.

A test compares the files with the drawings.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "benchmarks"
TITLE = "Times as fast as TensorFlow 2.21, two cores"
WIDE, ROW, LEFT, RIGHT, TOP = 760, 22, 300, 190, 34
THEMES = {  # text, quiet text, bars
    "speedup": ("#1b1f24", "#57606a", "#0072b2"),
    "speedup-dark": ("#e6edf3", "#9da7b1", "#56b4e9"),
}


def table() -> list[list[str]]:
    """Return the rows of README.md's table of speedups: group, task, and ratio."""
    text = (ROOT / "README.md").read_text().partition("\n## How fast\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return rows[2:]


def ratio_of(cell: str) -> float:
    """Return the first figure of a cell, such as 4.8 of "4.8× (3.3× on all data)"."""
    match = re.match(r"([\d.]+)×", cell)
    if match is None:
        raise ValueError(f"{cell!r} does not begin with a ratio")
    return float(match[1])


def drawn() -> dict[str, str]:
    """Return the charts by name."""
    return {name: chart(table(), *colors) for name, colors in THEMES.items()}


def chart(rows: list[list[str]], text: str, quiet: str, bar: str) -> str:
    longest = max(ratio_of(row[2]) for row in rows)
    shapes, y = [label(0, 18, TITLE, text, "bold")], TOP
    for group, task, cell in rows:
        if group:
            y += ROW
            shapes.append(label(0, y, group.replace("`", ""), quiet, "small"))
            y += 6
        wide = ratio_of(cell) / longest * (WIDE - LEFT - RIGHT)
        shapes.append(label(LEFT - 10, y + 16, task.replace("`", ""), text, "end"))
        shapes.append(f'<rect x="{LEFT}" y="{y + 3}" width="{wide:.1f}" height="{ROW - 6}" rx="2" fill="{bar}"/>')
        shapes.append(label(LEFT + wide + 6, y + 16, cell, text))
        y += ROW
    inside = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {y + 8}" width="{WIDE}" height="{y + 8}" '
        f'role="img" aria-label="{TITLE}">\n<title>{TITLE}</title>\n'
        "<style>text { font: 13px system-ui, 'DejaVu Sans', sans-serif; } .bold { font-weight: 600; } "
        f".small {{ font-size: 12px; }} .end {{ text-anchor: end; }}</style>\n{inside}\n</svg>\n"
    )


def label(x: float, y: float, words: str, color: str, style: str = "") -> str:
    name = f' class="{style}"' if style else ""
    return f'<text{name} x="{x:g}" y="{y:g}" fill="{color}">{escape(words)}</text>'


if __name__ == "__main__":
    for name, text in drawn().items():
        (FOLDER / f"{name}.svg").write_text(text)
