"""Keys that match a pattern, page by page: what is kept are the matches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .store import Store

__all__ = ["matches_of", "pattern_of"]

_MAGIC = re.compile(r"[*?\[]")
_DEEP = re.compile(r"(?:^|(?<=/))\*\*(/|$)")


def matches_of(store: Store, pattern: str) -> Iterator[str]:
    """The URLs of objects and folders whose keys match. `*` and `?` stay within a folder; `**` in place of a folder's
    name is any number of folders, as in local patterns; `[…]` is one character of several, `[!…]` of all others."""
    magic = _MAGIC.search(pattern)
    if magic is None:
        found = _one(store, pattern)
        return iter([found] if found is not None else [])
    if _DEEP.search(pattern):
        return _below(store, pattern, pattern[: magic.start()])
    fixed, rest = pattern[: magic.start()].rpartition("/"), pattern[magic.start() :]
    parts = (fixed[2] + rest).split("/")
    return _by_folder(store, fixed[0] + fixed[1], parts)


def pattern_of(text: str) -> re.Pattern[str]:
    """A pattern of names as a regular expression, to be matched in full."""
    found, place = [], 0
    while place < len(text):
        char = text[place]
        deep = _DEEP.match(text, place)
        if deep:
            found.append("(?:.*/)?" if deep[1] else ".*")
            place = deep.end()
            continue
        closed = text.find("]", place + (3 if text[place + 1 : place + 2] in ("!", "^") else 2)) if char == "[" else -1
        if char == "*":
            found.append("[^/]*")
        elif char == "?":
            found.append("[^/]")
        elif closed > 0:
            found.append(_one_of(text[place + 1 : closed]))
            place = closed
        else:
            found.append(re.escape(char))
        place += 1
    return re.compile("".join(found), re.DOTALL)


def _one_of(inside: str) -> str:
    """What stands between brackets, as an expression. A range that runs backwards has nothing in it."""
    none = inside[0] in "!^"
    ranges = re.findall(r"(.)-(.)|(.)", inside[1:] if none else inside, re.DOTALL)
    kept = [
        re.escape(one) if one else f"{re.escape(first)}-{re.escape(last)}"
        for first, last, one in ranges
        if one or first <= last
    ]
    if not kept:
        return "[^/]" if none else "(?!)"
    return f"[{'^/' if none else ''}{''.join(kept)}]"


def _one(store: Store, key: str) -> str | None:
    try:
        return store.info(key).url
    except FileNotFoundError:
        return store.url(key.rstrip("/")) if store.is_folder(key) else None
    except IsADirectoryError:
        return store.url(key.rstrip("/"))


def _below(store: Store, pattern: str, prefix: str) -> Iterator[str]:
    expression = pattern_of(store.url(pattern).partition("::")[0])
    for info in store.list(prefix):
        if expression.fullmatch(info.url.partition("::")[0]):
            yield info.url


def _by_folder(store: Store, folder: str, parts: list[str]) -> Iterator[str]:
    """Matches of the first part in a folder, and of the others below them. `folder` ends in "/", or is empty."""
    first, rest = parts[0], parts[1:]
    if not _MAGIC.search(first):
        if rest:
            yield from _by_folder(store, f"{folder}{first}/", rest)
        elif (found := _one(store, folder + first)) is not None:
            yield found
        return
    try:
        folders, objects = store.folders(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    expression = pattern_of(first)
    below = [key for key in folders if expression.fullmatch(key.rstrip("/").rpartition("/")[2])]
    if rest:
        for key in below:
            yield from _by_folder(store, key, rest)
        return
    urls = [store.url(key.rstrip("/")) for key in below]
    yield from urls
    named = set(urls)  # an object may have the name of a folder
    for info in objects:
        if expression.fullmatch(info.url.partition("::")[0].rpartition("/")[2]) and info.url not in named:
            yield info.url
