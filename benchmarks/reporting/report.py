"""Results as a table on the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import TextIO

from benchmarks.data.dataset import Dataset
from benchmarks.data.tasks import TASKS
from benchmarks.reporting.numbers import number
from benchmarks.reporting.pipelines import HEAD, HOW_TO_READ, footnotes, speeds
from benchmarks.reporting.targets import of_us, targets
from benchmarks.running.environment import Environment
from benchmarks.running.likeness import KINDS
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table
from benchmarks.running.stats import Spread

MANY, ONE, FROM_DISK = "k records/s", "µs/record", "from disk"
RATIO = "tfrecord_fast is"
DATA_COLUMNS = [
    "workload",
    "contender",
    "setting",
    "MB/s",
    "(min–max)",
    MANY,
    "cores",
    "peak MB",
    RATIO,
    "CPU time",
]
PLAIN_COLUMNS = ["contender", "setting", "ms", "(min–max)", "peak MB", RATIO, "CPU time"]
WHY = "why not, and what is next"
Sizes = dict[str, Dataset | Size]  # by workload
Section = tuple[str, str, list[str], list[list[str]]]  # title, caption, head, rows
LEFT = {"pipeline", "workload", "contender", "setting", "task", "measure", "met", "status", "reason", WHY}


def ratio_text(ratio: Spread | None, is_base: bool) -> str:
    if is_base or ratio is None:
        return "this row" if is_base else ""
    return faster(ratio)


def faster(ratio: Spread, spread: bool = True) -> str:
    """The base's speed over another's in words, as "3.20× faster (3.10–3.30)"."""
    slower = ratio.median < 1
    median, low, high = (1 / ratio.median, 1 / ratio.high, 1 / ratio.low) if slower else ratio
    text = f"{number(median)}× {'slower' if slower else 'faster'}"
    return f"{text} ({number(low)}–{number(high)})" if spread else text


def by_task(tables: Iterable[Table]) -> list[list[Table]]:
    """The tables of each task, wherever they are in the run; cold ones on their own."""
    groups: dict[tuple[str, str], list[Table]] = {}
    for table in tables:
        groups.setdefault((table.task, table.cache), []).append(table)
    return list(groups.values())


def title_of(table: Table) -> str:
    return TASKS[table.task].title + (", cold page cache" if table.cold else "")


def columns(table: Table) -> list[str]:
    if table.dataset is None:
        return PLAIN_COLUMNS
    names = [ONE if name == MANY and TASKS[table.task].one else name for name in DATA_COLUMNS]
    return [*names, FROM_DISK] if table.cold else names


def cells(table: Table, row: Row) -> list[str]:
    """One line of the table. A row that was not measured says why, and its other cells stay empty."""
    front = [table.workload, row.label] if table.dataset else [row.label]
    if row.status != "timed":
        reason = f"{row.status.upper() if row.status == 'wrong' else row.status}: {row.words}"
        return front + [reason] + [""] * (len(columns(table)) - len(front) - 1)
    wrong = [f"{t.label}: {t.status}" for t in row.tried if t.status != "ok"]
    rounds = max((len(timed.wall) for timed in table.timed), default=0)
    fewer = [f"{len(row.wall)} of {rounds} rounds"] if len(row.wall) < rounds else []
    sized = [f"{number(row.size / 1e6)} MB on disk"] if row.size else []
    share = [f"on {row.share:.0%} of the data"] if row.share < 1 else []
    setting = "; ".join([*filter(None, [row.setting]), *share, *sized, *fewer, *wrong])
    time = row.time
    peak = number(row.peak / 1e6) if row.peak else ""
    is_base = row is table.base_for(row)
    ratio = ratio_text(table.ratio(row), is_base)
    cpu = table.cpu_ratio(row)
    cpu_ratio = "" if is_base or cpu is None else f"{number(cpu.median)}×"
    if table.dataset is None:
        return [
            *front,
            setting,
            number(time.median * 1e3),
            f"{number(time.low * 1e3)}–{number(time.high * 1e3)}",
            peak,
            ratio,
            cpu_ratio,
        ]
    size, records = table.dataset.file_bytes / 1e6, table.dataset.records / 1e3
    speeds = f"{number(size / time.high)}–{number(size / time.low)}"
    cores = f"{sum(row.cpu) / sum(row.wall):.2f}"
    disk = [f"{min(row.disk):.0%}" if row.disk else ""] if table.cold else []
    return [
        *front,
        setting,
        number(size / time.median),
        speeds,
        number(time.median * 1e3 / records if TASKS[table.task].one else records / time.median),
        cores,
        peak,
        ratio,
        cpu_ratio,
        *disk,
    ]


def caption(tables: list[Table], usual: Sizes) -> str:
    """How to read a table on its own."""
    bases = {base.label for table in tables for row in table.timed if (base := table.base_for(row))}
    kinds = tables[0].task in KINDS and len(bases) > 1
    base = "tfrecord_fast's row of the same kind" if kinds else " or ".join(sorted(bases)) or "nothing"
    text = (
        f"{RATIO}: {base} against the row, median and range over the rounds; CPU time: how many times that row's "
        "processor time the row took, all threads and processes, which a busy machine changes less"
    )
    more = footnote(tables, usual)
    return f"{text}. {more}" if more else text


def footnote(tables: list[Table], usual: Sizes) -> str:
    """Return sentences about peculiarities of these tables. `usual` are the sizes of most tables."""
    notes = []
    if any(row.share < 1 for table in tables for row in table.timed):
        notes.append("A row timed on a part of the data has the first records of each file, and figures for that part.")
    if any(table.cold for table in tables):
        notes.append(
            f"{FROM_DISK[0].upper()}{FROM_DISK[1:]} is what the process read from the device, as a part of the files' "
            "size, the least of all rounds."
        )
    others = [
        f"{table.workload}: {number(table.dataset.file_bytes / 1e6)} MB here"
        for table in tables
        if table.dataset and table.dataset.file_bytes != usual[table.workload].file_bytes
    ]
    if others:
        notes.append(f"{'; '.join(dict.fromkeys(others))}.")
    return " ".join(notes)


def target_rows(tables: list[Table]) -> tuple[list[str], list[list[str]]]:
    head = ["task", "workload", "measure", "target", "measured", "met", WHY]
    return head, [
        [t.task, t.workload, t.measure, number(t.at_least), number(t.measured), "yes" if t.met else "no", t.reason]
        for t in targets(tables)
    ]


def section(of_task: list[Table], usual: Sizes) -> Section:
    """The tables of one task as one."""
    if TASKS[of_task[0].task].scripted:
        return title_of(of_task[0]), " ".join([HOW_TO_READ, *footnotes(of_task)]), HEAD, speeds(of_task)
    rows = [cells(table, row) for table in of_task for row in table.rows]
    return title_of(of_task[0]), caption(of_task, usual), columns(of_task[0]), rows


def sections(tables: list[Table]) -> Iterable[Section]:
    """Title, caption, head and rows of each table that is shown."""
    usual = commonest(tables)
    for of_task in by_task(tables):
        yield section(of_task, usual)
    head, rows = target_rows(tables)
    if rows:
        yield "Targets", "targets are ratios to reach, unless stated otherwise", head, rows


def show(tables: list[Table], out: TextIO | None = None) -> None:
    """Prints the tables, with rich where it is installed."""
    out = out or sys.stdout
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table as RichTable
    except ImportError:
        return show_plain(tables, out)
    # Only a terminal has a width to keep to.
    console = Console(file=out, width=None if out.isatty() else 200)
    for title, note, head, rows in sections(tables):
        table = RichTable(title=title, caption=note, title_justify="left", caption_justify="left")
        for name in head:
            table.add_column(name, justify="left" if name in LEFT else "right", overflow="fold")
        for before, row in zip([None, *rows], rows, strict=False):
            if before and before[0] != row[0] and head[0] == "workload":
                table.add_section()
            table.add_row(*map(escape, row))
        console.print(table)


def installed(tables: list[Table]) -> list[Table]:
    """Return the tables without the rows whose packages are not installed."""
    return [replace(table, rows=[row for row in table.rows if row.status != "missing"]) for table in tables]


def not_installed(tables: list[Table]) -> str:
    """Return a line that names the rivals whose rows `installed` leaves out, or ""."""
    titles = sorted({row.title for table in tables for row in table.rows if row.status == "missing"})
    return f"Not installed, and not shown: {', '.join(titles)}. --list says how to get them." if titles else ""


def conclusion(tables: list[Table]) -> str:
    """Return one sentence that compares this package with the fastest rival of each table."""
    closest = []
    for table in filter(of_us, tables):
        rivals = [row for row in table.timed if not row.ours and not row.floor]
        ratios = [
            (ratio, f"{row.label}, {table.task} {table.workload}".rstrip())
            for row in rivals
            if (ratio := table.ratio(row))
        ]
        closest += [min(ratios)] if ratios else []
    if not closest:
        return "No rival was timed: nothing to compare with."
    (worst, where_worst), (best, where_best) = min(closest), max(closest)
    text = f"tfrecord_fast was {faster(best, spread=False)} than the fastest rival"
    if len(closest) == 1:
        return f"{text} ({where_best})."
    return f"{text} at best ({where_best}), and {faster(worst, spread=False)} at worst ({where_worst})."


def show_plain(tables: list[Table], out: TextIO) -> None:
    for title, note, head, rows in sections(tables):
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        print(f"\n{title}", file=out)
        for row in [head, ["-" * width for width in widths], *rows]:
            padded = [
                text.ljust(width) if name in LEFT else text.rjust(width)
                for text, width, name in zip(row, widths, head, strict=True)
            ]
            print("  ".join(padded).rstrip(), file=out)
        print(note, file=out)


def left_out(tables: list[Table]) -> str:
    """Return a list of the steps that contenders omit."""
    return "\n".join(f"- {label}: {text}" for label, text in leaving_out(tables).items())


def leaving_out(tables: list[Table]) -> dict[str, str]:
    """Return the steps that rows omit, by label; with the names of tasks where these differ."""
    steps: dict[str, dict[str, list[str]]] = {}
    for table in tables:
        for row in table.rows:
            if row.leaves_out:
                steps.setdefault(row.label, {}).setdefault(row.leaves_out, []).append(table.task)
    return {
        label: next(iter(texts))
        if len(texts) == 1
        else "; ".join(f"{text} (in {', '.join(dict.fromkeys(tasks))})" for text, tasks in texts.items())
        for label, texts in steps.items()
    }


SMALL_BYTES = 20e6  # below, a pass takes the fastest contender only a few milliseconds


def commonest(tables: list[Table]) -> Sizes:
    """How much data most tables of each workload have; the larger size where two are as common."""
    datasets: dict[str, list[Dataset | Size]] = {}
    for table in tables:
        if table.dataset is not None:
            datasets.setdefault(table.workload, []).append(table.dataset)
    usual: Sizes = {}
    for name, all_of_it in datasets.items():
        counts = Counter(dataset.file_bytes for dataset in all_of_it)
        size = max(counts, key=lambda number: (counts[number], number))
        usual[name] = max((data for data in all_of_it if data.file_bytes == size), key=lambda data: data.gzip_bytes)
    return usual


def about_data(tables: list[Table]) -> list[str]:
    """How much data there was of each workload, and a warning where that is little."""
    sizes = [
        f"{name} {size.records:,} records, {number(size.file_bytes / 1e6)} MB"
        + (f" ({number(size.gzip_bytes / 1e6)} MB compressed)" if size.gzip_bytes else "")
        for name, size in commonest(tables).items()
    ]
    return [f"The data: {'; '.join(sizes)}.", *warnings_of_data(tables)] if sizes else []


def warnings_of_data(tables: list[Table]) -> list[str]:
    sizes = commonest(tables)
    notes = []
    if any(t.dataset and t.dataset.file_bytes != sizes[t.workload].file_bytes for t in tables):
        notes.append("Tables with another size state it.")
    small = [name for name, size in sizes.items() if size.file_bytes < SMALL_BYTES]
    if small:
        notes.append(
            f"{', '.join(small)}: so little data that a round takes many passes, and the cost of starting each one "
            "(threads, graphs, pipelines) makes up much of some figures; with more data they differ."
        )
    return notes


def where_files_are(tables: list[Table]) -> str:
    cold, warm = any(table.cold for table in tables), any(not table.cold for table in tables)
    dropped = "files dropped from the page cache before each timed pass"
    if cold and warm:
        return f"files in the page cache, or, where a heading says cold, {dropped.removeprefix('files ')}"
    return dropped if cold else "files in the page cache"


def busy(environment: Environment) -> str:
    """A warning if the machine was busy with other work when the run began, else nothing."""
    load, cores = environment["load_average"], environment["cores"] or 1
    if load < 0.5 * cores:
        return ""
    return (
        f"The machine was busy with other work at the start (load {load} on {cores} cores): treat absolute "
        "MB/s as indicative; ratios are more reliable."
    )


def line(row: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in row) + " |"


def versions(tables: list[Table]) -> str:
    known: dict[str, dict[str, None]] = {}
    for row in (row for table in tables for row in table.rows if row.version):
        known.setdefault(row.title, {})[row.version] = None
    return ", ".join(f"{title} {' and '.join(all_of_it)}" for title, all_of_it in known.items())


def as_json(
    tables: list[Table], environment: Environment, method: Method, asked: Mapping[str, object] | None = None
) -> str:
    """`asked` says of which data and rivals the run is, so that it can go on."""
    report = {
        "environment": environment,
        "method": asdict(method),
        "asked": dict(asked or {}),
        "tables": [table.as_json() for table in tables],
        "targets": [target._asdict() | {"reason": target.reason} for target in targets(tables)],
    }
    return json.dumps(report, indent=1) + "\n"
