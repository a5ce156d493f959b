"""python -m benchmarks: measures this project, its rivals and the machine on the same data."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import contenders
from benchmarks.data.dataset import Dataset
from benchmarks.data.generate import CACHE, dataset_of, in_shards, repeated, resharded
from benchmarks.data.photos import photos_answer
from benchmarks.data.pipelines import EVERY, PIPELINES
from benchmarks.data.reference import figures_answer, parsed_answer
from benchmarks.data.tasks import COLD, TASKS, Task
from benchmarks.data.userfiles import (
    COMPRESSIONS,
    FilesError,
    dataset_for_files,
    dataset_of_files,
    fitting,
    found,
    state_of,
    tasks_for,
)
from benchmarks.reporting import compare, output, report, resuming
from benchmarks.reporting.saved import in_order
from benchmarks.reporting.targets import not_measured
from benchmarks.running import pagecache
from benchmarks.running.entering import files_of
from benchmarks.running.environment import environment
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.oracle import answer_of_script
from benchmarks.running.progress import Progress
from benchmarks.running.results import Table

QUICK = {
    "task": ["raw", "parse", "write"],
    "workload": ["ctr"],
    "scale": 0.04,
    "rounds": 3,
    "trials": 1,
    "min_time": 0.1,
    "patience": 2.0,
}
QUICK_PIPELINES = {"workload": list(PIPELINES), "scale": 0.25}
QUICK_HELP = "raw, parse and write of a little of ctr: about a minute. With --files, fewer rounds"
EXAMPLES = """\
examples:
  {prog} raw parse --files 'train-*.tfrecord' --rivals tensorflow --quick   a minute, on small files too
  {prog} --files 'train-*.tfrecord'   about two minutes: reading and parsing, with the rivals that are installed
  {prog} raw parse epoch loop --files 'train-*.tfrecord'   four minutes and more
