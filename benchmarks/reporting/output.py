"""Where a run's result goes: JSON, Markdown, an HTML page, plots as SVG. Also `python -m benchmarks report
RESULT.json`, which makes them from saved results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.reporting import document, report
from benchmarks.reporting.page import page
from benchmarks.reporting.plots import figures, plots, save
from benchmarks.reporting.saved import join, load
from benchmarks.reporting.targets import targets
from benchmarks.running.environment import Environment
from benchmarks.running.method import Method
from benchmarks.running.results import Table

_HELP = {
    "json": "file to write the result to; in a folder, DATE-COMMIT.json",
    "markdown": "file to write the tables to",
    "html": "file to write a page with plots to (needs matplotlib)",
    "svg": "folder to write the plots to (needs matplotlib)",
}


def add_arguments(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(f"--{name}", type=Path, help=_HELP[name])


def check(options: argparse.Namespace) -> None:
    """To be called before anything is measured: raises ImportError where plots are asked for and can't be drawn,
    OSError where a result can't be written because its folder is missing."""
    for name in ("json", "markdown", "html"):
        path = getattr(options, name, None)
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"--{name} {path}: folder {path.parent} does not exist")
    if options.svg and options.svg.exists() and not options.svg.is_dir():
        raise NotADirectoryError(f"--svg {options.svg}: not a folder")
    if options.html or options.svg:
        figures()


def write(
    tables: list[Table],
    environment: Environment,
    method: Method,
    options: argparse.Namespace,
    asked: Mapping[str, object],
) -> None:
    """Writes these tables as JSON and Markdown, where the options ask for it: quick enough to do after each table."""
    if getattr(options, "json", None):
        path = json_path(options.json, environment)
        draft = path.with_name(path.name + ".draft")  # a run that is killed meanwhile leaves the last one whole
        draft.write_text(report.as_json(tables, environment, method, asked))
        draft.replace(path)
    if options.markdown:
        options.markdown.write_text(document.markdown(tables, environment, method))


def draw(tables: list[Table], environment: Environment, method: Method, options: argparse.Namespace) -> None:
    """The forms that have plots, which take seconds to draw."""
    if options.html:
        options.html.write_text(page(tables, environment, asdict(method)))
    if options.svg:
        save(plots(tables, targets(tables)), options.svg)


def json_path(path: Path, environment: Environment) -> Path:
    if not path.is_dir():
        return path
    return path / f"{environment['date'][:10]}-{environment['commit'].rstrip('+') or 'unknown'}.json"


def main(argv: list[str]) -> int:
    """Write reports of saved results. Exit status: 0; 2 for invalid files, or if plots need a missing package."""
    parser = argparse.ArgumentParser("python -m benchmarks report", description="tables and plots of saved results")
    parser.add_argument("result", nargs="+", help="of --json; of several, the last table of a task and workload counts")
    add_arguments(parser, "markdown", "html", "svg")
    options = parser.parse_args(argv)
    try:
        check(options)
        saved = join(load(path) for path in options.result)
        write(saved.tables, saved.environment, Method(**saved.method), options, saved.asked)
        draw(saved.tables, saved.environment, Method(**saved.method), options)
    except (OSError, ValueError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2
    if not (options.markdown or options.html or options.svg):
        report.show(saved.tables)
    return 0
