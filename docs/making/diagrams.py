"""Draws docs/diagrams/*.svg: `python docs/making/diagrams.py`. A test compares the files with the drawings.

Boxes are light in both themes, and the grey of the lines is visible on white and on black.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "diagrams"
LINE, TEXT = "#808790", "#14202c"
FILLS = {"core": "#bfdbf7", "python": "#fde3a7", "outside": "#d9dde2", "note": "#eef1f4"}
STYLE = (
    f"text {{ font: 14px system-ui, 'DejaVu Sans', sans-serif; fill: {TEXT}; text-anchor: middle; }} "
    ".small { font-size: 12px; } .bold { font-weight: 600; }"
)


class Box(NamedTuple):
    """Lines of text in a box; the first is bold. `fill` is a key of FILLS."""

    x: int
    y: int
    wide: int
    high: int
    fill: str
    lines: tuple[str, ...]

    def svg(self) -> str:
        elements = [
            f'<rect x="{self.x}" y="{self.y}" width="{self.wide}" height="{self.high}" rx="6" '
            f'fill="{FILLS[self.fill]}" stroke="{LINE}"/>'
        ]
        middle, top = self.x + self.wide / 2, self.y + self.high / 2 - (len(self.lines) - 1) * 8.5 + 5
        for i, line in enumerate(self.lines):
            style = "bold" if i == 0 else "small"
            elements.append(f'<text class="{style}" x="{middle:g}" y="{top + 17 * i:g}">{escape(line)}</text>')
        return "".join(elements)


def arrow(*points: tuple[int, int]) -> str:
    path = " L ".join(f"{x} {y}" for x, y in points)
    return f'<path d="M {path}" fill="none" stroke="{LINE}" stroke-width="2" marker-end="url(#head)"/>'


def picture(title: str, wide: int, high: int, shapes: list[Box | str]) -> str:
    head = (
        f'<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" fill="{LINE}"/></marker>'
    )
    inside = "\n".join(shape.svg() if isinstance(shape, Box) else shape for shape in shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n'
        f"<defs>{head}</defs>\n{inside}\n</svg>\n"
    )


def key(x: int, y: int) -> list[Box | str]:
    return [
        Box(x, y, 130, 28, "outside", ("outside",)),
        Box(x + 145, y, 150, 28, "core", ("core, without GIL",)),
        Box(x + 310, y, 130, 28, "python", ("Python",)),
    ]


def way_of_a_byte() -> str:
    steps = [
        ("outside", ("a file", "page cache", "or object")),
        ("core", ("read()", "one copy", "512 KiB block")),
        ("core", ("inflate", "only if", "compressed")),
        ("core", ("hop", "headers and", "their CRCs")),
        ("core", ("check", "CRC of the data", "of all records")),
        ("core", ("cut", "batches", "of views")),
    ]
    parts: list[Box | str] = []
    for i, (fill, lines) in enumerate(steps):
        parts.append(Box(10 + 145 * i, 20, 120, 78, fill, lines))
        if i:
            parts.append(arrow((10 + 145 * i - 25, 59), (10 + 145 * i - 2, 59)))
    ends = [
        ("python", ("RecordBatch", "views of the block,", "no copy")),
        ("python", ("bytes", "one copy per record,", "when asked for")),
        ("core", ("parse", "values straight", "into columns")),
        ("python", ("columns", "NumPy arrays", "over core memory")),
    ]
    for (fill, lines), x in zip(ends, (300, 10, 590, 735 - 0), strict=True):
        parts.append(Box(x, 160, 150 if x != 590 else 120, 78, fill, lines))
    parts += [
        arrow((780, 98), (780, 128), (375, 128), (375, 158)),
        arrow((780, 128), (650, 128), (650, 158)),
        arrow((300, 199), (162, 199)),
        arrow((710, 199), (733, 199)),
        *key(10, 262),
    ]
    return picture("The way of a byte: from a file to bytes objects or columns", 895, 300, parts)


def threads() -> str:
    parts: list[Box | str] = [
        Box(10, 20, 150, 60, "outside", ("lane: plain file", "regions of 512 KiB")),
        Box(10, 95, 150, 60, "outside", ("lane: own GZIP", "parts, marked")),
        Box(10, 170, 150, 60, "outside", ("lane: other GZIP", "one stream")),
        Box(235, 20, 190, 60, "core", ("any number of threads", "read and check at once;", "hop in turn")),
        Box(235, 95, 190, 60, "core", ("any number of threads", "inflate and check at once")),
        Box(235, 170, 190, 60, "core", ("one thread at a time", "several files side by side")),
        Box(500, 78, 130, 94, "core", ("chunks", "ready, in order;", "bounded by", "prefetch_bytes")),
        Box(705, 20, 150, 60, "core", ("cut", "one thread: the order", "is decided here")),
        Box(705, 95, 150, 60, "core", ("transform", "parse, on several", "threads")),
        Box(705, 170, 150, 60, "python", ("next(iterator)", "takes the batch,", "works while it waits")),
        arrow((160, 50), (233, 50)),
        arrow((160, 125), (233, 125)),
        arrow((160, 200), (233, 200)),
        arrow((425, 50), (463, 50), (463, 110), (498, 110)),
        arrow((425, 125), (498, 125)),
        arrow((425, 200), (463, 200), (463, 140), (498, 140)),
        arrow((630, 125), (667, 125), (667, 50), (703, 50)),
        arrow((780, 80), (780, 93)),
        arrow((780, 155), (780, 168)),
        *key(10, 255),
    ]
    return picture("Threads and lanes: how files become batches on several threads, in one order", 870, 295, parts)


def memory() -> str:
    parts: list[Box | str] = [
        Box(10, 95, 140, 78, "core", ("pool", "of blocks that are", "mapped and warm")),
        Box(220, 95, 140, 78, "core", ("buffer", "refcounted,", "512 KiB")),
        Box(430, 95, 140, 78, "core", ("batch", "holds all buffers", "of its records")),
        Box(650, 10, 190, 52, "python", ("RecordBatch", "and every slice of it")),
        Box(650, 76, 190, 52, "python", ("memoryview", "batch.view(i)")),
        Box(650, 142, 190, 52, "python", ("BytesArray", "a column of views")),
        Box(650, 208, 190, 52, "python", ("bytes, NumPy columns", "hold no block")),
        arrow((648, 36), (610, 36), (610, 120), (572, 120)),
        arrow((648, 102), (625, 102), (625, 130), (572, 130)),
        arrow((648, 168), (610, 168), (610, 145), (572, 145)),
        arrow((428, 134), (362, 134)),
        arrow((290, 173), (290, 234), (80, 234), (80, 175)),
        Box(100, 216, 170, 36, "note", ("when the last goes",)),
        *key(10, 282),
    ]
    return picture("Who owns memory: an arrow means that one holds the other", 855, 320, parts)


def drawn() -> dict[str, str]:
    return {"way-of-a-byte": way_of_a_byte(), "threads": threads(), "memory": memory()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in drawn().items():
        (FOLDER / f"{name}.svg").write_text(text)
    sys.stdout.write(f"{len(drawn())} pictures in {FOLDER}\n")
