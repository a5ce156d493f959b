"""Patterns of local files, as in shells and TensorFlow: `[^…]` means the same as `[!…]`.

Python's `glob` reads that `^` as one of the characters, and it has no escapes.
"""

from __future__ import annotations

import glob
import os
import re

_MAGIC = "*?["
_BRACES = re.compile(r"\{(?:(\d+)\.\.(\d+)|([^{}]*,[^{}]*))\}")
_COUNT = re.compile(r"@(\d+)(\.[\w.]+)?$")
_MOST_NAMES = 1 << 20


def expanded(name: str) -> list[str]:
    """Expand the braces of a path or URL, as shells do (`a-{00..03}`, `{a,b}`), or a number of shards (`a@4`).

    A name that exists stays. Raises ValueError: there would be more than a million names.
    """
    names, count = [name], _COUNT.search(name)
    if os.path.exists(name):
        return names
    while braces := _BRACES.search(names[0]):
        words = braces[3].split(",") if braces[3] is not None else _numbers(braces[1], braces[2], name)
        _check(len(names) * len(words), name)
        names = [full.replace(braces[0], word, 1) for full in names for word in words]
    if names == [name] and count is not None and not name.lower().startswith("http"):
        names = [
            f"{name[: count.start()]}-{number}-of-{int(count[1]):05d}{count[2] or ''}"
            for number in _numbers("00000", count[1], name)
        ]
        names = names[:-1]  # which are numbered from 0
    return names


def _numbers(first: str, last: str, name: str) -> list[str]:
    begin, end = int(first), int(last)
    _check(abs(end - begin), name)
    step = 1 if begin <= end else -1
    return [f"{number:0{len(first)}d}" for number in range(begin, end + step, step)]


def _check(count: int, name: str) -> None:
    if count > _MOST_NAMES:
        raise ValueError(f"{name:.100} stands for more than {_MOST_NAMES} names")


def is_local_pattern(path: str) -> bool:
    """Return True if `path` must be globbed: it has wildcards, and no file has that literal name."""
    return any(char in path for char in _MAGIC) and not os.path.exists(path)


def matching_paths(pattern: str, *, recursive: bool = False, escapes: bool = False) -> list[str]:
    r"""Return the paths that match, sorted. Wildcards do not match a leading dot.

    Args:
      pattern: `*` matches any text within a folder, `?` one character, `[…]` one of the characters, `[!…]` and `[^…]`
        any other one.
      recursive: `**` matches any number of folders.
      escapes: a backslash escapes the next character, as in TensorFlow's functions; otherwise it is part of a name.
    """
    return sorted(glob.glob(python_pattern(pattern, escapes=escapes), recursive=recursive))


def begins_with_a_pattern(pattern: str) -> bool:
    """Return True if the first name in the path has a wildcard or an escape."""
    return any(char in pattern.split(os.sep)[0] for char in _MAGIC + "\\")


def python_pattern(pattern: str, *, escapes: bool = False) -> str:
    """Convert a pattern to the syntax of Python's `glob` and `fnmatch`."""
    if "[" not in pattern and not (escapes and "\\" in pattern):
        return pattern
    return os.sep.join(_python_name(name, escapes) for name in pattern.split(os.sep))


def _python_name(name: str, escapes: bool) -> str:
    converted, at = [], 0
    while at < len(name):
        char = name[at]
        if char == "\\" and escapes and at + 1 < len(name):
            converted.append(glob.escape(name[at + 1]))
            at += 2
            continue
        brackets = _python_brackets(name, at + 1, escapes) if char == "[" else None
        if brackets is not None:
            converted.append(brackets[0])
            at = brackets[1]
            continue
        converted.append("[[]" if char == "[" else char)
        at += 1
    return "".join(converted)


def _python_brackets(name: str, at: int, escapes: bool) -> tuple[str, int] | None:
    """Convert the brackets whose inside begins at `at`; also return their end. Return None if they are not closed."""
    negated = name[at : at + 1] in ("!", "^") and name[at : at + 1] != ""
    at += negated
    begin, ranges = at, []  # single characters and ranges `a-b`, without backslashes
    while at < len(name) and (name[at] != "]" or at == begin):
        char, at = _char(name, at, escapes)
        if name[at : at + 1] == "-" and name[at + 1 : at + 2] not in ("", "]"):
            last, at = _char(name, at + 1, escapes)
            if char <= last:
                ranges.append(char if char == last else f"{char}-{last}")
        else:
            ranges.append(char)
    if at >= len(name):
        return None
    return _brackets(negated, ranges), at + 1


def _char(name: str, at: int, escapes: bool) -> tuple[str, int]:
    if name[at] == "\\" and escapes and at + 1 < len(name):
        at += 1
    return name[at], at + 1


def _brackets(negated: bool, items: list[str]) -> str:
    """Write brackets for Python, which reads `]` literally at the beginning only, and `!` and `-` at the end only."""
    if not items:  # only ranges that run backwards, which are empty
        return "?" if negated else "[b-a]"
    ranges = sorted({item for item in items if len(item) > 1 and item[0] not in "]!-" and item[-1] not in "]-"})
    single = {item for item in items if len(item) == 1}
    for item in items:
        if len(item) > 1 and item not in ranges:  # it begins or ends with a special character
            single.update(map(chr, range(ord(item[0]), ord(item[-1]) + 1)))
    single.discard("/")
    if single == {"!"} and not ranges and not negated:
        return "!"
    first = "]" if "]" in single else ""
    last = ("!" if "!" in single else "") + ("-" if "-" in single else "")
    if last and not negated and not first and not ranges and single <= {"!", "-"}:
        first, last = last[::-1], ""  # `[-!]`
    return f"[{'!' if negated else ''}{first}{''.join(ranges)}{''.join(sorted(single - {']', '!', '-'}))}{last}]"
