"""A run as pages of the documents: what a stranger asks first, then every table; the targets on a page of their own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting import report
from benchmarks.reporting.plots import name_of, plots, save
from benchmarks.reporting.targets import not_measured, targets
from benchmarks.running.environment import Environment
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Table

__all__ = ["markdown", "pages", "targets_page"]

INTRODUCTION = """# Benchmarks

**How fast is it on my files, against what I use?** One command answers that. It compares all answers before it prints \
a time:

```sh
tfrecord-fast bench --files 'train-*.tfrecord'    # your files, with all that is installed
tfrecord-fast bench --install tfrecords,tfx_bsl   # rivals with environments of their own
```

What follows is one run of it on made data. Find the workload that is nearest to your records, and the row of what you \
use. Do not compare MB/s with other machines: only the ratios within one run mean something, and they hold for this \
machine and these versions. The files are in memory; on a slow disk the disk decides, and all are equal. \
[How it measures](../benchmarks/README.md) has the rest."""
HOW_TO_READ = """*MB/s* are of the uncompressed file. A row has the fastest setting that its documentation offers. \
*3.2× faster* says that the row takes 3.2 times as long as tfrecord_fast in its fastest row that does the same: the \
median over the rounds, and the range. *CPU time*: how many times tfrecord_fast's processor time the row took, all \
threads and processes; a busy machine changes it less. The *floor* is a loop in C++ that does only what its name says, \
and hands nothing on."""


def pages(tables: list[Table], environment: Environment, method: Method, note: str, folder: Path) -> None:
    """Writes benchmarks.md, performance/targets.md and the pictures into a folder of documents."""
    drawn = plots(tables, targets(tables))
    save(drawn, folder / "benchmarks")
    names = {plot.name: plot.message for plot in drawn}
    (folder / "benchmarks.md").write_text(markdown(tables, environment, method, note, names))
    (folder / "performance" / "targets.md").write_text(targets_page(tables, environment, names))


def markdown(
    tables: list[Table],
    environment: Environment,
    method: Method,
    note: str = "",
    pictures: dict[str, str] | None = None,
) -> str:
    """The page of results. `note` says how the run came about; `pictures` are the messages of those beside it."""
    pictures = pictures or {}
    parts = [INTRODUCTION, missing(tables), report.busy(environment), where(tables, environment, method), note]
    if "overview" in pictures:
        parts.append(f"![{pictures['overview']}](benchmarks/overview.svg)")
    parts += [
        "## In short",
        "tfrecord_fast, with all CRCs checked, is",
        short(tables),
        "## The records",
        *records(tables),
        "## How to read the tables",
        HOW_TO_READ,
    ]
    usual = report.commonest(tables)
    for of_task in report.by_task(tables):
        name = name_of(of_task[0])
        parts.append(f"## {report.title_of(of_task[0])}")
        if name in pictures:
            parts += [f"![{pictures[name]}](benchmarks/{name}.svg)", f"{pictures[name]}."]
        rows = [report.cells(table, row) for table in of_task for row in table.rows]
        parts += [table_of(report.columns(of_task[0]), rows), report.footnote(of_task, usual)]
    if left_out := report.left_out(tables):
        parts += ["## What some leave out", left_out]
    return "\n\n".join(section for section in parts if section) + "\n"


def missing(tables: list[Table]) -> str:
    """List the contenders that take part, and the missing ones."""
    took_part = list(dict.fromkeys(row.title for t in tables for row in t.timed if not row.ours and not row.floor))
    lacking = {
        row.title: row.words
        for table in tables
        for row in table.rows
        if row.status != "timed" and row.title not in took_part and not row.ours and not row.floor
    }
    text = f"**Against:** {', '.join(took_part) or 'none'}."
    if lacking:
        text += f" **Missing here:** {'; '.join(f'{title} ({reason})' for title, reason in lacking.items())}."
    return text


def where(tables: list[Table], environment: Environment, method: Method) -> str:
    return (
        f"Measured {environment['date'][:10]} at commit {environment['commit'] or 'unknown'} on "
        f"{environment['cores']} cores of {environment['cpu']}, {environment['system']}, "
        f"Python {environment['python']}; {report.versions(tables)}. {method.rounds} rounds, contenders in turn; "
        f"{report.where_files_are(tables)}."
    )


def short(tables: list[Table]) -> str:
    """One row per table: ours, against TensorFlow, against the fastest rival that is not TensorFlow."""
    rows = []
    for table in tables:
        base = table.base
        if base is None or not base.ours or table.dataset is None:
            continue
        rivals = [row for row in table.timed if not row.ours and not row.floor]
        google = strongest(table, [row for row in rivals if row.contender == "tensorflow"])
        other = strongest(table, [row for row in rivals if row.contender != "tensorflow"])
        if google or other:
            rows.append([report.title_of(table), table.workload, against(table, google), against(table, other, True)])
    head = ["what is done", "workload", "against TensorFlow", "against the fastest of the others"]
    before = ""
    for row in rows:
        row[0], before = ("" if row[0] == before else row[0]), row[0]
    return table_of(head, rows, left={"what is done", "workload", *head[2:]}) + (
        "\n\n\\* reads without checking any checksums." if any("\\*" in row[3] for row in rows) else ""
    )


def strongest(table: Table, rows: list[Row]) -> Row | None:
    """The row that comes nearest to ours of its kind, or beats it by most."""
    able = [(ratio.median, row) for row in rows if (ratio := table.ratio(row)) is not None]
    return min(able, key=lambda pair: pair[0])[1] if able else None


def against(table: Table, row: Row | None, named: bool = False) -> str:
    ratio = table.ratio(row) if row else None
    if row is None or ratio is None:
        return ""
    mark = "" if row.checks else "\\*"
    return report.faster(ratio, spread=False) + (f", {row.title}{mark}" if named else "")


def records(tables: list[Table]) -> list[str]:
    sizes = report.commonest(tables)
    rows = [
        [
            name,
            WORKLOADS[name].title if name in WORKLOADS else "",
            f"{size.records:,}",
            report.number(size.file_bytes / 1e6),
            report.number(size.gzip_bytes / 1e6) if size.gzip_bytes else "",
        ]
        for name, size in sizes.items()
    ]
    if not rows:
        return []
    head = ["workload", "one record", "records", "MB", "MB compressed"]
    return [table_of(head, rows, left={"workload", "one record"}), *report.warnings_of_data(tables)]


def table_of(head: list[str], rows: list[list[str]], left: set[str] = report.LEFT) -> str:
    rule = [":--" if name in left else "--:" for name in head]
    return "\n".join([report.line(head), report.line(rule), *map(report.line, rows)])


def targets_page(tables: list[Table], environment: Environment, pictures: dict[str, str]) -> str:
    """Return the page of targets."""
    head, rows = report.target_rows(tables)
    met = sum(row[head.index("met")] == "yes" for row in rows)
    parts = [
        "# Targets",
        "What the project aims at, as ratios within one run, and what it reaches. A target that is missed has the "
        "reason, and what is next. They are for us; how fast it is for you is in [Benchmarks](../benchmarks.md).",
        f"{met} of {len(rows)} are met, at commit {environment['commit'] or 'unknown'}, {environment['date'][:10]}.",
    ]
    if "targets" in pictures:
        parts.append(f"![{pictures['targets']}](../benchmarks/targets.svg)")
    parts.append(table_of(head, rows))
    lacking = not_measured(tables)
    if lacking:
        parts += ["## Not measured", "\n".join(f"- {text}" for text in lacking)]
    return "\n\n".join(parts) + "\n"
