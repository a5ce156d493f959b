"""Conditions on single values of records, such as `label == 3 and not (split == "test" or score < 0.5)`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...examples.messages.wire import Value

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
_FOREIGN = re.compile(r"=>|=<|<>|&&?|\|\|?|\b(?:AND|OR|NOT)\b")  # of other languages
_OWN = {"=>": ">=", "=<": "<=", "<>": "!=", "&": "and", "&&": "and", "|": "or", "||": "or"}
_GRAMMAR = "a condition compares single values with == != < <= > >=, joined by and, or, not"
_DEEPEST = 100  # nested parentheses
_LONGEST = 400  # characters of a number; a float64 has fewer


class WhereError(ValueError):
    """The condition is malformed, or does not fit a record."""


class _Unreadable(WhereError):
    """The condition is not in this language."""


class Condition(NamedTuple):
    """A test of a record's features: `holds` reads those in `names`, and compares values of those in `compared`."""

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
    """Parse a condition.

    A condition is `NAME OP VALUE`, where OP is == != < <= > or >=, combined by and, or, not and parentheses. A name
    alone is true if the record has values for it. Names with blanks or signs are written in `backticks`. A comparison
    with a feature that is missing or has no value is false.

    Raises:
      WhereError: the condition is malformed. `holds` raises it for a feature with several values, and for comparisons
        of text with a number.
    """
    try:
        parser = _Parser(_tokens(text))
        test = parser.either()
        if parser.here.kind != "end":
            raise _Unreadable(f"--where: unexpected {parser.here.text!r}")
    except _Unreadable as error:
        foreign = _FOREIGN.search(text)
        remedy = f"write {_OWN.get(foreign[0], foreign[0].lower())} for {foreign[0]}" if foreign else _GRAMMAR
        raise WhereError(f"{error}; {remedy}") from None
    return Condition(test, frozenset(parser.names), frozenset(parser.compared))


def _tokens(text: str) -> list[_Token]:
    tokens, position = [], 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise _Unreadable(f"--where: can't read {text[position:].strip()!r}")
        group = match.lastgroup or ""
        token = match[group]
        tokens.append(_Token("word" if group == "name" and token in _WORDS else group, token))
        position = match.end()
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
        tests = [self._both()]
        while self._take("or"):
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda record: any(test(record) for test in tests)

    def _both(self) -> _Test:
        tests = [self._one()]
        while self._take("and"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda record: all(test(record) for test in tests)

    def _one(self) -> _Test:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise WhereError("--where: too many nested parentheses")
        test = self._term()
        self._depth -= 1
        return test

    def _term(self) -> _Test:
        if self._take("not"):
            inner = self._one()
            return lambda record: not inner(record)
        if self._take("("):
            inner = self.either()
            if not self._take(")"):
                raise WhereError("--where: missing closing parenthesis")
            return inner
        left = self._operand()
        sign = self._take(*_COMPARE)
        if sign is None:
            if isinstance(left, _Name):
                name = left.name
                return lambda record: bool(name in record and record[name].values)
            raise _Unreadable(f"--where: expected a comparison before {self.here.text!r}")
        right = self._operand()
        self.compared |= {side.name for side in (left, right) if isinstance(side, _Name)}
        return _comparison(left, sign, right)

    def _operand(self) -> _Name | _Constant:
        group, text = self.here
        self._place += 1
        if group == "number" and len(text) > _LONGEST:
            raise WhereError("--where: number too long")
        if group == "number":
            return _Constant(float(text) if re.search(r"[.eE]", text) else int(text))
        if group == "text":
            return _Constant(_encoded(_unquoted(text)))
        if group in ("name", "quoted"):
            self.names.add(text.strip("`"))
            return _Name(text.strip("`"))
        raise _Unreadable(f"--where: expected a name or a value, got {text!r}")


def _unquoted(text: str) -> str:
    """Return the content of quotes; backslashes escape the next character, except in \\n and \\t."""
    return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match[1], match[1]), text[1:-1], flags=re.DOTALL)


def _encoded(text: str) -> bytes:
    """Return the bytes from the command line: Python decodes those that are not UTF-8 to lone surrogates."""
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
            f"--where: a comparison of two values; write a feature's name without quotes, or in backticks if it has "
            f"blanks or signs: `{named}`"
        )

    def holds(record: Features) -> bool:
        first, second = _value(left, record), _value(right, record)
        if first is None or second is None:
            return False
        if isinstance(first, bytes) is not isinstance(second, bytes):
            name, value = next(
                (side.name, of) for side, of in ((left, first), (right, second)) if isinstance(side, _Name)
            )
            kinds = "text, compared with a number" if isinstance(value, bytes) else "a number, compared with text"
            raise WhereError(f"--where: {name!r} is {kinds}; write text in quotes, and numbers without")
        return compare(first, second)

    return holds


def _value(side: _Name | _Constant, record: Features) -> float | int | bytes | None:
    if isinstance(side, _Constant):
        return side.value
    value = record.get(side.name)
    if value is None or not value.values:
        return None
    if len(value.values) > 1:
        what = f"{side.name!r} has {len(value.values)} values, and only single values can be compared"
        raise WhereError(f"--where: {what}; in Python, read_table(files).filter(…) compares lists")
    return value.values[0]