"""
HEAVY = ("beam", "dali", "ray", "rustfrecord")  # take too long for a quick run, and are in it only if they are named
FULL = {
    "task": [],
    "workload": list(EVERY),
    "scale": 1.0,
    "rounds": 5,
    "trials": 2,
    "min_time": 0.2,
    "patience": 4.0,
}


def names(known: Mapping[str, object]) -> Callable[[str], list[str]]:
    """An argument type: a list of names, separated by commas."""

    def split(text: str) -> list[str]:
        for name in text.split(","):
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return text.split(",")

    return split


def arguments(argv: list[str] | None, rivals: dict[str, Path], prog: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog,
        description=__doc__.partition(": ")[2],
        epilog=EXAMPLES.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)} (default: all)")
    parser.add_argument("--workload", "--only", type=names(EVERY), help="comma-separated; default: all that a task has")
    parser.add_argument("--files", nargs="+", metavar="FILES", help="your own TFRecord files, folders or patterns")
    parser.add_argument(
        "--features",
        default="inferred",
        metavar="FILE.py",
        help="of your files: a Python file that sets FEATURES, inferred (default) or none",
    )
    parser.add_argument("--compression", type=str.upper, choices=COMPRESSIONS, help="of your files (default: detected)")
    parser.add_argument("--scale", type=float, help="the part of the workload's full number of records")
    parser.add_argument("--seed", type=int, default=0, help="of the data")
    parser.add_argument("--rounds", type=int, help="that count (default 5)")
    parser.add_argument(
        "--patience",
        type=float,
        metavar="SECONDS",
        help="of timed passes that a slow row gets (default 4); one pass gets half of them",
    )
    parser.add_argument("--rivals", type=names(rivals), help=f"comma-separated, of {', '.join(rivals)} (default: all)")
    parser.add_argument("--rival-file", type=Path, action="append", default=[], help="another contender's file")
    parser.add_argument("--cold", action="store_true", help="drop the files from the page cache before each timed pass")
    parser.add_argument("--cores", type=int, metavar="N", help="use N cores (default: all)")
    parser.add_argument("--quick", action="store_true", help=QUICK_HELP)
    parser.add_argument("--scratch", default="", help="folder to write to (default: memory where there is room)")
    parser.add_argument("--data", type=Path, default=CACHE, help="folder that keeps the data made")
    output.add_arguments(parser, "json", "markdown", "html", "svg")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run that wrote --json FILE and was broken off, if there is one",
    )
    parser.add_argument(
        "--install",
        type=names(rivals),
        default=[],
        metavar="RIVALS",
        help="give these rivals an environment of their own, with pip, and stop",
    )
    parser.add_argument("--list", action="store_true", help="list tasks, workloads and rivals, and stop")
    options = parser.parse_args(argv)
    for task in options.task:
        if task not in TASKS:
            parser.error(f"unknown task {task!r}; choose from {', '.join(TASKS)}")
        if options.cold and task not in COLD:
            parser.error(f"{task} does not read files from cold; of {', '.join(COLD)}")
    if options.resume and (options.json is None or options.json.is_dir()):
        parser.error("--resume needs --json FILE")
    if options.files and options.scale is not None:
        parser.error("--scale is of the workloads, not of --files")
    if options.quick and options.task == ["pipelines"]:
        usual = QUICK | QUICK_PIPELINES
    else:
        usual = QUICK if options.quick else FULL
    for name, value in usual.items():
        if getattr(options, name, None) in (None, []) and not (name == "task" and options.files):
            setattr(options, name, value)
    if options.cold:
        options.task = [name for name in options.task or ([] if options.files else TASKS) if name in COLD]
    return options


def show_list(files: dict[str, Path]) -> None:
    for task in TASKS.values():
        print(f"task      {task.name:12} {task.title}")
    for workload in EVERY.values():
        size = f"{workload.shards} × {workload.records:,} × {workload.mean_bytes:,} bytes"
        print(f"workload  {workload.name:12} {size}: {workload.title}")
    for name, path in files.items():
        print(f"contender {name:12} {contenders.load(path).why_not() or 'ready'}")


def install(wanted: list[str], files: dict[str, Path]) -> int:
    for name in wanted:
        requirements = contenders.load(files[name]).requirements
        if not requirements:
            print(f"{name}: has no environment of its own", file=sys.stderr)
            return 2
        print(f"{name}: pip install {' '.join(requirements)}", flush=True)
        try:
            contenders.install(name, requirements)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


def dataset_for(task: Task, name: str, options: argparse.Namespace) -> Dataset:
    """The files of a workload, with the answer to the task."""
    workload = EVERY[name]
    scale = min(options.scale * task.scale, task.most_bytes / workload.total_bytes)
    dataset = dataset_of(workload, scale, options.seed, task.gzip, options.data)
    if task.shardings:
        dataset = resharded(dataset, task.shardings)
    if task.repeated:
        return repeated(dataset, task.repeated * min(1.0, options.scale))
    if task.scripted:
        return replace(dataset, answer=answer_of_script(task.name, dataset))
    if task.images:
        return replace(dataset, answer=photos_answer(dataset, Path(dataset.files[0]).parent))
    if task.parsed:
        dataset = replace(dataset, answer=parsed_answer(dataset, Path(dataset.files[0]).parent))
    if task.figures:
        figures = figures_answer(dataset, Path(dataset.files[0]).parent)
        dataset = replace(dataset, answer=dataset.answer | {"figures": figures})
    return in_shards(dataset, task.shards) if task.shards else dataset


Plan = list[tuple[Task, str, Callable[[], Dataset | None]]]  # task, workload, what makes the data


def plan_of_workloads(options: argparse.Namespace) -> Plan:
    return [
        (task, workload, partial(dataset_for, task, workload, options) if workload else lambda: None)
        for task in (TASKS[name] for name in options.task or TASKS)
        for workload in ([name for name in options.workload if name in task.workloads] or [""])
        if workload or not task.workloads
    ]


def plan_of_files(options: argparse.Namespace) -> Plan:
    """Raises FilesError if there is nothing to measure."""
    with Progress(1) as progress:
        progress.next(options.files[0])
        dataset, notes = dataset_of_files(
            options.files, options.features, options.compression, options.data, progress.tell
        )
    tasks = [task for task in tasks_for(dataset, options.task) if not options.cold or task.name in COLD]
    more = " ".join(name for name in fitting(dataset) if TASKS[name] not in tasks)
    if not options.task:
        notes = [*notes, f"to measure more, name the tasks: bench {more} --files …"]
    for note in notes:
        print(f"{dataset.name}: {note}", file=sys.stderr)
    return [(task, dataset.name, partial(dataset_for_files, task, dataset, options.data)) for task in tasks]


def without(tables: list[Table], plan: Plan) -> Plan:
    """The steps of the plan that have no table yet."""
    done = {(table.task, table.workload) for table in tables}
    return [step for step in plan if (step[0].name, step[1]) not in done]


def asked_for(options: argparse.Namespace, contenders_in_it: list[str]) -> dict[str, Any]:
    """Return the data and rivals of a run, which a run that resumes it must share.

    Raises:
      FilesError: no such files.
    """
    data = {name: getattr(options, name) for name in ("scale", "seed", "features", "compression")}
    if os.path.isfile(options.features):
        data["features"] = state_of([options.features])
    data["files"] = state_of(found(options.files)) if options.files else None
    return {**data, "contenders": contenders_in_it}


def measure(plan: Plan, files: dict[str, Path], method: Method) -> Iterator[Table]:
    """The planned tables, one after the other.

    Raises:
      FilesError: the files can't be dropped from the page cache, as the method wants.
    """
    with Progress(len(plan)) as progress:
        for task, name, data in plan:
            progress.next(" ".join(filter(None, [task.name, name])))
            progress.tell("data")
            dataset = data()
            if method.cold and dataset is not None and (why := pagecache.why_not(files_of(dataset))) is not None:
                raise FilesError(f"no cold run: {why}")
            try:
                table = run(task.name, dataset, files, method, progress.tell)
                progress.finished()
                yield table
            finally:
                if task.repeated and dataset is not None:
                    shutil.rmtree(dataset.folder, ignore_errors=True)


def main(argv: list[str] | None = None, prog: str = "python -m benchmarks") -> int:
    """Exit status: 0 fine, 1 if a contender was wrong or failed, 2 for files that can't be measured, 130 if it was
    interrupted. What was measured before is shown and written in any case."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["report"]:
        return output.main(argv[1:])
    if argv[:1] == ["compare"]:
        return compare.main(argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, and cleans up
    files = contenders.found()
    options = arguments(argv, {name: path for name, path in files.items() if name != "ours"}, prog)
    is_short = not options.task if options.files else options.quick and options.task != ["pipelines"]
    if is_short and options.rivals is None:
        options.rivals = [name for name in files if name not in HEAVY]
        print(f"without {', '.join(HEAVY)}, which take longer (name them with --rivals)", file=sys.stderr)
    if options.rivals is not None:
        files = {name: path for name, path in files.items() if name == "ours" or name in options.rivals}
    files |= {path.stem: path for path in options.rival_file}
    if options.list:
        show_list(files)
        return 0
    if options.install:
        return install(options.install, files)
    try:
        output.check(options)
    except (ImportError, OSError) as error:
        print(f"{prog.removesuffix(' bench')}: {error}", file=sys.stderr)
        return 2
    if options.cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    where = environment()
    method = Method(
        options.rounds, options.trials, options.min_time, options.patience, scratch=options.scratch, cold=options.cold
    )
    try:
        asked = asked_for(options, list(files))
    except FilesError as error:
        print(f"{prog.removesuffix(' bench')}: {error}", file=sys.stderr)
        return 2
    tables: list[Table] = []
    before: list[Table] = []
    if options.resume:
        try:
            saved = resuming.begun(options.json, where, method, asked)
        except ValueError as error:
            print(f"{prog.removesuffix(' bench')}: {error}", file=sys.stderr)
            return 2
        if saved is not None:
            where, tables, before = saved.environment, saved.tables, list(saved.tables)
            print(f"{options.json}: goes on after {len(tables)} of its tables", file=sys.stderr)
    status = 0
    try:
        plan = plan_of_files(options) if options.files else plan_of_workloads(options)
        for table in measure(without(tables, plan), files, method):
            if changed := resuming.other_versions(before, table):
                raise FilesError(f"{options.json}: can't go on with this run: {'; '.join(changed)}")
            tables[:] = in_order([*tables, table])
            # After each table, so that an interrupted run leaves what it has.
            output.write(tables, where, method, options, asked)
    except FilesError as error:
        print(f"{prog.removesuffix(' bench')}: {error}", file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        print("interrupted; what is measured so far:", file=sys.stderr)
        status = 130
    if not tables:
        return status
    output.draw(tables, where, method, options)
    shown = report.installed(tables)
    report.show(shown)
    for target in not_measured(shown):
        print(f"target not measured: {target}")
    for line in filter(None, [report.busy(where), report.not_installed(tables), report.conclusion(shown)]):
        print(line)
    return status or int(any(row.status in ("wrong", "failed") for table in tables for row in table.rows))


if __name__ == "__main__":
    sys.exit(main())
