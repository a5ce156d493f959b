"""What a script for TensorFlow finds in the face, name by name, and the script with its imports changed."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from .fallback import installed, of_tensorflow, part_of_face, without_tensorflow

__all__ = ["Finding", "findings", "with_imports"]

FACE = "tfrecord_fast.tensorflow"
_KEPT = ("keras", "python", "lite", "tpu")  # parts of TensorFlow that stay TensorFlow's
# For names that the face has only to refuse them, or that neither has: what to write.
_INSTEAD = {
    "Session": "values are there at once: leave sessions and run() out",
    "InteractiveSession": "values are there at once: leave sessions and run() out",
    "Graph": "there are no graphs: leave it out",
    "get_default_graph": "there are no graphs: leave it out",
    "placeholder": "there are no graphs: give the values at once",
    "global_variables_initializer": "there are no graphs: leave it out",
    "local_variables_initializer": "there are no graphs: leave it out",
    "disable_eager_execution": "there are no graphs: leave it out",
    "disable_v2_behavior": "there are no graphs: leave it out",
    "TFRecordReader": "use tf.data.TFRecordDataset",
    "train.string_input_producer": "use tf.data.TFRecordDataset",
    "train.batch": "use Dataset.batch",
    "train.shuffle_batch": "use Dataset.shuffle and batch",
    "train.start_queue_runners": "use tf.data.TFRecordDataset; leave queues out",
    "train.Coordinator": "use tf.data.TFRecordDataset; leave queues out",
    "lookup.StaticHashTable": "or use a dict in the function of map",
    "TensorArray": "or use a list and tf.stack",
    "Variable": "or use a NumPy array",
}
_NEEDS_GRAPHS = tuple(name for name, advice in _INSTEAD.items() if "or use" not in advice)


class Finding(NamedTuple):
    """A name that a script uses: the line, the name as `tf.…`, where it is, and advice.

    `where` is "here", "tensorflow" (TensorFlow has to be installed), "graphs" (nothing like it without graphs) or
    "nowhere".
    """

    line: int
    name: str
    where: str
    advice: str


def findings(source: str) -> list[Finding]:
    """Each name of TensorFlow's that a script uses, once a line, in its order.

    Raises:
      SyntaxError: it is no Python.
    """
    tree = ast.parse(source)
    return [Finding(line, f"tf.{name}" if name else "tf", *_where(name)) for line, name in sorted(set(_names_in(tree)))]


def _names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    aliases: dict[str, str] = {}  # what a name of the script's stands for: "" is TensorFlow itself
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                module = one.name.removeprefix("tfrecord_fast.")
                if _is_tensorflow(module) and (one.asname or module == one.name):
                    aliases[one.asname or "tensorflow"] = _below(module) if one.asname else ""
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = (node.module or "").removeprefix("tfrecord_fast.")
            for one in node.names if _is_tensorflow(module) else []:
                name = f"{_below(module)}.{one.name}".strip(".")
                aliases[one.asname or one.name] = name
                yield node.lineno, name
    used = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in used:
            parts: list[str] = []
            place: Any = node
            while isinstance(place, ast.Attribute):
                parts.append(place.attr)
                place = place.value
            if isinstance(place, ast.Name) and place.id in aliases:
                yield node.lineno, ".".join([*filter(None, [aliases[place.id]]), *reversed(parts)])


def _is_tensorflow(module: str) -> bool:
    return module == "tensorflow" or module.startswith("tensorflow.")


def _below(module: str) -> str:
    return module.partition(".")[2]


def _where(name: str) -> tuple[str, str]:
    short = re.sub(r"^compat\.v[12]\.", "", name)
    for needs in _NEEDS_GRAPHS:
        if short == needs or short.startswith(f"{needs}."):
            return "graphs", _INSTEAD[needs]
    if name.split(".")[0] not in _KEPT and _is_here(name):
        return "here", ""
    advice = next((text for key, text in _INSTEAD.items() if short == key or short.startswith(f"{key}.")), "")
    if not installed():
        return "tensorflow", advice
    found = _resolved(name, lambda part, root: of_tensorflow(f"tf.{part}") if root else None)
    return ("tensorflow", advice) if found else ("nowhere", advice)


def _is_here(name: str) -> bool:
    with without_tensorflow():
        return _resolved(name, None)


def _resolved(name: str, theirs: Any) -> bool:
    """Whether the name can be followed up to a value; what it says of a value is not looked at."""
    found: Any = part_of_face()
    parts = name.split(".") if name else []
    for number, part in enumerate(parts):
        try:
            found = theirs(part, True) if theirs is not None and number == 0 else getattr(found, part)
        except (AttributeError, ImportError):
            return False
        if not isinstance(found, ModuleType) and not inspect.isclass(found) and not hasattr(found, "__getattr__"):
            return True
    return True


def with_imports(source: str) -> str:
    """The script with its imports of TensorFlow changed to the face, and nothing else.

    Imports of `tensorflow.keras` and `tensorflow.python` stay.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for one in sorted(node.names, key=lambda one: -one.col_offset):
                if _is_tensorflow(one.name) and _below(one.name).split(".")[0] not in _KEPT:
                    suffix = "" if one.asname else " as tensorflow"
                    if one.asname or one.name == "tensorflow":
                        _replace(lines, one, one.name, one.name.replace("tensorflow", FACE, 1) + suffix)
        elif isinstance(node, ast.ImportFrom) and _is_tensorflow(node.module or "") and not node.level:
            below = _below(node.module or "").split(".")[0]
            if below not in _KEPT and not {one.name for one in node.names} & set(_KEPT):
                line = lines[node.lineno - 1]
                head, rest = line[: node.col_offset], line[node.col_offset :]
                lines[node.lineno - 1] = head + re.sub(r"^from(\s+)tensorflow\b", rf"from\1{FACE}", rest, count=1)
    return "".join(lines)


def _replace(lines: list[str], one: ast.alias, old: str, new: str) -> None:
    raw = lines[one.lineno - 1].encode()  # offsets are of UTF-8
    head, rest = raw[: one.col_offset].decode(), raw[one.col_offset :].decode()
    lines[one.lineno - 1] = head + rest.replace(old, new, 1)
