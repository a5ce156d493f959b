"""Runs a page of the documents: its Python prints what the comments say, and its commands print what follows them.

`python -m tests.support.pages docs/tutorial.md` runs the blocks of one page in order, in the current folder and in one
namespace, and says which line printed something else. A comment after a print is what that line prints in all, with
spaces for newlines. A print without one is not compared. Blocks that begin with ```py are shown only.
"""

import ast
import builtins
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["Block", "blocks_of", "run_page"]

_BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: its language, the line of the page that its first line is, its text."""

    language: str
    line: int
    text: str


def blocks_of(page):
    """All blocks of a page's text, in order."""
    found = []
    for match in _BLOCK.finditer(page):
        indent, language, text = match.groups()
        text = "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))
        found.append(Block(language, page.count("\n", 0, match.start()) + 2, text))
    return found


def run_page(path):
    """Raises AssertionError where something else is printed than the page says. Returns how much was compared."""
    compared, names = 0, {"__name__": "__main__"}
    for block in blocks_of(Path(path).read_text()):
        if block.language == "python":
            compared += _run_python(path, block, names)
        elif block.language == "console":
            compared += _run_commands(path, block)
    return compared


def _run_python(path, block, names):
    said = _said(block.text)
    printed = {}

    def print_here(*values, **options):
        text = io.StringIO()
        builtins.print(*values, **{**options, "file": text})
        line = sys._getframe(1).f_lineno
        printed[line] = f"{printed.get(line, '')} {text.getvalue().rstrip()}".strip()

    names["print"] = print_here
    exec(compile(block.text, f"{path}, block at line {block.line}", "exec"), names)
    for line, text in said.items():
        got = printed.get(line)
        assert got == text, f"{path}:{block.line + line - 1} says {text!r}, and prints {got!r}"
    return len(said)


def _said(source):
    """What the comments after prints say, by line."""
    prints = {
        node.end_lineno: node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    lines = enumerate(source.splitlines(), 1)
    return {prints[number]: line.rpartition("  # ")[2] for number, line in lines if number in prints and "  # " in line}


def _run_commands(path, block):
    found = _COMMAND.findall(block.text)
    for command, expected in found:
        program, *arguments = shlex.split(command)
        assert program == "tfrecord-fast", f"{path} runs {program}"
        done = subprocess.run([sys.executable, "-m", "tfrecord_fast", *arguments], capture_output=True, text=True)
        assert done.stdout == expected, f"{path}: {command} prints\n{done.stdout}{done.stderr}\nand not\n{expected}"
    return len(found)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        builtins.print(f"{name}: {run_page(Path(name).resolve())} results as they are said")
