"""Plots of a run's tables, as SVG: bars with their spread, distance to the targets, scaling. Each plot
has one message, which is its title. Needs matplotlib (the extra `bench`)."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.data.tasks import TASKS
from benchmarks.reporting.report import by_task, faster, number, title_of
from benchmarks.reporting.targets import Target
from benchmarks.running.results import Row, Table

OURS, OURS_TOO, RIVAL, FLOOR, GOAL = "#0072B2", "#7FB8DA", "#D98A3D", "#B8B8B8", "#222222"
WIDE = 20  # of values that differ by more, the axis is logarithmic: then dots, since bars would have no zero
COLUMNS = 1  # panels side by side: with more, their text is small on a page
OVERVIEW = (("parse", "ctr"), ("raw", "ctr"))  # what the first picture shows


class Plot(NamedTuple):
    """A drawn plot: `name` can be a file's name, `message` is what the picture says."""

    name: str
    message: str
    svg: str


class Measure(NamedTuple):
    """The measure of the bars, and whether longer ones are better."""

    unit: str
    more_is_better: bool


def figures() -> Any:
    """matplotlib's Figure. Raises ImportError, which says what to install, without it."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'tfrecord_fast[bench]'") from None
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "tfrecord_fast"})
    return Figure


def plots(tables: list[Table], targets: list[Target]) -> list[Plot]:
    """Every plot for which these tables hold enough."""
    timed = [table for table in tables if table.timed]
    drawn = [task_plot(name_of(of_task[0]), of_task) for of_task in by_task(timed)]
    scaling = [table for table in timed if table.task == "parse" and not table.cold and one_and_two(table)]
    if scaling:
        drawn.append(scaling_plot(scaling))
    if targets:
        drawn.append(target_plot(targets))
    shown = [
        table for name in OVERVIEW for table in timed if (table.task, table.workload, table.cold) == (*name, False)
    ]
    if any(not row.ours and not row.floor for table in shown for row in table.timed):
        drawn.append(overview_plot(shown))
    return drawn


# ---- A task ----


def measure_of(table: Table) -> Measure:
    if table.dataset is None:
        return Measure("ms", False)
    return Measure("µs per record", False) if TASKS[table.task].one else Measure("MB/s", True)


def figure_of(table: Table, seconds: float) -> float:
    if table.dataset is None:
        return seconds * 1e3
    if TASKS[table.task].one:
        return seconds / table.dataset.records * 1e6
    return table.dataset.file_bytes / 1e6 / seconds


def name_of(table: Table) -> str:
    """Of the plot that the table is in."""
    return f"task-{table.task}{'-cold' if table.cold else ''}"


def task_plot(name: str, tables: list[Table]) -> Plot:
    message = message_of(tables)
    heights = [0.9 + 0.36 * len(table.timed) for table in tables]
    rows = math.ceil(len(tables) / COLUMNS)
    row_heights = [max(heights[i * COLUMNS : (i + 1) * COLUMNS]) for i in range(rows)]
    columns = min(COLUMNS, len(tables))
    figure = figures()(figsize=(7.4 * columns, sum(row_heights) + 0.9), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, gridspec_kw={"height_ratios": row_heights})
    for i, axis in enumerate(axes.flat):
        if i < len(tables):
            panel(axis, tables[i])
        else:
            axis.set_axis_off()
    return Plot(name, message, svg(figure, message))


def panel(axis: Any, table: Table) -> None:
    measure = measure_of(table)
    rows = sorted(table.timed, key=lambda row: row.time.median)
    values = [figure_of(table, row.time.median) for row in rows]
    ends = [sorted(figure_of(table, seconds) for seconds in (row.time.low, row.time.high)) for row in rows]
    whiskers = [
        [v - low for v, (low, _) in zip(values, ends, strict=True)],
        [high - v for v, (_, high) in zip(values, ends, strict=True)],
    ]
    log = max(values) > WIDE * min(values) > 0
    colors = [color(table, row) for row in rows]
    if log:
        axis.set_xscale("log")
        axis.errorbar(values, range(len(rows)), xerr=whiskers, fmt="none", ecolor=GOAL, elinewidth=1, capsize=2)
        axis.scatter(values, range(len(rows)), s=60, c=colors, edgecolors=GOAL, linewidths=0.5, zorder=3)
        axis.set_ylim(-0.6, len(rows) - 0.4)
    else:
        bars = axis.barh(
            range(len(rows)),
            values,
            xerr=whiskers,
            height=0.68,
            color=colors,
            error_kw={"ecolor": GOAL, "elinewidth": 1, "capsize": 2},
        )
        for bar, row in zip(bars, rows, strict=True):
            if row.floor:
                bar.set_hatch("///")
    low, high = min(values), max(high for _, high in ends)
    axis.set_xlim((low / 3, high * (high * 3 / low) ** 0.45) if log else (0, high * 1.42))
    for i, row in enumerate(rows):
        axis.annotate(
            f"{number(values[i])}{times(table, row)}",
            (ends[i][1], i),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axis.set_yticks(range(len(rows)), [wrapped(row.label, 30) for row in rows], fontsize=9)
    axis.invert_yaxis()
    axis.set_xlabel(
        f"{measure.unit}{', longer is better' if measure.more_is_better else ', shorter is better'}"
        f"{'; logarithmic' if log else ''}",
        fontsize=9,
    )
    axis.set_title(table.workload, fontsize=11, loc="left", fontweight="bold")
    axis.spines[["top", "right"]].set_visible(False)


def color(table: Table, row: Row) -> str:
    return FLOOR if row.floor else OURS if row is table.base_for(row) and row.ours else OURS_TOO if row.ours else RIVAL


def times(table: Table, row: Row) -> str:
    """Return the text after a rival's figure: how much faster ours is, and the share of the data."""
    ratio = table.ratio(row)
    base = table.base_for(row)
    if row.ours or ratio is None or base is None or not base.ours:
        return ""
    part = f"; on {row.share:.0%} of the data" if row.share < 1 else ""
    return f"  (ours {faster(ratio, spread=False)}{part})"


