"""Writes the figures of README.md and the home page, and draws them as bars: `python docs/making/speedup.py`.

All figures are those of the newest full result (results.py). Rows whose tables it lacks are left out. A test compares
the files with what is written here.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from results import ROOT, load, newest

from benchmarks.reporting.numbers import number
from benchmarks.reporting.report import line
from benchmarks.reporting.saved import Saved
from benchmarks.running.likeness import kind_of
from benchmarks.running.results import Row, Table

FOLDER = ROOT / "docs" / "benchmarks"
BEGIN, END = "<!-- figures: written by docs/making/speedup.py -->", "<!-- end of figures -->"
SCRIPTS, IMAGES = "a script for `tf.data`, only its import changed", "images to batches"
COLUMNS, LOOP = "columns by `ShardReader`", "a PyTorch training loop"
ROWS = {  # group and task of a row: its table, and the name of our row there
    (SCRIPTS, "filter by a feature"): ("pipelines", "filter", "unchanged script"),
    (SCRIPTS, "texts cut or padded by `tf.cond`"): ("pipelines", "cond", "unchanged script"),
    (SCRIPTS, "click logs, 40 features"): ("pipelines", "ctr-40", "unchanged script"),
    (SCRIPTS, "BERT features"): ("pipelines", "bert-inside", "unchanged script"),
    (SCRIPTS, "BERT features, described once"): ("pipelines", "bert-outside", "unchanged script"),
    (SCRIPTS, "lists of tokens"): ("pipelines", "tokens", "unchanged script"),
    (SCRIPTS, "signals turned by a Python `if`"): ("pipelines", "python-if", "unchanged script"),
    (SCRIPTS, "audio"): ("pipelines", "speech", "unchanged script"),
    (SCRIPTS, "SequenceExamples, padded"): ("pipelines", "sequences", "unchanged script"),
    (SCRIPTS, "image patches"): ("pipelines", "patches", "unchanged script"),
    (SCRIPTS, "JPEGs, augmented"): ("pipelines", "jpeg-augment", "unchanged script"),
    (SCRIPTS, "JPEGs, decoded only"): ("pipelines", "jpeg-onehot", "unchanged script"),
    (SCRIPTS, "object detection"): ("pipelines", "detection", "unchanged script"),
    (IMAGES, "shorter side, centre crop"): ("images", "photos-evaluate", "antialias"),
    (IMAGES, "random crops"): ("images", "photos-train", "antialias"),
    (IMAGES, "random crops, not antialiased"): ("images", "photos-train", "bilinear"),
    (IMAGES, "large photos"): ("images", "photos-large", "antialias"),
    (IMAGES, "large photos, not antialiased"): ("images", "photos-large", "bilinear"),
    (IMAGES, "decoding alone"): ("images", "photos-decode", "decode"),
    (COLUMNS, "click logs"): ("parse", "ctr", "ShardReader"),
    (COLUMNS, "768 floats"): ("parse", "emb", "ShardReader"),
    (LOOP, "click logs"): ("train-feed", "ctr", "DataLoader"),
    (LOOP, "images"): ("train-feed", "img", "DataLoader"),
}
CORES = {1: "one core", 2: "two cores"}
WIDE, ROW, LEFT, RIGHT, TOP = 760, 22, 300, 190, 34
THEMES = {  # text, quiet text, bars
    "speedup": ("#1b1f24", "#57606a", "#0072b2"),
    "speedup-dark": ("#e6edf3", "#9da7b1", "#56b4e9"),
}


class Bar(NamedTuple):
    """A row of the table of speedups: how many times as fast as TensorFlow's fastest row our row is."""

    group: str
    task: str
    ratio: float
    table: Table
    tensorflow: Row

    @property
    def cell(self) -> str:
        share = self.tensorflow.share
        return f"{number(self.ratio)}×{f' (on {share:.0%} of the data)' if share < 1 else ''}"


def bars(run: Saved) -> list[Bar]:
    """Return the rows whose tables the result has, the largest ratio of each group first."""
    tables = {(table.task, table.workload): table for table in run.tables if not table.cold}
    rows = [
        Bar(group, task, ratio, table, row)
        for (group, task), (*name, ours) in ROWS.items()
        if (table := tables.get(tuple(name)))
        for ratio, row in against(table, ours, "tensorflow")
    ]
    groups = list(dict.fromkeys(row.group for row in rows))
    return sorted(rows, key=lambda row: (groups.index(row.group), -row.ratio))


