"""The rooms of the Python package, as docs/design.md draws them: imports run one way, and at the top of the file."""

import ast
import re

from tests.support.imports import circles, imports_of, modules_of
from tests.support.paths import ROOT

PACKAGE = "tfrecord_fast"
MODULES = modules_of(ROOT / PACKAGE) | {f"{PACKAGE}._core": ROOT / PACKAGE / "_core.pyi"}
PYTHON = {name: path for name, path in MODULES.items() if path.suffix == ".py"}
IMPORTS = list(imports_of(MODULES))

# From the top floor down. A room may import those on the floors below its own, and nothing else of the package.
FLOORS = [
    {"__main__", "selftest"},
    {"cli"},
    {"integrations", "tensorflow"},
    {"compat"},
    {"data", "gfile", "image", "io", "python_io", "random", "sparse", "train"},
    {"files"},
    {"examples"},
    {"typing"},
    {"images", "values"},
    {"dtypes", "errors"},
    {"base"},
    {"_core"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

# The same for the rooms inside files/.
FILES_FLOORS = [
    {"reading", "rewriting"},
    {"indexing", "writing"},
    {"streams"},
    {"system"},
    {"stores"},
    {"naming"},
]
FILES_FLOOR = {room: number for number, rooms in enumerate(FILES_FLOORS) for room in rooms}

# What imports by name at run time: lazy names, optional packages, the harness, which is not part of the package, and
# names that are TensorFlow's.
BY_NAME = {"base.lazy", "base.optional", "cli.commands.bench", "tensorflow.fallback", "tensorflow.modules"}

MOST_MODULES = 15  # of a folder, beside its subfolders

# Public, whatever they start with.
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}
OF_THE_SYSTEM = {"_exit"}


def room(module):
    return module.split(".")[1] if "." in module else "__init__"


def test_every_room_has_its_floor():
    rooms = {room(module) for module in MODULES} - {"__init__"}
    assert rooms <= FLOOR.keys(), "a new room: say above which floor it is on"


def test_the_map_in_the_docs_has_every_room():
    text = (ROOT / "docs" / "design.md").read_text()
    rooms = set(re.findall(r"`(\w+)(?:/|\.py)?`", text[text.index("## The rooms of the package") :].split("\n## ")[0]))
    assert {room(module) for module in MODULES} - {"__init__", "__main__"} <= rooms


def test_imports_run_down_and_never_back():
    wrong = [
        f"{one.importer}:{one.line} imports {one.imported}"
        for one in IMPORTS
        if room(one.importer) not in ("__init__", room(one.imported))
        and FLOOR[room(one.imported)] <= FLOOR[room(one.importer)]
    ]
    assert not wrong


def test_imports_inside_files_run_down_and_never_back():
    wrong = []
    for found in IMPORTS:
        importer, imported = found.importer.split("."), found.imported.split(".")
        if importer[1:2] == imported[1:2] == ["files"] and len(importer) > 2 and importer[2] != imported[2]:
            if FILES_FLOOR[imported[2]] <= FILES_FLOOR[importer[2]]:
                wrong.append(f"{found.importer}:{found.line} imports {found.imported}")
    assert not wrong


def test_nothing_imports_the_package_itself():
    """Its `__init__` is names only: a module that needs one of them takes it from its room."""
    assert not [one for one in IMPORTS if one.imported == PACKAGE]


def test_no_modules_import_each_other_in_a_circle():
    # A package's `__init__` that lists its modules, which are siblings, is a table of contents.
    assert not circles({(one.importer, one.imported) for one in IMPORTS})


def test_imports_are_at_the_top_of_the_file():
    inside = []
    for name, path in PYTHON.items():
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inside += [
                    f"{name}:{node.lineno}"
                    for node in ast.walk(function)
                    if isinstance(node, ast.Import | ast.ImportFrom)
                ]
    assert not inside


def test_imports_by_name_are_in_few_places():
    by_name = {name for name, path in PYTHON.items() if re.search(r"import_module|__import__", path.read_text())}
    assert by_name == {f"{PACKAGE}.{name}" for name in BY_NAME}


def test_no_module_is_private_except_for_the_core():
    names = {name.rpartition(".")[2] for name in MODULES}
    assert {name for name in names if name.startswith("_")} == {"__main__", "_core"}


def test_a_folder_has_at_most_15_modules_beside_its_subfolders():
    folders = {path.parent for path in PYTHON.values()}
    crowded = {folder for folder in folders if len({*folder.glob("*.py")} - {folder / "__init__.py"}) > MOST_MODULES}
    assert not crowded


def test_private_names_stay_in_their_file():
    """Nothing imports, reads or writes what another file has under a name with an underscore."""
    assert not [f"{name}:{use}" for name, path in PYTHON.items() for use in _foreign_uses(ast.parse(path.read_text()))]


def _foreign_uses(tree):
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            own.add(node.value)  # of __slots__
    foreign = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in own and not _of_self(node):
            foreign.append(f"{node.lineno}: .{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            foreign += [f"{node.lineno}: {one.name}" for one in node.names if _is_private(one.name)]
    return foreign


def _of_self(node):
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in {*OF_NAMED_TUPLES, *OF_THE_SYSTEM, "_core"}
