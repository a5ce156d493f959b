"""The rooms of benchmarks/ and the arrows between them, held by reading every import, those inside functions too."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"

# What each room may import of the others; benchmarks/README.md says the same. A command (`__main__.py`) may import all.
MAY_IMPORT = {
    "data": set(),
    "native": {"data"},
    "contenders": {"data", "native"},
    "running": {"data", "contenders"},
    "reporting": {"data", "running"},
}
SOURCES = sorted(
    path
    for path in FOLDER.rglob("*.py")
    if not any(part.startswith(".") for part in path.relative_to(FOLDER).parts)  # rivals' environments
)


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


def room_of(module):
    parts = module.split(".")
    return "command" if parts[-1] == "__main__" else parts[1] if len(parts) > 1 else ""


def imports(tree):
    """The absolute names of the modules that are imported anywhere in the tree; of `from a import b` both a and a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported(path):
    """Which of our modules the file imports."""
    found = set()
    for name in imports(ast.parse(path.read_text())):
        if name.split(".")[0] == "benchmarks":
            found.add(name if name in MODULES else name.rpartition(".")[0])
    return found


def circle_in(graph):
    """The names that are left when all have gone that import none of the rest."""
    while free := [one for one, others in graph.items() if not others & (graph.keys() - {one})]:
        graph = {one: others for one, others in graph.items() if one not in free}
    return sorted(graph)


def hidden(path):
    """What is imported inside functions."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return {
        name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, functions) for name in imports(node)
    }


def test_every_folder_of_code_is_a_room():
    assert {room_of(module) for module in MODULES} - {"", "command"} == set(MAY_IMPORT)


def test_nothing_but_the_command_lies_beside_the_rooms():
    assert sorted(path.name for path in FOLDER.glob("*.py")) == ["__init__.py", "__main__.py"]


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_imports_follow_the_arrows(path):
    here = room_of(module_of(path))
    there = {room_of(module) for module in imported(path) if module != "benchmarks"} - {here}
    assert here == "command" or there <= MAY_IMPORT.get(here, set())


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_what_is_imported_is_there(path):
    assert imported(path) <= set(MODULES)


def test_rooms_import_each_other_in_no_circle():
    assert circle_in(MAY_IMPORT) == []


def test_modules_import_each_other_in_no_circle():
    assert circle_in({module: imported(path) for module, path in MODULES.items()}) == []


def test_a_circle_is_found():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["a", "b", "c", "d"]


def test_an_import_inside_a_function_counts(tmp_path):
    (tmp_path / "sly.py").write_text("def work():\n    from benchmarks.reporting import report\n")
    assert imported(tmp_path / "sly.py") == hidden(tmp_path / "sly.py") == {"benchmarks.reporting.report"}


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_only_what_may_be_absent_is_imported_inside_a_function(path):
    always_there = {"benchmarks", "numpy", *sys.stdlib_module_names}
    assert {name for name in hidden(path) if name.split(".")[0] in always_there} == set()


def test_the_map_of_the_rooms_names_every_module():
    text = (FOLDER / "README.md").read_text()
    helpers = {"__init__", "__main__"}
    modules = [path for path in SOURCES if path.stem not in helpers and path.parent.parent == FOLDER]
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
    wanted = {str(path.relative_to(ROOT)) for path in [*SOURCES, *(FOLDER / "native").glob("*.[ch]*")]}
    assert {*wanted, "benchmarks/results/reasons.json"} - set(done.stdout.split()) == set()
