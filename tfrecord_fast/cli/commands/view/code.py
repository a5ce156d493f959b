"""A record as Python code that makes it again, or, if that would be long, reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....examples.messages.wire import Value, example_of, sequence_of
from ....examples.record_kinds import EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, kind_of, unknown_field

_MOST = 128 << 10  # bytes of a record that is written out
_WIDTH = 100
_IMPORT = "import tfrecord_fast as tf\n"
_EMPTY = {"int64": "np.array([], np.int64)", "float": "np.array([], np.float32)", "bytes": 'np.array([], "S1")'}


def code_of(record: bytes, path: str, number: int, is_indexed: bool) -> str:
    """Return code that creates or reads a record.

    Args:
      path: of the file; `number` is that of the record in the file.
      is_indexed: the record can be read by number.
    """
    code = None if len(record) > _MOST else _written_out(record)
    where = f"# {path if path.isprintable() else repr(path)}, record {number}\n"
    if code is not None:
        numpy = "import numpy as np\n" if "np." in code else ""
        return f"{numpy}{_IMPORT}\n{where}{code}\n"
    if is_indexed:
        return f"{_IMPORT}\nrecord = tf.IndexedReader({path!r})[{number}]\n"
    return (
        f"from itertools import islice\n\n{_IMPORT}\n"
        f'batches = tf.ShardReader({path!r}, on_corrupt="skip")\n'
        f"record = next(islice((one for batch in batches for one in batch), {number}, None))\n"
    )


def _written_out(record: bytes) -> str | None:
    record_kind = "" if unknown_field(record) else kind_of(record)  # generated code has no unknown fields
    try:
        if record_kind in (EXAMPLE, EMPTY):
            return f"example = tf.train.example({_features(example_of(record), '')})"
        if record_kind == SEQUENCE_EXAMPLE:
            context, lists = sequence_of(record)
            return f"example = tf.train.sequence_example(\n    {_features(context, '    ')},\n    {_lists(lists)},\n)"
    except ValueError:
        return None
    return f"record = {record!r}"


def _features(features: Mapping[str, Value], indent: str) -> str:
    rows = [f"{_key(key)}: {_values(value, indent + '    ')}" for key, value in features.items()]
    return _bracketed("{", rows, "}", indent)


def _lists(lists: Mapping[str, list[Value]]) -> str:
    rows = [
        f"{_key(key)}: {_bracketed('[', [_values(step, ' ' * 12, False) for step in steps], ']', ' ' * 8)}"
        for key, steps in lists.items()
    ]
    return _bracketed("{", rows, "}", "    ")


def _key(key: str) -> str:
    key.encode()  # raises ValueError for keys that `example` does not accept
    return repr(key)


def _values(value: Value, indent: str, single: bool = True) -> str:
    if value.kind == "none":
        return "[]"
    if not value.values:
        return _EMPTY[value.kind]
    texts = [_one(item) for item in value.values]
    return texts[0] if single and len(texts) == 1 else _bracketed("[", texts, "]", indent, fill=True)


def _one(value: Any) -> str:
    if isinstance(value, float):
        text = repr(value)
        return text if "n" not in text else f'float("{text}")'
    if isinstance(value, bytes):
        try:
            return repr(value.decode())
        except UnicodeDecodeError:
            pass
    return repr(value)


def _bracketed(opening: str, items: list[str], closing: str, indent: str, fill: bool = False) -> str:
    """Put items on one line if they fit; else one per line, or, if `fill`, as many as fit."""
    line = opening + ", ".join(items) + closing
    if len(line) <= _WIDTH - len(indent) and "\n" not in line and (fill or len(items) < 2):
        return line
    if not items:
        return opening + closing
    rows: list[str] = []
    for item in items:
        if fill and rows and len(rows[-1]) + len(item) + len(indent) + 6 <= _WIDTH:
            rows[-1] += f" {item},"
        else:
            rows.append(f"{item},")
    inner = "".join(f"\n{indent}    {row}" for row in rows)
    return f"{opening}{inner}\n{indent}{closing}"
