"""A run as one self-contained HTML page: plots, tables, what they hold for and what they don't say."""

from __future__ import annotations

from html import escape
from typing import Any

from benchmarks.reporting import document, report
from benchmarks.reporting.plots import name_of, plots
from benchmarks.reporting.targets import Target, not_measured, targets
from benchmarks.running.environment import Environment
from benchmarks.running.results import Table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.4em; border-bottom: 1px solid #ccc; }
svg { max-width: 100%; height: auto; } figure { margin: 1em 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; } td, th { padding: .2em .6em; border-bottom: 1px solid #ddd; }
th { text-align: left; } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { margin: .6em 0; overflow-x: auto; } summary { cursor: pointer; color: #0072B2; } .no { color: #b04a00; }
.key span { display: inline-block; width: 1em; height: 1em; margin: 0 .3em 0 1em; vertical-align: -.1em; }
"""
KEY = """<p class="key"><span style="background:#0072B2"></span>tfrecord_fast, its fastest
<span style="background:#7FB8DA"></span>tfrecord_fast, otherwise <span style="background:#D98A3D"></span>others
<span style="background:#B8B8B8"></span>the machine's floor: a loop in C++ that does only this</p>"""


def page(tables: list[Table], environment: Environment, method: dict[str, Any]) -> str:
    """Raises ImportError, which says what to install, without matplotlib."""
    reached = targets(tables)
    drawn = {plot.name: plot for plot in plots(tables, reached)}
    parts = ["<h1>How fast is tfrecord_fast, against the others?</h1>", about(tables, environment, method)]
    parts.append(f"<p>{escape(document.missing(tables).replace('**', ''))}</p>")
    if "overview" in drawn:
        parts.append(f"<figure>{drawn['overview'].svg}</figure>")
    parts.append(KEY)
    usual = report.commonest(tables)
    for of_task in report.by_task(tables):
        title, note, head, rows = report.section(of_task, usual)
        task = name_of(of_task[0])
        parts.append(f"<h2>{escape(title)}</h2>")
        if task in drawn:
            parts += [f"<p>{escape(drawn[task].message)}.</p>", f"<figure>{drawn[task].svg}</figure>"]
        parts.append(f"<details><summary>The figures</summary>{table_of(head, rows)}<p>{escape(note)}</p></details>")
    if "scaling-threads" in drawn:
        plot = drawn["scaling-threads"]
        parts += ["<h2>One thread and two</h2>", f"<p>{escape(plot.message)}.</p>", f"<figure>{plot.svg}</figure>"]
    parts += left_out(tables)
    if "targets" in drawn:
        plot = drawn["targets"]
        parts += ["<h2>Targets</h2>", f"<p>{escape(plot.message)}.</p>", f"<figure>{plot.svg}</figure>"]
        parts += missed_targets(reached) + missing_targets(tables)
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>tfrecord_fast: benchmarks</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def about(tables: list[Table], environment: Environment, method: dict[str, Any]) -> str:
    where = (
        f"{environment['date'][:10]}, commit {environment['commit'] or 'unknown'}, {environment['cores']} cores of "
        f"{environment['cpu']}, {environment['system']}, Python {environment['python']}; {report.versions(tables)}."
    )
    how = (
        f"All answers were compared before any time was taken; {method['rounds']} rounds, the contenders in turn, "
        "each in a process of its own and in the fastest of the settings that its documentation allows; bars and "
        f"dots are medians, whiskers the fastest and the slowest round. {of_cache(tables)} A ratio holds for this "
        "machine and these versions."
    )
    busy = report.busy(environment)
    return "".join(f"<p>{escape(text)}</p>" for text in (where, how, *report.about_data(tables), busy) if text)


def of_cache(tables: list[Table]) -> str:
    where = report.where_files_are(tables)
    start = f"{where[0].upper()}{where[1:]}"
    return f"{start}." if all(t.cold for t in tables) else f"{start}: on a slow disk the disk decides, for everyone."


def table_of(head: list[str], rows: list[list[str]]) -> str:
    def cell(name: str, text: str) -> str:
        kind = "" if name in report.LEFT else ' class="number"'
        return f"<td{kind}>{escape(text)}</td>"

    lines = ["".join(f"<th>{escape(name)}</th>" for name in head)]
    lines += ["".join(cell(name, text) for name, text in zip(head, row, strict=True)) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def missed_targets(reached: list[Target]) -> list[str]:
    """The targets that were measured and missed, with the reasons."""
    rows = [
        [t.task, t.workload, t.measure, report.number(t.at_least), report.number(t.measured), t.reason]
        for t in reached
        if not t.met
    ]
    if not rows:
        return []
    head = ["task", "workload", "measure", "target", "measured", report.WHY]
    return [f"<p>Missed, and why:</p>{table_of(head, rows)}"]


def missing_targets(tables: list[Table]) -> list[str]:
    missing = not_measured(tables)
    if not missing:
        return []
    return [f"<p>Targets that could not be measured:</p><ul>{''.join(f'<li>{escape(t)}</li>' for t in missing)}</ul>"]


def left_out(tables: list[Table]) -> list[str]:
    """List the steps that contenders omit, and the contenders that were not timed, with reasons."""
    leaves = report.leaving_out(tables)
    parts = []
    if leaves:
        items = "".join(f"<li>{escape(label)}: {escape(text)}</li>" for label, text in leaves.items())
        parts.append(f"<h2>Omissions</h2><ul>{items}</ul>")
    untimed = [
        [table.task, table.workload, row.label, row.status, row.words]
        for table in tables
        for row in table.rows
        if row.status != "timed"
    ]
    if untimed:
        parts.append("<h2>Wrong, failed or missing</h2>")
        parts.append(table_of(["task", "workload", "contender", "status", "reason"], untimed))
    return parts
