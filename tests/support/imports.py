"""Which module imports which in a tree of Python modules, found by reading the source: every import, wherever it is."""

import ast
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """`importer` takes something from `imported`, both by their full names; `depth` 0 is the top of the file."""

    importer: str
    imported: str
    line: int
    depth: int


def modules_of(folder):
    """The modules below a package's folder by name, with their files; not those of rivals' environments."""
    found = {}
    for path in sorted(Path(folder).rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        if any(part.startswith(".") for part in parts):
            continue
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(modules):
    """Every import of one module of `modules` by another; what a lazy table names counts as imported."""
    for name, path in modules.items():
        if path.suffix != ".py":
            continue
        tree = ast.parse(path.read_text())
        yield from _imports_in(tree, name, path.name == "__init__.py", modules)


def circles(edges):
    """What is left when whatever imports nothing (left) is taken away, again and again: the modules in circles."""
    graph = {}
    for importer, imported in edges:
        graph.setdefault(importer, set()).add(imported)
        graph.setdefault(imported, set())
    while True:
        free = {one for one, others in graph.items() if not others & graph.keys()}
        if not free:
            break
        graph = {one: others - free for one, others in graph.items() if one not in free}
    # What only leads into a circle is not in one.
    while True:
        used = {other for others in graph.values() for other in others}
        if used >= graph.keys():
            return sorted(graph)
        graph = {one: others for one, others in graph.items() if one in used}


def _imports_in(tree, name, is_package, modules):
    for node, depth in _nodes(tree):
        for target in _targets(node, name, is_package, modules):
            if target != name:
                yield Import(name, target, node.lineno, depth)


def _nodes(tree, depth=0):
    for node in ast.iter_child_nodes(tree):
        yield node, depth
        inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _nodes(node, depth + inner)


def _targets(node, name, is_package, modules):
    if isinstance(node, ast.Import):
        return [found for alias in node.names if (found := _longest(alias.name, modules))]
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node.module or "", node.level, name, is_package)
        return [found for alias in node.names if (found := _longest(f"{base}.{alias.name}", modules))]
    is_lazy = isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("lazy_names")
    if is_lazy and len(node.args) > 1 and isinstance(node.args[1], ast.Dict):
        return [found for module in _lazy_modules(node) if (found := _of_lazy(module, name, modules))]
    return []


def _lazy_modules(call):
    table = ast.literal_eval(call.args[1])
    for module, names in table.items():
        yield from (f".{name}" for name in names.split()) if module == "." else [module]


def _of_lazy(module, name, modules):
    level = len(module) - len(module.lstrip("."))
    return _longest(_absolute(module.lstrip("."), level, name, True), modules)


def _absolute(module, level, name, is_package):
    if level == 0:
        return module
    parts = name.split(".")
    kept = parts[: len(parts) - level + is_package]
    return ".".join([*kept, module] if module else kept)


def _longest(dotted, modules):
    """The module that a dotted name is, or lies in."""
    while dotted and dotted not in modules:
        dotted = dotted.rpartition(".")[0]
    return dotted
