"""Regular expressions as TensorFlow's: RE2's, of UTF-8.

The package google-re2 is that library. Without it, Python's `re` does what certainly has the same meaning there: a
small language of patterns, on texts of ASCII. For all else an ImportError names the extra.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from ...base.optional import optional
from ...errors import InvalidArgumentError

__all__ = ["Expression", "expression_of"]

_NEED = "regular expressions other than simple ones on ASCII need google-re2"


class Expression:
    """A pattern. `engine` is a compiled one of `re2` or `re`; `checked` raises for a text that it can't be trusted
    with."""

    def __init__(self, engine: Any, checked: Callable[[bytes], None] | None = None) -> None:
        self._engine, self._checked = engine, checked

    def matches(self, text: bytes) -> bool:
        """Whether the whole text matches."""
        if self._checked is not None:
            self._checked(text)
        return self._engine.fullmatch(text) is not None

    def replaced(self, text: bytes, rewrite: bytes, everywhere: bool) -> bytes:
        r"""With the first match replaced, or all of them. In `rewrite`, `\0` is the match, `\1` to `\9` are its groups,
        and `\\` is one backslash.

        As in RE2, a rewrite that names a group that the pattern lacks changes nothing. One with another backslash is
        written up to there; if only the first match is replaced, it changes nothing.
        """
        if self._checked is not None:
            self._checked(text)
        parts, whole, groups = _rewrite(rewrite)
        if groups > self._engine.groups:
            return text
        if everywhere:
            return self._all_replaced(text, parts)
        found = self._engine.search(text)
        if found is None or not whole:
            return text
        return text[: found.start()] + _written(parts, found) + text[found.end() :]

    def _all_replaced(self, text: bytes, parts: tuple[bytes | int, ...]) -> bytes:
        # As RE2::GlobalReplace: an empty match is not replaced where the match before it ended, and the search goes on
        # after the next character.
        made, place, end = [], 0, -1
        while place <= len(text):
            found = self._engine.search(text, place)
            if found is None:
                break
            start, stop = found.span()
            made.append(text[place:start])
            if start == stop == end:
                after = start + _character(text, start)
                made.append(text[start:after])
                place = max(after, start + 1)
            else:
                made.append(_written(parts, found))
                place = end = stop
        made.append(text[place:])
        return b"".join(made)


def expression_of(pattern: bytes) -> Expression:
    """The expression of a pattern.

    Raises:
      errors.InvalidArgumentError: it is not valid.
      ImportError: google-re2 is not installed, and the pattern is not simple.
    """
    try:
        library = optional("re2", _NEED)
    except ImportError as error:
        return _simple(pattern, error)
    return _compiled(library, pattern)


@functools.lru_cache(maxsize=64)
def _compiled(library: Any, pattern: bytes) -> Expression:
    options = library.Options()
    options.log_errors = False  # the exception says it
    try:
        return Expression(library.compile(pattern, options))
    except library.error as error:
        said = error.args[0] if error.args else ""
        why = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise InvalidArgumentError(f"Invalid pattern: {pattern.decode(errors='replace')}, error: {why}") from None


@functools.lru_cache(maxsize=64)
def _rewrite(rewrite: bytes) -> tuple[tuple[bytes | int, ...], bool, int]:
    """What it writes, bytes and numbers of groups; whether that is all of it; and the highest number in it."""
    parts: list[bytes | int] = []
    whole, groups, place = True, 0, 0
    while place < len(rewrite):
        escaped = rewrite[place : place + 1] == b"\\"
        place += escaped
        one = rewrite[place : place + 1]
        place += 1
        number = int(one) if escaped and one.isdigit() else None
        groups = max(groups, number or 0)
        whole = whole and (not escaped or number is not None or one == b"\\")
        if whole:
            parts.append(one if number is None else number)
    return tuple(parts), whole, groups


def _written(parts: tuple[bytes | int, ...], found: Any) -> bytes:
    return b"".join(part if isinstance(part, bytes) else found.group(part) or b"" for part in parts)


def _character(text: bytes, place: int) -> int:
    """How many bytes the character there has; 1 if it is none of UTF-8, 0 at the end."""
    lead = text[place] if place < len(text) else 0
    size = 2 if 0xC0 <= lead < 0xE0 else 3 if 0xE0 <= lead < 0xF0 else 4 if 0xF0 <= lead < 0xF8 else 1
    if size > 1:
        try:
            text[place : place + size].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return 1
    return min(size, len(text) - place)


def _simple(pattern: bytes, missing: ImportError) -> Expression:
    """Of Python's `re`.

    Raises:
      ImportError: as `missing`, if the pattern may mean something else there.
    """
    translated = _translated(pattern)
    if translated is None:
        raise missing

    def checked(text: bytes) -> None:
        if not text.isascii():
            raise ImportError(*missing.args, name=missing.name)

    return Expression(re.compile(translated), checked)


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
    r"""The pattern for `re`, if it is simple: literals, escaped signs and classes of ASCII, repeated or not; groups,
    alternatives, `^`, `$` and `\b`.

    What is in a repeated group has to be literals and classes alone. Engines differ in loops over what may be empty,
    and in groups within loops; and nested loops would take Python's very long.
    """
    made: list[bytes] = []
    place, depth = 0, 0
    atoms: int | None = None  # how many there are in the group so far, if it may be repeated
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None or pattern[token.end() : token.end() + 1] in (b"*", b"+", b"?", b"{"):  # of what is no atom
            return None
        place = token.end()
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
        made.append(text)
    return None if depth else b"".join(made)


def _python(token: re.Match[bytes]) -> bytes | None:
    """What it is called in Python; None if it is not valid."""
    atom, times = token["atom"], token["times"] or b""
    if token["anchor"] == b"$":
        return rb"\Z"  # `$` of Python's is before a last "\n", too
    if token["most"] and int(token["least"]) > int(token["most"]):
        return None
    if atom in (rb"\s", rb"\S"):
        return (b"[" if atom == rb"\s" else b"[^") + _SPACES + b"]" + times
    if token["class"] is None:
        return token[0]
    negated = atom.startswith(b"[^")
    items = [found[0] for found in _ITEMS.finditer(atom, 2 if negated else 1, len(atom))]
    if any(len(item) == 3 and item[0] > item[2] for item in items):
        return None
    return (b"[^" if negated else b"[") + b"".join(map(_item, items)) + b"]" + times


def _item(item: bytes) -> bytes:
    if item == rb"\s":
        return _SPACES
    return item if len(item) > 1 else re.escape(item)
