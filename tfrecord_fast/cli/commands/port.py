"""Report, line by line, which TensorFlow names of a script are missing in tfrecord_fast.tensorflow, and replacements.

For each map and filter, report whether its function runs on blocks of records, which is fast, or record by record.
Takes Python files and notebooks. --write changes only the imports. Names that tfrecord_fast does not implement are
taken from TensorFlow, where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...files.system.drafts import complete_file
from ...tensorflow.map_costs import Cost
from ...tensorflow.porting import Finding, costs, findings, with_imports
from ..console import Console

NAME = "port"
SUMMARY = "check a TensorFlow script for compatibility and rewrite its imports"
EXAMPLES = """\
tfrecord-fast port train.py
tfrecord-fast port --write notebooks/*.ipynb
"""
_MISSING = {
    "tensorflow": "from TensorFlow, which must be installed",
    "graphs": "unavailable without graphs",
    "nowhere": "unknown, also to the installed TensorFlow",
}
_RUNS = {
    "blocks": "runs on blocks",
    "batches": "runs once per batch",
    "unknown": "unknown, because the script does not define the function",
}
_REASONS = {"blocks": "runs on blocks, but see", "records": "runs record by record, because of"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scripts", nargs="+", metavar="SCRIPT", help="Python files or notebooks (.ipynb)")
    parser.add_argument("-w", "--write", action="store_true", help="rewrite the imports in the file")
    parser.add_argument("--json", action="store_true", help="print one JSON object per name, map and filter")


def run(args: argparse.Namespace, console: Console) -> int:
    """Report the names. Exit status: 0 all are available, 1 some are not, 2 a file can't be read or is not Python."""
    status = 0
    for path in args.scripts:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            script = _Notebook(text) if path.endswith(".ipynb") else _Script(text)
            names, maps = list(script.findings()), list(script.costs())
            if args.write and (changed := script.with_imports()) != text:
                with complete_file(path) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
                    os.chmod(draft, os.stat(path).st_mode)
                    file.write(changed)
        except (OSError, SyntaxError, ValueError, KeyError, TypeError, AttributeError) as error:
            console.problem(f"{path}: {error}")
            status = 2
            continue
        _report(path, names, maps, args.json, console)
        status = max(status, int(any(finding.where != "here" for _, finding in names)))
    return status


def _report(
    path: str, names: list[tuple[str, Finding]], maps: list[tuple[str, str, Cost]], as_json: bool, console: Console
) -> None:
    for line, finding in names:
        if as_json:
            console.json({"path": path, "place": line, **finding._asdict()})
        elif finding.where != "here":
            advice = f" ({finding.advice})" if finding.advice else ""
            console.line(f"{path}:{line}: {finding.name}: {_MISSING[finding.where]}{advice}")
    for line, because, cost in maps:
        if as_json:
            console.json({"path": path, "place": line, **cost._asdict()})
        else:
            reason = f"{_REASONS[cost.runs]} {because}: {cost.advice}" if because else _RUNS[cost.runs]
            console.line(f"{path}:{line}: {cost.call}: {reason}")
    if not as_json:
        places = {finding.name: finding.where for _, finding in names}
        counts = Counter(places.values())
        parts = [f"{counts['here']} available"]
        parts += [f"{counts[where]} {_MISSING[where]}" for where in _MISSING if counts[where]]
        console.line(f"{path}: {len(places)} names: {'; '.join(parts)}")


class _Script:
    def __init__(self, text: str) -> None:
        self._text = text

    def findings(self) -> Iterator[tuple[str, Finding]]:
        for finding in findings(self._text):
            yield str(finding.line), finding

    def costs(self) -> Iterator[tuple[str, str, Cost]]:
        for cost in costs(self._text):
            yield str(cost.line), f"line {cost.because}" if cost.because else "", cost

    def with_imports(self) -> str:
        return with_imports(self._text)


class _Notebook:
    def __init__(self, text: str) -> None:
        self._text = text
        self._notebook: Any = json.loads(text)
        self._cells = [cell for cell in self._notebook["cells"] if cell["cell_type"] == "code"]

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Yield each finding with its cell and line."""
        text, places = self._joined()
        for finding in findings(text):
            yield places[finding.line], finding

    def costs(self) -> Iterator[tuple[str, str, Cost]]:
        """Yield each cost with the cell and line of the call, and those of the reason."""
        text, places = self._joined()
        for cost in costs(text):
            yield places[cost.line], places[cost.because or 0], cost

    def _joined(self) -> tuple[str, list[str]]:
        """Return the code of all cells, which share their imports, and the place of each line, from 1."""
        lines, places = [], [""]
        for number, cell in enumerate(self._cells, 1):
            for line, text in enumerate(_python(cell).splitlines(), 1):
                lines.append(text)
                places.append(f"cell {number}:{line}")
        return "\n".join(lines), places

    def with_imports(self) -> str:
        for cell in self._cells:
            if not _python(cell).strip():
                continue
            changed = with_imports(_python(cell)).splitlines(keepends=True)
            before = _python(cell).splitlines(keepends=True)
            kept = _source(cell).splitlines(keepends=True)
            lines = [new if new != old else own for new, old, own in zip(changed, before, kept, strict=True)]
            cell["source"] = lines if isinstance(cell["source"], list) else "".join(lines)
        return json.dumps(self._notebook, indent=1, ensure_ascii=False) + "\n" * self._text.endswith("\n")


def _source(cell: Any) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _python(cell: Any) -> str:
    """Return a cell's code, with lines that only notebooks have, such as `!pip install`, replaced by `pass`.

    All lines of a cell in another language are blank.
    """
    source = _source(cell)
    if source.startswith("%%"):
        return "".join("\n" if line.endswith("\n") else "" for line in source.splitlines(keepends=True))
    lines = []
    for line in source.splitlines(keepends=True):
        bare = line.lstrip()
        is_own = bare.startswith(("!", "%", "?")) or bare.rstrip().endswith("?")
        lines.append(f"{line[: len(line) - len(bare)]}pass\n" if is_own and bare else line)
    return "".join(lines)
