"""A run as Markdown: one report, or the pages of the site, which are divided by task. The targets have a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.data.pipelines import EVERY
from benchmarks.data.tasks import TASKS
from benchmarks.reporting import report
from benchmarks.reporting.plots import name_of, plots
from benchmarks.reporting.targets import not_measured, targets
from benchmarks.running.environment import Environment
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Table

__all__ = ["PAGES", "markdown", "pages", "targets_page"]

# The pages of the site that have tables: their titles and tasks.
PAGES = {
    "reading": ("Reading records", ("raw", "raw-gzip", "gzip-own", "loop", "random")),
    "parsing": ("Parsing", ("parse", "parse-gzip", "parse-memory", "parse-single", "shards", "stats")),
    "training": ("Training", ("epoch", "train-feed", "images")),
    "datasets": ("Scripts for tf.data", ("pipelines", "face-batches")),
    "tables": ("Tables and engines", ("tables", "engines")),
    "writing": ("Writing", ("write", "write-columns", "write-gzip", "write-gzip-1")),
    "stores": ("Object stores, memory, import", ("remote", "memory", "import")),
}
HOW_TO_READ = """*MB/s* are of the uncompressed file. Each row has the fastest setting that its documentation offers. \
*3.2× faster* means that the row takes 3.2 times as long as the fastest row of tfrecord_fast that does the same work: \
the median over the rounds, and the range. *CPU time* is the row's processor time divided by tfrecord_fast's, all \
threads and processes; a busy machine affects it less. The *floor* is a loop in C++ that does only what its name says, \
and returns nothing."""


def pages(tables: list[Table], environment: Environment, method: Method, note: str) -> dict[str, str]:
    """Return the site's pages and charts of a run, by their paths in the folder of documents."""
    charts = {plot.name: plot for plot in plots(tables, targets(tables))}
    messages = {name: chart.message for name, chart in charts.items()}
    texts: dict[str, list[str]] = {
        "benchmarks/summary": ["# Summary", *summary(tables, environment, method, note, messages)]
    }
    rows: list[list[str]] = []
    for name, (title, tasks) in PAGES.items():
        of_page = [table for table in tables if table.task in tasks]
        if of_page:
            sections = task_sections(of_page, report.commonest(tables), messages)
            lines = [f"- {link}" for link in links(of_page)]
            texts[f"benchmarks/{name}"] = [f"# {title}", "\n".join(lines), HOW_TO_READ, *sections]
            rows.append([f"[{title}]({name}.md)", "; ".join(links(of_page, f"{name}.md"))])
    texts["benchmarks/summary"].insert(1, table_of(["page", "tasks"], rows, left={"page", "tasks"}))
    files = {f"{name}.md": joined(parts) for name, parts in texts.items()}
    files["performance/targets.md"] = targets_page(tables, environment, messages)
    return files | {f"benchmarks/{name}.svg": chart.svg for name, chart in charts.items()}


def links(tables: list[Table], page: str = "") -> list[str]:
    """Return links to the tasks' sections on a page of the site."""
    titles = dict.fromkeys(report.title_of(of_task[0]) for of_task in report.by_task(tables))
    return [f"[{title}]({page}#{anchor(title)})" for title in titles]


def anchor(title: str) -> str:
    """Return the id that Python-Markdown gives to a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def markdown(tables: list[Table], environment: Environment, method: Method) -> str:
    """Return one report of all tables, without charts."""
    return joined(
        ["# Benchmarks", *summary(tables, environment, method), *task_sections(tables, report.commonest(tables))]
    )


def joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(
    tables: list[Table],
    environment: Environment,
    method: Method,
    note: str = "",
    messages: dict[str, str] | None = None,
) -> Iterator[str]:
    """Yield what holds for all tables. `note` says how the run was made; `messages` are those of the charts."""
    yield from (missing(tables), report.busy(environment), where(tables, environment, method), note)
    if messages and "overview" in messages:
        yield f"![{messages['overview']}](overview.svg)"
    yield from ("## In short", "tfrecord_fast, with all CRCs checked, is", short(tables))
    yield from ("## The records", *records(tables), "## How to read the tables", HOW_TO_READ)
    if left_out := report.left_out(tables):
        yield from ("## Omissions", left_out)


def task_sections(tables: list[Table], usual: report.Sizes, messages: dict[str, str] | None = None) -> Iterator[str]:
    """Yield a section for each task. `messages` are those of the charts that lie beside the page."""
    for of_task in report.by_task(tables):
        name = name_of(of_task[0])
        yield f"## {report.title_of(of_task[0])}"
        if messages and name in messages:
            yield from (f"![{messages[name]}]({name}.svg)", f"{messages[name]}.")
        _, note, head, rows = report.section(of_task, usual)
        scripted = TASKS[of_task[0].task].scripted
        yield from (table_of(head, rows), note if scripted else report.footnote(of_task, usual))


def missing(tables: list[Table]) -> str:
    """Return who takes part, and who is missing here."""
    took_part = list(dict.fromkeys(row.title for t in tables for row in t.timed if not row.ours and not row.floor))
    lacking = {
        row.title: row.words
        for table in tables
        for row in table.rows
        if row.status != "timed" and row.title not in took_part and not row.ours and not row.floor
    }
    text = f"**Against:** {', '.join(took_part) or 'no rivals'}."
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
    """The row that comes nearest to ours of its kind, or beats it by most. Samples don't count."""
    able = [(ratio.median, row) for row in rows if (ratio := table.ratio(row)) is not None and not row.is_sample]
    return min(able, key=lambda one: one[0])[1] if able else None


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
            EVERY[name].title if name in EVERY else "",
            f"{one.records:,}",
            report.number(one.file_bytes / 1e6),
            report.number(one.gzip_bytes / 1e6) if one.gzip_bytes else "",
        ]
        for name, one in sizes.items()
    ]
    if not rows:
        return []
    head = ["workload", "one record", "records", "MB", "MB compressed"]
    return [table_of(head, rows, left={"workload", "one record"}), *report.warnings_of_data(tables)]


def table_of(head: list[str], rows: list[list[str]], left: set[str] = report.LEFT) -> str:
    rule = [":--" if name in left else "--:" for name in head]
    return "\n".join([report.line(head), report.line(rule), *map(report.line, rows)])


def targets_page(tables: list[Table], environment: Environment, messages: dict[str, str]) -> str:
    """Return the page of what the project aims at, and what it reaches."""
    head, rows = report.target_rows(tables)
    met = sum(row[head.index("met")] == "yes" for row in rows)
    parts = [
        "# Targets",
        "The project's aims, as ratios within one run, and what it reaches. A missed target has the reason and the "
        "next step. They are for developers; how fast it is for you is in [Benchmarks](../benchmarks.md).",
        f"{met} of {len(rows)} are met, at commit {environment['commit'] or 'unknown'}, {environment['date'][:10]}.",
    ]
    if "targets" in messages:
        parts.append(f"![{messages['targets']}](../benchmarks/targets.svg)")
    parts.append(table_of(head, rows))
    lacking = not_measured(tables)
    if lacking:
        parts += ["## Not measured", "\n".join(f"- {text}" for text in lacking)]
    return joined(parts)
