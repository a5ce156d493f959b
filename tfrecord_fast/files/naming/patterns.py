"""Local files that match a pattern, as shells and TensorFlow read it: `[^…]` is a negation, as `[!…]` is.

Python's `glob` takes the `^` for one of the characters, and so finds other files. It has no escapes either.
"""

from __future__ import annotations

import glob
import os

__all__ = ["begins_with_a_pattern", "is_local_pattern", "matching_paths", "python_pattern"]

_MAGIC = "*?["


def is_local_pattern(path: str) -> bool:
    """Whether what is read by this path are the files that match it: there is none that has just this name."""
    return any(char in path for char in _MAGIC) and not os.path.exists(path)


def matching_paths(pattern: str, *, recursive: bool = False, escapes: bool = False) -> list[str]:
    r"""The paths that match, sorted. `*` and `?` match no dot at the beginning of a name.

    Args:
      pattern: `*` is any text within a folder, `?` one character, `[…]` one of several, `[!…]` and `[^…]` one of all
        others.
      recursive: whether `**` stands for any number of folders.
      escapes: whether a backslash takes its meaning from the next character, as in TensorFlow's functions; otherwise it
        is part of a name.
    """
    return sorted(glob.glob(python_pattern(pattern, escapes=escapes), recursive=recursive))


def begins_with_a_pattern(pattern: str) -> bool:
    """Whether the first part of the path has something to be matched in it, or an escape."""
    return any(char in pattern.split(os.sep)[0] for char in _MAGIC + "\\")


def python_pattern(pattern: str, *, escapes: bool = False) -> str:
    """The pattern in the language of Python's `glob` and `fnmatch`."""
    if "[" not in pattern and not (escapes and "\\" in pattern):
        return pattern
    return os.sep.join(_python_part(part, escapes) for part in pattern.split(os.sep))


def _python_part(part: str, escapes: bool) -> str:
    made, place = [], 0
    while place < len(part):
        char = part[place]
        if char == "\\" and escapes and place + 1 < len(part):
            made.append(glob.escape(part[place + 1]))
            place += 2
            continue
        closed = _one_of(part, place + 1, escapes) if char == "[" else None
        if closed is not None:
            made.append(closed[0])
            place = closed[1]
            continue
        made.append("[[]" if char == "[" else char)
        place += 1
    return "".join(made)


def _one_of(part: str, place: int, escapes: bool) -> tuple[str, int] | None:
    """The brackets whose inside begins at `place`, and where they end; None if they are not closed."""
    negated = part[place : place + 1] in ("!", "^") and part[place : place + 1] != ""
    place += negated
    begin, found = place, []  # characters and ranges, without their backslashes
    while place < len(part) and (part[place] != "]" or place == begin):
        char, place = _char(part, place, escapes)
        if part[place : place + 1] == "-" and part[place + 1 : place + 2] not in ("", "]"):
            last, place = _char(part, place + 1, escapes)
            if char <= last:
                found.append(char if char == last else f"{char}-{last}")
        else:
            found.append(char)
    if place >= len(part):
        return None
    return _brackets(negated, found), place + 1


def _char(part: str, place: int, escapes: bool) -> tuple[str, int]:
    if part[place] == "\\" and escapes and place + 1 < len(part):
        place += 1
    return part[place], place + 1


def _brackets(negated: bool, found: list[str]) -> str:
    """With each character where Python takes it for itself: `]` first, then ranges, `!` and `-` last."""
    if not found:  # ranges that run backwards: nothing is in them
        return "?" if negated else "[b-a]"
    ranges = sorted({one for one in found if len(one) > 1 and one[0] not in "]!-" and one[-1] not in "]-"})
    odd = [one for one in found if len(one) > 1 and one not in ranges]
    single = {one for one in found if len(one) == 1}
    for one in odd:  # from or to a sign that has a meaning of its own
        single.update(map(chr, range(ord(one[0]), ord(one[-1]) + 1)))
    single.discard("/")
    if single == {"!"} and not ranges and not negated:
        return "!"
    first = "]" if "]" in single else ""
    last = ("!" if "!" in single else "") + ("-" if "-" in single else "")
    if last and not negated and not first and not ranges and single <= {"!", "-"}:
        first, last = last[::-1], ""  # `[-!]`
    return f"[{'!' if negated else ''}{first}{''.join(ranges)}{''.join(sorted(single - {']', '!', '-'}))}{last}]"