def against(table: Table, ours: str, contender: str) -> list[tuple[float, Row]]:
    """Return the speed of our row of this name divided by that of the contender's fastest row of its kind
    (benchmarks/running/likeness.py), and the contender's row; [] if either is missing."""
    rivals = [
        (table.between(base, row).median, row)
        for base in table.timed
        for row in table.timed
        if base.ours and base.row == ours and row.contender == contender
        if kind_of(table.task, row.label) == kind_of(table.task, ours)
    ]
    return [min(rivals, key=lambda rival: rival[0])] if rivals else []


def compared(run: Saved) -> str:
    """Return what the ratios are to, such as "TensorFlow 2.21 on two cores"."""
    version = next(row.tensorflow.version for row in bars(run)).rpartition(".")[0]
    cores = run.environment["cores"]
    return f"TensorFlow {version} on {CORES.get(cores, f'{cores} cores')}"


def figures(run: Saved) -> str:
    """Return the setting, the table, and a sentence about Parquet, in Markdown."""
    rows = bars(run)
    sizes = [row.table.dataset.file_bytes / 1e6 for row in rows if row.table.dataset]
    scale = run.asked.get("scale", 1)
    setting = (
        f"Ratios to {compared(run)}, measured on {run.environment['date'][:10]}. Each is the median of up to "
        f"{run.method['rounds']} rounds, with {number(min(sizes))} to {number(max(sizes))} MB in the page cache and "
        f"equal answers{'' if scale == 1 else f', at {scale:g} of the full scale'}. Both check every CRC."
    )
    table = [["", "task", "times as fast"], [":--"] * 3]
    for before, row in zip([None, *rows], rows, strict=False):
        table.append(["" if before and before.group == row.group else row.group, row.task, row.cell])
    return "\n\n".join([setting, "\n".join(map(line, table)), *frames(run)])


def frames(run: Saved) -> list[str]:
    """Return a sentence about data frames from Parquet, or []."""
    shares = [
        f"{name} {ratio:.2f}"
        for table in run.tables
        for name in ("pandas", "polars")
        if table.task == "tables" and not table.cold
        for ratio, _ in against(table, name, "pyarrow")
    ]
    sentence = "Click logs become data frames from Parquet in this share of the time from TFRecord: "
    return [f"{sentence}{', '.join(shares)}."] if shares else []


def files() -> dict[Path, str]:
    """Return the files that have the figures: both pages, and the charts.

    Raises:
      ValueError: the result is invalid, or has none of the rows.
    """
    run = load(path := newest())
    if not bars(run):
        raise ValueError(f"{path}: no table of ROWS has a timed row of ours and one of TensorFlow")
    pages = {path: path.read_text() for path in (ROOT / "README.md", ROOT / "docs" / "index.md")}
    charts = {FOLDER / f"{name}.svg": chart(run, *colors) for name, colors in THEMES.items()}
    return {path: with_figures(text, figures(run)) for path, text in pages.items()} | charts


def with_figures(page: str, text: str) -> str:
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"a page lacks {BEGIN} or {END}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def chart(run: Saved, text: str, quiet: str, bar: str) -> str:
    title, rows = f"Times as fast as {compared(run)}", bars(run)
    longest = max(row.ratio for row in rows)
    shapes, y, before = [label(0, 18, title, text, "bold")], TOP, ""
    for row in rows:
        if row.group != before:
            y += ROW
            shapes.append(label(0, y, row.group.replace("`", ""), quiet, "small"))
            y, before = y + 6, row.group
        wide = row.ratio / longest * (WIDE - LEFT - RIGHT)
        shapes.append(label(LEFT - 10, y + 16, row.task.replace("`", ""), text, "end"))
        shapes.append(f'<rect x="{LEFT}" y="{y + 3}" width="{wide:.1f}" height="{ROW - 6}" rx="2" fill="{bar}"/>')
        shapes.append(label(LEFT + wide + 6, y + 16, row.cell, text))
        y += ROW
    inside = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {y + 8}" width="{WIDE}" height="{y + 8}" '
        f'role="img" aria-label="{title}">\n<title>{title}</title>\n'
        "<style>text { font: 13px system-ui, 'DejaVu Sans', sans-serif; } .bold { font-weight: 600; } "
        f".small {{ font-size: 12px; }} .end {{ text-anchor: end; }}</style>\n{inside}\n</svg>\n"
    )


def label(x: float, y: float, words: str, color: str, style: str = "") -> str:
    name = f' class="{style}"' if style else ""
    return f'<text{name} x="{x:g}" y="{y:g}" fill="{color}">{escape(words)}</text>'


def main() -> None:
    """Write all files, or none if there is an error."""
    try:
        texts = files()
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
