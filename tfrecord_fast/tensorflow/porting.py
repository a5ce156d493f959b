"""Analysis of a script for TensorFlow: where its names come from, what each `map` costs, and changed imports."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from .fallback import from_tensorflow, installed, is_installed, tf_module, without_tensorflow
from .map_costs import Cost, map_costs

PACKAGE = "tfrecord_fast.tensorflow"
_KEPT = ("python", "lite", "tpu")  # modules that stay TensorFlow's
_NO_SESSION = "values are computed immediately: remove sessions and run()"
_NO_GRAPH = "graphs are not supported: remove it"
# Advice for names that raise an error here, or that exist nowhere.
_ADVICE = {
    "Session": _NO_SESSION,
    "InteractiveSession": _NO_SESSION,
    "Graph": _NO_GRAPH,
    "get_default_graph": _NO_GRAPH,
    "placeholder": "graphs are not supported: pass the values directly",
    "global_variables_initializer": _NO_GRAPH,
    "local_variables_initializer": _NO_GRAPH,
    "disable_eager_execution": _NO_GRAPH,
    "disable_v2_behavior": _NO_GRAPH,
    "TFRecordReader": "use tf.data.TFRecordDataset",
    "train.string_input_producer": "use tf.data.TFRecordDataset",
    "train.batch": "use Dataset.batch",
    "train.shuffle_batch": "use Dataset.shuffle and batch",
    "train.start_queue_runners": "use tf.data.TFRecordDataset; remove queues",
    "train.Coordinator": "use tf.data.TFRecordDataset; remove queues",
    "Variable": "or use a NumPy array",
}
_NEEDS_GRAPHS = tuple(name for name, advice in _ADVICE.items() if "or use" not in advice)


class Finding(NamedTuple):
    """A name that a script uses: the line, the name as `tf.…`, where it comes from, and advice.

    `where` is "here", "tensorflow" (TensorFlow must be installed), "graphs" (needs graphs) or "nowhere".
    """

    line: int
    name: str
    where: str
    advice: str


def findings(source: str) -> list[Finding]:
    """Return each TensorFlow name that a script uses, once a line, in the script's order."""
    tree = ast.parse(source)
    return [Finding(line, f"tf.{name}" if name else "tf", *_where(name)) for line, name in sorted(set(_names_in(tree)))]


def costs(source: str) -> list[Cost]:
    """Return what each `map`, `filter` and `take_while` of a script costs: see `Cost`."""
    tree = ast.parse(source)
    imports = _imports(tree)
    return map_costs(tree, imports.aliases, imports.modules, lambda name: _where(name)[0] == "here")


class _Imports(NamedTuple):
    """The names that a script imports.

    Attributes:
      aliases: the script's names for TensorFlow's; "" is TensorFlow itself.
      modules: the script's names for other modules and their contents.
      names: (line, name) of what is imported from a module of TensorFlow.
    """

    aliases: dict[str, str]
    modules: dict[str, str]
    names: list[tuple[int, str]]


def _imports(tree: ast.AST) -> _Imports:
    imports = _Imports({}, {}, [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = alias.name.removeprefix("tfrecord_fast.")
                if not _is_tensorflow(module):
                    own = alias.asname or alias.name.partition(".")[0]
                    imports.modules[own] = alias.name if alias.asname else own
                elif alias.asname or module == alias.name:
                    imports.aliases[alias.asname or "tensorflow"] = _below(module) if alias.asname else ""
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = (node.module or "").removeprefix("tfrecord_fast.")
            for alias in node.names:
                own = alias.asname or alias.name
                if not _is_tensorflow(module):
                    imports.modules[own] = f"{node.module}.{alias.name}"
                    continue
                imports.aliases[own] = f"{_below(module)}.{alias.name}".strip(".")
                imports.names.append((node.lineno, imports.aliases[own]))
    return imports


def _names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    aliases, _, names = _imports(tree)
    yield from names
    used = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in used:
            attributes: list[str] = []
            value: Any = node
            while isinstance(value, ast.Attribute):
                attributes.append(value.attr)
                value = value.value
            if isinstance(value, ast.Name) and value.id in aliases:
                yield node.lineno, ".".join([*filter(None, [aliases[value.id]]), *reversed(attributes)])


def _is_tensorflow(module: str) -> bool:
    return module == "tensorflow" or module.startswith("tensorflow.")


def _below(module: str) -> str:
    return module.partition(".")[2]


def _where(name: str) -> tuple[str, str]:
    short = re.sub(r"^compat\.v[12]\.", "", name)
    for needs in _NEEDS_GRAPHS:
        if short == needs or short.startswith(f"{needs}."):
            return "graphs", _ADVICE[needs]
    if short.split(".")[0] == "keras":  # not imported: that takes seconds
        return ("here", "") if is_installed("keras") else ("tensorflow", "or install Keras 3 and jax or torch")
    with without_tensorflow():
        is_here = name.split(".")[0] not in _KEPT and _exists(tf_module(), name)
    if is_here:
        return "here", ""
    advice = next((text for key, text in _ADVICE.items() if short == key or short.startswith(f"{key}.")), "")
    if not installed():
        return "tensorflow", advice
    top, _, rest = name.partition(".")
    try:
        return ("tensorflow" if _exists(from_tensorflow(f"tf.{top}"), rest) else "nowhere"), advice
    except AttributeError:
        return "nowhere", advice


def _exists(value: Any, name: str) -> bool:
    """Return True if a dotted name exists, up to the first value; attributes of values are not checked."""
    for attribute in filter(None, name.split(".")):
        if not isinstance(value, ModuleType) and not inspect.isclass(value) and not hasattr(value, "__getattr__"):
            return True
        try:
            value = getattr(value, attribute)
        except (AttributeError, ImportError):
            return False
    return True


def with_imports(source: str) -> str:
    """Return the script with its imports of TensorFlow changed to this package, and nothing else.

    Imports of `tensorflow.python` stay.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in sorted(node.names, key=lambda alias: -alias.col_offset):
                if _is_tensorflow(alias.name) and _below(alias.name).split(".")[0] not in _KEPT:
                    # `import tensorflow.io` makes the name `tensorflow`, whose modules are found when used.
                    name = alias.name.replace("tensorflow", PACKAGE, 1)
                    _replace(lines, alias, name if alias.asname else f"{PACKAGE} as tensorflow")
        elif isinstance(node, ast.ImportFrom) and _is_tensorflow(node.module or "") and not node.level:
            below = _below(node.module or "").split(".")[0]
            if below not in _KEPT and not {alias.name for alias in node.names} & set(_KEPT):
                line = lines[node.lineno - 1]
                head, rest = line[: node.col_offset], line[node.col_offset :]
                lines[node.lineno - 1] = head + re.sub(r"^from(\s+)tensorflow\b", rf"from\1{PACKAGE}", rest, count=1)
    return "".join(lines)


def _replace(lines: list[str], alias: ast.alias, text: str) -> None:
    raw = lines[alias.lineno - 1].encode()  # offsets count bytes of UTF-8
    head, rest = raw[: alias.col_offset].decode(), raw[alias.col_offset :].decode()
    lines[alias.lineno - 1] = head + rest.replace(alias.name, text, 1)
