"""Conditions on single values of records, such as `label == 3 and not (split == "test" or score < 0.5)`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...examples.messages.wire import Value

__all__ = ["Condition", "WhereError", "parse_where"]

Features = Mapping[str, Value]
_Test = Callable[[Features], bool]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w]))
    | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    | (?P<quoted>`[^`]+`)
    | (?P<name>[^\W\d][\w/.:\-]*)
    | (?P<sign>==|!=|<=|>=|<|>|=|\(|\))
    )""",
    re.VERBOSE,
)
_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,  # type: ignore[dict-item]
    "<=": operator.le,  # type: ignore[dict-item]
    ">": operator.gt,  # type: ignore[dict-item]
    ">=": operator.ge,  # type: ignore[dict-item]
}
_ESCAPED = {"n": "\n", "t": "\t"}
_WORDS = ("and", "or", "not")
_DEEPEST = 100  # of parentheses in parentheses
_LONGEST = 400  # characters of a number; those of a float64 have fewer


class WhereError(ValueError):
    """The condition can't be read, or does not fit a record."""


class Condition(NamedTuple):
    """`holds` tells of a record's features, of which it looks at `names`, and compares the values of `compared`."""

    holds: Callable[[Features], bool]
    names: frozenset[str]
    compared: frozenset[str]


class _Token(NamedTuple):
    kind: str
    text: str


class _Constant(NamedTuple):
    value: float | int | bytes


class _Name(NamedTuple):
    name: str


def parse_where(text: str) -> Condition:
    """The condition that a text says.

    `NAME OP VALUE`, in which OP is == != < <= > or >=, combined by and, or, not and parentheses. A name alone asks
    whether the record has values under it. Names with blanks or signs stand in `backticks`. A comparison with a
    feature that the record lacks, or that has no value, is false.

    Raises:
      WhereError: it is malformed. `holds` raises it for a feature with several values, and where text is
        compared with a number.
    """
    parser = _Parser(_tokens(text))
    made = parser.either()
    if parser.here.kind != "end":
        raise WhereError(f"--where: {parser.here.text!r} was not expected here")
    return Condition(made, frozenset(parser.names), frozenset(parser.compared))


def _tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None:
            raise WhereError(f"--where: can't read {text[place:].strip()!r}")
        kind = found.lastgroup or ""
        part = found[kind]
        tokens.append(_Token("word" if kind == "name" and part in _WORDS else kind, part))
        place = found.end()
    return [*tokens, _Token("end", "the end")]


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0
        self.names: set[str] = set()
        self.compared: set[str] = set()

    @property
    def here(self) -> _Token:
        return self._tokens[self._place]

    def _take(self, *texts: str) -> str | None:
        token = self.here
        if token.kind in ("word", "sign") and token.text in texts:
            self._place += 1
            return token.text
        return None

    def either(self) -> _Test:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda record: any(part(record) for part in parts)

    def _both(self) -> _Test:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda record: all(part(record) for part in parts)

    def _one(self) -> _Test:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise WhereError("--where: it is nested too deep")
        made = self._term()
        self._depth -= 1
        return made

    def _term(self) -> _Test:
        if self._take("not"):
            inner = self._one()
            return lambda record: not inner(record)
        if self._take("("):
            inner = self.either()
            if not self._take(")"):
                raise WhereError("--where: a parenthesis is not closed")
            return inner
        left = self._operand()
        sign = self._take(*_COMPARE)
        if sign is None:
            if isinstance(left, _Name):
                name = left.name
                return lambda record: bool(name in record and record[name].values)
            raise WhereError(f"--where: a comparison was expected before {self.here.text!r}")
        right = self._operand()
        self.compared |= {side.name for side in (left, right) if isinstance(side, _Name)}
        return _comparison(left, sign, right)

    def _operand(self) -> _Name | _Constant:
        kind, text = self.here
        self._place += 1
        if kind == "number" and len(text) > _LONGEST:
            raise WhereError("--where: a number is too long")
        if kind == "number":
            return _Constant(float(text) if re.search(r"[.eE]", text) else int(text))
        if kind == "text":
            return _Constant(_encoded(_unquoted(text)))
        if kind in ("name", "quoted"):
            self.names.add(text.strip("`"))
            return _Name(text.strip("`"))
        raise WhereError(f"--where: a name or a value was expected, not {text!r}")


def _unquoted(text: str) -> str:
    """What stands in quotes; a backslash takes what follows as it is, except for n and t."""
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), text[1:-1], flags=re.DOTALL)


def _encoded(text: str) -> bytes:
    """The bytes that stood on the command line: Python makes lone surrogates of those that are not UTF-8."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _comparison(left: _Name | _Constant, sign: str, right: _Name | _Constant) -> _Test:
    compare = _COMPARE[sign]
    if isinstance(left, _Constant) and isinstance(right, _Constant):
        words = [side.value for side in (left, right) if isinstance(side.value, bytes)]
        named = words[0].decode("utf-8", "backslashreplace") if words else "a b"
        raise WhereError(
            f"--where: both sides are values, and no feature is named: quotes make a text; the name of a feature "
            f"with blanks or signs stands in backticks, as `{named}`"
        )

    def holds(record: Features) -> bool:
        one, other = _value(left, record), _value(right, record)
        if one is None or other is None:
            return False
        if isinstance(one, bytes) is not isinstance(other, bytes):
            name, value = next((side.name, of) for side, of in ((left, one), (right, other)) if isinstance(side, _Name))
            kinds = "bytes, compared with a number" if isinstance(value, bytes) else "a number, compared with text"
            raise WhereError(f"--where: {name!r} is {kinds}: text stands in quotes, and numbers do not")
        return compare(one, other)

    return holds


def _value(side: _Name | _Constant, record: Features) -> float | int | bytes | None:
    if isinstance(side, _Constant):
        return side.value
    found = record.get(side.name)
    if found is None or not found.values:
        return None
    if len(found.values) > 1:
        raise WhereError(f"--where: {side.name!r} has {len(found.values)} values, and single ones are compared")
    return found.values[0]
