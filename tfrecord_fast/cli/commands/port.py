"""Says line by line what a script for TensorFlow finds in tfrecord_fast.tensorflow, and what to write instead.

Python files and notebooks. --write changes the imports and no more. Names that are TensorFlow's own work where it is
installed, from there.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...files.system.temporary import complete_file
from ...tensorflow.porting import Finding, findings, with_imports
from ..console import Console

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "port"
SUMMARY = "say what a script for TensorFlow finds here, and change its imports"
EXAMPLES = """\
tfrecord-fast port train.py
tfrecord-fast port --write notebooks/*.ipynb
"""
_SAID = {
    "tensorflow": "TensorFlow's own, which has to be installed",
    "graphs": "not without graphs",
    "nowhere": "neither here nor in the TensorFlow that is installed",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """SCRIPT…, --write, --json."""
    parser.add_argument("scripts", nargs="+", metavar="SCRIPT", help="Python files or notebooks (.ipynb)")
    parser.add_argument("-w", "--write", action="store_true", help="change the imports in the file")
    parser.add_argument("--json", action="store_true", help="one object per name")


def run(args: argparse.Namespace, console: Console) -> int:
    """Exit status: 0 if all names are here, 1 if some are not, 2 if a file can't be read or is no Python."""
    status = 0
    for path in args.scripts:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            script = _Notebook(text) if path.endswith(".ipynb") else _Script(text)
            found = list(script.findings())
            if args.write and (changed := script.with_imports()) != text:
                with complete_file(path) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
                    os.chmod(draft, os.stat(path).st_mode)
                    file.write(changed)
        except (OSError, SyntaxError, ValueError, KeyError, TypeError, AttributeError) as error:
            console.problem(f"{path}: {error}")
            status = 2
            continue
        _report(path, found, args.json, console)
        status = max(status, int(any(finding.where != "here" for _, finding in found)))
    return status


def _report(path: str, found: list[tuple[str, Finding]], as_json: bool, console: Console) -> None:
    for place, finding in found:
        if as_json:
            console.json({"path": path, "place": place, **finding._asdict()})
        elif finding.where != "here":
            advice = f" ({finding.advice})" if finding.advice else ""
            console.line(f"{path}:{place}: {finding.name}: {_SAID[finding.where]}{advice}")
    if not as_json:
        names = {finding.name: finding.where for _, finding in found}
        counts = Counter(names.values())
        parts = [f"{counts['here']} here"]
        parts += [f"{counts[where]} {_SAID[where]}" for where in _SAID if counts[where]]
        console.line(f"{path}: {len(names)} names: {'; '.join(parts)}")


class _Script:
    def __init__(self, text: str) -> None:
        self._text = text

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Each with its place."""
        for finding in findings(self._text):
            yield str(finding.line), finding

    def with_imports(self) -> str:
        """The file's new text."""
        return with_imports(self._text)


class _Notebook:
    def __init__(self, text: str) -> None:
        self._text = text
        self._notebook: Any = json.loads(text)
        self._cells = [cell for cell in self._notebook["cells"] if cell["cell_type"] == "code"]

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Each with its cell and line. Cells share their imports."""
        lines, places = [], [""]
        for number, cell in enumerate(self._cells, 1):
            for line, text in enumerate(_python(cell).splitlines(), 1):
                lines.append(text)
                places.append(f"cell {number}:{line}")
        for finding in findings("\n".join(lines)):
            yield places[finding.line], finding

    def with_imports(self) -> str:
        """The file's new text."""
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
    """The cell's lines, with what is a notebook's own, such as `!pip install`, blanked. Of other languages, all."""
    source = _source(cell)
    if source.startswith("%%"):
        return "".join("\n" if line.endswith("\n") else "" for line in source.splitlines(keepends=True))
    made = []
    for line in source.splitlines(keepends=True):
        bare = line.lstrip()
        is_own = bare.startswith(("!", "%", "?")) or bare.rstrip().endswith("?")
        made.append(f"{line[: len(line) - len(bare)]}pass\n" if is_own and bare else line)
    return "".join(made)
