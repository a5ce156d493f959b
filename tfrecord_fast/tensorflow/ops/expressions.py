"""Regular expressions of TensorFlow: RE2, on UTF-8.

The package google-re2 is that library. Without it, Python's `re` runs patterns that certainly have the same meaning:
a small language, on ASCII. For all others, an ImportError names the extra.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from ...base.optional import optional
from ...errors import InvalidArgumentError

_NEED = "regular expressions other than simple ones on ASCII need google-re2"


class Expression:
    """A pattern, compiled by `re2` or `re`. `check` raises for a text on which the engine might differ from RE2."""

    def __init__(self, engine: Any, check: Callable[[bytes], None] | None = None) -> None:
        self._engine, self._check = engine, check

    def replaced(self, text: bytes, rewrite: bytes, everywhere: bool) -> bytes:
        r"""Replace the first match, or all. In `rewrite`, `\0` is the match, `\1` to `\9` its groups, `\\` a backslash.

        As in RE2, a rewrite with a group that the pattern lacks changes nothing. A rewrite with another escape is
        written up to it; if only the first match is replaced, it changes nothing.
        """
        if self._check is not None:
            self._check(text)
        parts, whole, groups = _rewrite(rewrite)
        if groups > self._engine.groups:
            return text
        if everywhere:
            return self._all_replaced(text, parts)
        match = self._engine.search(text)
        if match is None or not whole:
            return text
        return text[: match.start()] + _written(parts, match) + text[match.end() :]

    def _all_replaced(self, text: bytes, parts: tuple[bytes | int, ...]) -> bytes:
        # Like RE2::GlobalReplace: an empty match right after another match is not replaced, and the search continues
        # after the next character.
        pieces, position, end = [], 0, -1
        while position <= len(text):
            match = self._engine.search(text, position)
            if match is None:
                break
            start, stop = match.span()
            pieces.append(text[position:start])
            if start == stop == end:
                after = start + _character(text, start)
                pieces.append(text[start:after])
                position = max(after, start + 1)
            else:
                pieces.append(_written(parts, match))
                position = end = stop
        pieces.append(text[position:])
        return b"".join(pieces)


def compile_expression(pattern: bytes) -> Expression:
    """Compile a pattern."""
    try:
        library = optional("re2", _NEED)
    except ImportError as error:
        return _simple(pattern, error)
    return _compiled(library, pattern)


@functools.lru_cache(maxsize=64)
def _compiled(library: Any, pattern: bytes) -> Expression:
    options = library.Options()
    options.log_errors = False  # the exception has the message
    try:
        return Expression(library.compile(pattern, options))
    except library.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidArgumentError(f"Invalid pattern: {pattern.decode(errors='replace')}, error: {reason}") from None


@functools.lru_cache(maxsize=64)
def _rewrite(rewrite: bytes) -> tuple[tuple[bytes | int, ...], bool, int]:
    """Parse a rewrite: its bytes and group numbers, True if no escape is unknown, and the highest group number."""
    parts: list[bytes | int] = []
    whole, groups, position = True, 0, 0
    while position < len(rewrite):
        escaped = rewrite[position : position + 1] == b"\\"
        position += escaped
        byte = rewrite[position : position + 1]
        position += 1
        number = int(byte) if escaped and byte.isdigit() else None
        groups = max(groups, number or 0)
        whole = whole and (not escaped or number is not None or byte == b"\\")
        if whole:
            parts.append(byte if number is None else number)
    return tuple(parts), whole, groups


def _written(pieces: tuple[bytes | int, ...], match: Any) -> bytes:
    return b"".join(piece if isinstance(piece, bytes) else match.group(piece) or b"" for piece in pieces)


def _character(text: bytes, position: int) -> int:
    """Return the length of a UTF-8 character in bytes; 1 for an invalid byte, 0 at the end."""
    lead = text[position] if position < len(text) else 0
    size = 2 if 0xC0 <= lead < 0xE0 else 3 if 0xE0 <= lead < 0xF0 else 4 if 0xF0 <= lead < 0xF8 else 1
    if size > 1:
        try:
            text[position : position + size].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return 1
    return min(size, len(text) - position)


def _simple(pattern: bytes, missing: ImportError) -> Expression:
    """Compile a pattern with Python's `re`."""
    translated = _translated(pattern)
    if translated is None:
        raise missing

    def check(text: bytes) -> None:
        if not text.isascii():
            raise ImportError(*missing.args, name=missing.name)

    return Expression(re.compile(translated), check)