def between(low: float, high: float) -> str:
    return f"{number(low)}×" if number(low) == number(high) else f"{number(low)}× to {number(high)}×"


def message_of(tables: list[Table]) -> str:
    """The ratios to the fastest rival of each table; where we lose, the rival is named."""
    best: dict[str, tuple[float, str]] = {}
    for table in tables:
        rivals = [
            (ratio.median, row.title)
            for row in table.timed
            if not row.ours and not row.floor and not row.is_sample and (ratio := table.ratio(row)) is not None
        ]
        if rivals and table.base is not None and table.base.ours:
            best[table.workload] = min(rivals)
    title = title_of(tables[0])
    if not best:
        return title
    won = {workload: ratio for workload, (ratio, _) in best.items() if ratio >= 1}
    text = f"{title}: "
    if won:
        low, high = min(won, key=won.__getitem__), max(won, key=won.__getitem__)
        text += f"tfrecord_fast is {between(won[low], won[high])} faster than the fastest rival"
    lost = [
        f"{of} is {number(1 / ratio)}× faster{f' on {workload}' if workload else ''}"
        for workload, (ratio, of) in best.items()
        if ratio < 1
    ]
    if lost:
        text += f"{', but ' if won else ''}{', '.join(lost)}"
    return text


# ---- Scaling and targets ----


def one_and_two(table: Table) -> tuple[Row, Row] | None:
    rows = {row.row: row for row in table.timed if row.ours}
    one, two = rows.get("ShardReader, 1 thread"), rows.get("ShardReader, 2 threads")
    return (one, two) if one and two else None


def scaling_plot(tables: list[Table]) -> Plot:
    """The speed of two threads over that of one, one bar per workload."""
    ratios = {table.workload: table.between(pair[1], pair[0]) for table in tables if (pair := one_and_two(table))}
    low, high = (f(spread.median for spread in ratios.values()) for f in (min, max))
    message = f"Two threads parse {between(low, high)} faster than one"
    figure = figures()(figsize=(9, 1.5 + 0.4 * len(ratios)), layout="constrained")
    axis = figure.subplots()
    medians = [spread.median for spread in ratios.values()]
    axis.barh(
        range(len(ratios)),
        medians,
        height=0.6,
        color=OURS,
        xerr=[[s.median - s.low for s in ratios.values()], [s.high - s.median for s in ratios.values()]],
        error_kw={"ecolor": GOAL, "capsize": 2},
    )
    axis.axvline(2, color=GOAL, linestyle="--", linewidth=1)
    axis.annotate("twice as fast", (2, -0.45), xytext=(4, 0), textcoords="offset points", fontsize=9, va="center")
    for i, spread in enumerate(ratios.values()):
        axis.annotate(f"{spread.median:.2f}×", (spread.high, i), xytext=(5, 0), textcoords="offset points", va="center")
    axis.set_yticks(range(len(ratios)), list(ratios))
    axis.invert_yaxis()
    axis.set_xlim(0, max(2.6, max(s.high for s in ratios.values()) * 1.2))
    axis.set_xlabel("speed of two threads ÷ speed of one, from files to columns")
    axis.spines[["top", "right"]].set_visible(False)
    return Plot("scaling-threads", message, svg(figure, message))


