"""Decoded records as text: one feature per line, long values truncated, images by format and size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...examples.messages.wire import Value
from ...examples.record_kinds import form_of
from ...images.headers import image_of
from ..console import Style, counted, printable
from .decoding import Decoded, left_out

_MOST_VALUES = 8  # of a list
_MOST_ITEMS = 8  # of a list of messages
_MOST_FIELDS = 12  # of a message
_MOST_CHARACTERS = 80
_MOST_HEX = 24  # bytes


class Shower:
    """Formatter of records.

    Args:
      full: long values are not truncated.
    """

    def __init__(self, style: Style, full: bool = False) -> None:
        self._style = style
        self._full = full

    def lines(self, index: int, record: bytes, decoded: Decoded, path: str | None = None) -> Iterator[str]:
        """Yield a line that identifies the record, and the lines of its content."""
        where = f"{printable(path)} [{index}]" if path else f"[{index}]"
        head = f"{self._style('head', where)} {decoded.kind}, {counted(len(record), 'byte')}"
        if decoded.tree is None:
            if image_of(record):
                yield f"{self._style('head', where)} {self._blob(record)}"
                return
            yield f"{head}: {self._blob(record, measured=True)}" if record else head
            return
        yield head
        tree = decoded.tree
        if set(tree) == {"fields"}:
            yield from self._fields(tree["fields"], "  ")
            return
        yield from self._tree(tree["features"] if set(tree) == {"features"} else tree, "  ")
        unknown = left_out(record, decoded)
        if unknown:
            yield f"  … and unknown field {unknown}; use --as proto to see it"

    def value(self, value: Value) -> str:
        """Return the values of a feature on one line; several are in brackets."""
        return self._values(value.values)

    def _tree(self, tree: dict[str, Any], indent: str) -> Iterator[str]:
        width = max((len(_name(key)) for key in tree), default=0)
        for key, value in tree.items():
            name = self._style("name", _name(key).ljust(width))
            if isinstance(value, dict):
                yield f"{indent}{name.rstrip()}"
                yield from self._tree(value, indent + "  ")
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                yield f"{indent}{name.rstrip()}"
                yield from self._messages(value, indent + "  ")
            else:
                yield f"{indent}{name}  {self._leaf(value)}"

    def _messages(self, items: list[dict[str, Any]], indent: str) -> Iterator[str]:
        shown = items if self._full else items[:_MOST_ITEMS]
        for number, item in enumerate(shown):
            flat = {key: value for key, value in item.items() if not _is_nested(value)}
            text = "  ".join(f"{self._style('name', _name(key))} {self._leaf(value)}" for key, value in flat.items())
            yield f"{indent}{self._style('head', f'[{number}]')} {text}".rstrip()
            yield from self._tree({key: value for key, value in item.items() if key not in flat}, indent + "  ")
        if len(shown) < len(items):
            yield f"{indent}… {len(items) - len(shown):,} more"

    def _fields(self, fields: list[dict[str, Any]], indent: str) -> Iterator[str]:
        """Yield the number, wire type and value of each field of an unknown message."""
        shown = fields if self._full else fields[:_MOST_FIELDS]
        for field in shown:
            head = f"{indent}{self._style('name', str(field['field']))} {self._style('kind', field['type'])}"
            if "message" in field:
                yield f"{head}  message"
                yield from self._fields(field["message"], indent + "  ")
            elif "value" in field:
                yield f"{head}  {self._scalar(field['value'])}"
            else:
                real = field.get("double", field.get("float"))
                yield f"{head}  {self._scalar(real)} or {self._scalar(field['integer'])}"
        if len(shown) < len(fields):
            yield f"{indent}… {len(fields) - len(shown):,} more fields"

    def _leaf(self, value: Any) -> str:
        if isinstance(value, Value):
            return f"{self._style('kind', value.kind.ljust(5))}  {self._values(value.values)}"
        if isinstance(value, list) and value and isinstance(value[0], Value):
            return self._steps(value)
        if isinstance(value, list):
            return self._values(value, brackets=True)
        return self._scalar(value)

    def _steps(self, steps: list[Value]) -> str:
        dtype = next((step.kind for step in steps if step.kind != "none"), "none")
        shown = steps if self._full else steps[: _MOST_VALUES // 2]
        texts = [self._values(step.values, brackets=True, most=_MOST_VALUES // 2) for step in shown]
        more = f", … {len(steps) - len(shown):,} more" if len(shown) < len(steps) else ""
        return f"{self._style('kind', dtype.ljust(5))}  {counted(len(steps), 'step')}: {', '.join(texts)}{more}"

    def _values(self, values: list[Any], brackets: bool = False, most: int = _MOST_VALUES) -> str:
        if len(values) == 1 and not brackets:
            return self._scalar(values[0])
        shown = values if self._full else values[:most]
        text = ", ".join(self._scalar(value) for value in shown)
        more = len(values) - len(shown)
        return f"[{text}, … {more:,} more]" if more else f"[{text}]"

    def _scalar(self, value: Any) -> str:
        if isinstance(value, bytes):
            return self._blob(value)
        return self._quoted(value) if isinstance(value, str) else self._style("number", str(value))

    def _blob(self, data: bytes, measured: bool = False) -> str:
        """Return an image's format and size, text in quotes, or the first bytes; and the length unless `measured`."""
        image = image_of(data)
        if image is not None:
            return self._style("image", f"{image[0]} image {image[1]}×{image[2]}, {counted(len(data), 'byte')}")
        try:
            return self._quoted(data.decode())
        except UnicodeDecodeError:
            pass
        form = form_of(data)
        name = f"{form}, " if form.endswith(("image", "audio")) else ""
        size = "" if measured else f"{name}{counted(len(data), 'byte')}: "
        shown = data if self._full else data[:_MOST_HEX]
        more = "…" if len(shown) < len(data) else ""
        return self._style("image", f"{size}{shown.hex(' ')}{more}")

    def _quoted(self, text: str) -> str:
        shown = text if self._full else text[:_MOST_CHARACTERS]
        more = f"… {len(text) - len(shown):,} more characters" if len(shown) < len(text) else ""
        return self._style("text", escaped(shown)) + more


def _is_nested(value: Any) -> bool:
    if isinstance(value, Value):
        return True
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _name(key: str) -> str:
    return key if key.isprintable() and key else escaped(key)


def escaped(text: str) -> str:
    """Quote a text and escape control characters; other characters stay."""
    inner = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in inner)