_SPACES = rb"\t\n\f\r "  # in RE2, \s has no vertical tab
_SIGN = rb"""\\[!"#$%&'()*+,\-./:;<=>?@\[\\\]^`{|}~]"""
_ITEM = rb"""(?: [a-z]-[a-z] | [A-Z]-[A-Z] | [0-9]-[0-9]
      | (?: [A-Za-z0-9 !"#$%&'()*+,./:;<=>?@_`{|}~] | \\[dwsnrtf] | SIGN ) (?! -[^\]] )
      | - (?= \] ) )""".replace(b"SIGN", _SIGN)
_ITEMS = re.compile(_ITEM, re.VERBOSE)
_TOKEN = re.compile(
    rb"""
      (?P<atom> [A-Za-z0-9 !"#%&',\-/:;<=>@_`~] | SIGN | \. | \\[dDwWsSnrtf] | (?P<class> \[ \^? ITEM+ \] ) )
      (?P<times> (?: [*+?] | \{ (?P<least>[0-9]{1,2}) (?: , (?P<most>[0-9]{0,2}) )? \} ) \?? )?
    | (?P<anchor> \^ | \$ | \\b )
    | (?P<open> \( (?: \?: | (?!\?) ) )
    | (?P<close> \) ) (?P<often> [*+?] \?? )?
    | (?P<or> \| )
    """.replace(b"ITEM", _ITEM).replace(b"SIGN", _SIGN),
    re.VERBOSE,
)


@functools.lru_cache(maxsize=64)
def _translated(pattern: bytes) -> bytes | None:
    r"""Translate a simple pattern for `re`; return None for others.

    Simple patterns consist of ASCII literals, escaped signs and classes, repeated or not, groups, alternatives, `^`,
    `$` and `\b`. A repeated group must hold literals and classes only: engines differ in loops over empty matches and
    in groups within loops, and nested loops make `re` slow.
    """
    pieces: list[bytes] = []
    position, depth = 0, 0
    atoms: int | None = None  # the number of atoms in the group so far, if it may be repeated
    while position < len(pattern):
        token = _TOKEN.match(pattern, position)
        if token is None or pattern[token.end() : token.end() + 1] in (
            b"*",
            b"+",
            b"?",
            b"{",
        ):  # a repetition without an atom
            return None
        position = token.end()
        if token["close"] is not None:
            depth -= 1
            if depth < 0 or (token["often"] is not None and not atoms):
                return None
        if token["open"] is not None:
            depth, atoms = depth + 1, 0
        elif token["atom"] is None or token["times"] is not None:
            atoms = None
        elif atoms is not None:
            atoms += 1
        text = _python(token)
        if text is None:
            return None
        pieces.append(text)
    return None if depth else b"".join(pieces)


def _python(token: re.Match[bytes]) -> bytes | None:
    """Translate a token for `re`; return None if it is not valid."""
    atom, times = token["atom"], token["times"] or b""
    if token["anchor"] == b"$":
        return rb"\Z"  # in `re`, `$` also matches before a last "\n"
    if token["most"] and int(token["least"]) > int(token["most"]):
        return None
    if atom in (rb"\s", rb"\S"):
        return (b"[" if atom == rb"\s" else b"[^") + _SPACES + b"]" + times
    if token["class"] is None:
        return token[0]
    negated = atom.startswith(b"[^")
    items = [match[0] for match in _ITEMS.finditer(atom, 2 if negated else 1, len(atom))]
    if any(len(item) == 3 and item[0] > item[2] for item in items):
        return None
    return (b"[^" if negated else b"[") + b"".join(map(_item, items)) + b"]" + times


def _item(item: bytes) -> bytes:
    if item == rb"\s":
        return _SPACES
    return item if len(item) > 1 else re.escape(item)