def reached(target: Target) -> float:
    """1 where the target is just met, more where it is exceeded."""
    return target.at_least / target.measured if "at most" in target.measure else target.measured / target.at_least


def target_plot(targets: list[Target]) -> Plot:
    met = sum(target.met for target in targets)
    message = f"{met} of {len(targets)} targets are met"
    figure = figures()(figsize=(12, 1.4 + 0.3 * len(targets)), layout="constrained")
    axis = figure.subplots()
    values = [reached(target) for target in targets]
    axis.scatter(values, range(len(targets)), s=45, color=[OURS if t.met else RIVAL for t in targets], zorder=3)
    axis.set_ylim(-0.7, len(targets) - 0.3)
    axis.axvline(1, color=GOAL, linewidth=1.2)
    axis.set_xscale("log", base=2)
    axis.set_xlim(min(*values, 1) / 1.6, max(*values, 1) * 4)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    for i, target in enumerate(targets):
        text = f"{number(target.measured)}, wanted {number(target.at_least)}"
        axis.annotate(text, (max(values[i], 1), i), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    labels = [" ".join(filter(None, [t.task, t.workload, t.measure])) for t in targets]
    axis.set_yticks(range(len(targets)), labels, fontsize=9)
    axis.invert_yaxis()
    axis.set_xlabel("measured ÷ wanted (the line is the target; missed ones are orange); logarithmic")
    axis.spines[["top", "right"]].set_visible(False)
    return Plot("targets", message, svg(figure, message))


def overview_plot(tables: list[Table]) -> Plot:
    """The fastest row of each contender that read all data, as bars from zero."""
    message = "MB/s of this package and of its rivals: longer is better"
    rows = [best_of_each(table) for table in tables]
    heights = [0.9 + 0.34 * len(of_table) for of_table in rows]
    figure = figures()(figsize=(9, sum(heights)), layout="constrained")
    axes = figure.subplots(len(tables), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for axis, table, of_table in zip(axes.flat, tables, rows, strict=True):
        values = [figure_of(table, row.time.median) for row in of_table]
        axis.barh(range(len(of_table)), values, height=0.68, color=[color(table, row) for row in of_table])
        for i, row in enumerate(of_table):
            mark = "" if row.checks else ", checks no CRC"
            axis.annotate(
                f"{number(values[i])}{mark}",
                (values[i], i),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axis.set_yticks(range(len(of_table)), [row.title for row in of_table], fontsize=10)
        axis.invert_yaxis()
        axis.set_xlim(0, max(values) * 1.15)
        axis.set_title(f"{title_of(table)}, MB/s ({table.workload})", fontsize=11, loc="left", fontweight="bold")
        axis.spines[["top", "right"]].set_visible(False)
    return Plot("overview", message, svg(figure, message))


def best_of_each(table: Table) -> list[Row]:
    best: dict[str, Row] = {}
    whole = [row for row in table.timed if not row.floor and row.share == 1]
    for row in sorted(whole, key=lambda row: row.time.median):
        best.setdefault(row.title, row)
    return list(best.values())


# ---- Drawing ----


def wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width)) or text


def svg(figure: Any, message: str) -> str:
    """The figure as an element to put into a page: no declaration, no date, the message as its title for screen
    readers."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Title": message})
    text = out.getvalue()
    return text[text.index("<svg") :]


def save(drawn: Iterable[Plot], folder: Path) -> None:
    """Each plot as NAME.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    for plot in drawn:
        (folder / f"{plot.name}.svg").write_text(plot.svg)
