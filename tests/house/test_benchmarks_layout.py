"""The rooms of benchmarks/ and the arrows between them, held by reading every import, those inside functions too."""

import ast
import subprocess
import sys

import pytest

from tests.support.imports import circles, imports_of, modules_of
from tests.support.paths import ROOT

FOLDER = ROOT / "benchmarks"
MODULES = modules_of(FOLDER)
IMPORTS = list(imports_of(MODULES))

# What each room may import of the others; benchmarks/README.md says the same. A command (`__main__.py`) may import all.
MAY_IMPORT = {
    "data": set(),
    "native": {"data"},
    "contenders": {"data", "native"},
    "running": {"data", "contenders"},
    "reporting": {"data", "running"},
}


def room_of(module):
    parts = module.split(".")
    return "command" if parts[-1] == "__main__" else parts[1] if len(parts) > 1 else ""


def names_in(path):
    """What import statements inside functions import, by full name."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module


def test_every_folder_of_code_is_a_room():
    assert {room_of(module) for module in MODULES} - {"", "command"} == set(MAY_IMPORT)


def test_only_the_command_is_next_to_the_rooms():
    assert sorted(path.name for path in FOLDER.glob("*.py")) == ["__init__.py", "__main__.py"]


def test_imports_follow_the_arrows():
    wrong = [
        f"{one.importer}:{one.line} imports {one.imported}"
        for one in IMPORTS
        if (here := room_of(one.importer)) != "command"
        and (there := room_of(one.imported)) not in ("", here)
        and there not in MAY_IMPORT[here]
    ]
    assert not wrong


def test_rooms_import_each_other_in_no_circle():
    assert not circles({(room, other) for room, others in MAY_IMPORT.items() for other in others})


def test_modules_import_each_other_in_no_circle():
    assert not circles({(one.importer, one.imported) for one in IMPORTS})


def test_only_what_may_be_absent_is_imported_inside_a_function():
    always_there = {"benchmarks", "numpy", *sys.stdlib_module_names}
    inside = [(module, name) for module, path in MODULES.items() for name in names_in(path)]
    assert not [(module, name) for module, name in inside if name.split(".")[0] in always_there]


def test_the_map_of_the_rooms_names_every_module():
    text = (FOLDER / "README.md").read_text()
    helpers = {"__init__", "__main__"}
    modules = [path for path in MODULES.values() if path.stem not in helpers and path.parent.parent == FOLDER]
    assert [path.name for path in modules if path.parent.name != "contenders" and f"`{path.name}`" not in text] == []


WHEEL = """
from distutils.core import run_setup
distribution = run_setup("setup.py", stop_after="init")
distribution.parse_config_files()
command = distribution.get_command_obj("build_py")
command.ensure_finalized()
print(*(path for _, _, path in command.find_all_modules()))
print(*(f"{folder}/{name}" for _, folder, _, names in command.data_files for name in names))
"""


def test_the_whole_harness_goes_into_the_wheel():
    pytest.importorskip("pybind11", reason="setup.py needs it")
    code = "import setuptools\n" + WHEEL
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    wanted = {str(path.relative_to(ROOT)) for path in [*MODULES.values(), *(FOLDER / "native").glob("*.[ch]*")]}
    assert {*wanted, "benchmarks/results/reasons.json"} - set(done.stdout.split()) == set()
