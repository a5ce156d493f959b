"""README.md does what it says: its Python runs and prints what the comments say, and so do its commands.

The blocks run in order, in one folder and one namespace. A comment after a print is what that line prints in all,
with spaces for newlines.
"""

import ast
import io
import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

README = ROOT / "README.md"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)


def promised(source):
    """What the comments after a block's prints say, by line number."""
    prints = {
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    lines = enumerate(source.splitlines(), 1)
    return {number: line.rpartition("  # ")[2] for number, line in lines if number in prints}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where all Python blocks have run; each has printed what it promises."""
    folder = tmp_path_factory.mktemp("readme")
    namespace = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for source in blocks("python"):
            assert run(source, namespace) == promised(source)
    return folder


def run(source, namespace):
    """What each line of the source printed, by line number."""
    printed = {}

    def print_here(*values):
        text = io.StringIO()
        print(*values, file=text)
        line = sys._getframe(1).f_lineno
        printed[line] = f"{printed.get(line, '')} {text.getvalue().rstrip()}".strip()

    namespace["print"] = print_here
    exec(compile(source, str(README), "exec"), namespace)
    return printed


def test_python_blocks_print_what_they_say(folder):
    assert len(blocks("python")) > 5


def test_commands_print_what_they_say(folder):
    [session] = blocks("console")
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        program, *arguments = command.split()
        assert program == "tfrecord-fast"
        result = subprocess.run(
            [sys.executable, "-m", "tfrecord_fast", *arguments], cwd=folder, capture_output=True, text=True
        )
        assert result.stdout == expected


def test_files_that_are_linked_to_exist():
    for path in [README, *README.parent.glob("docs/**/*.md"), README.parent / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"
