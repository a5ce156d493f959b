"""Keys that match a pattern, page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..naming.addresses import WILD
from .store import Store

_DEEP = re.compile(r"(?:^|(?<=/))\*\*(/|$)")


def matches_of(store: Store, pattern: str) -> Iterator[str]:
    """Yield the URLs of objects and folders whose keys match.

    `*` and `?` stay within a folder. `**` as the name of a folder matches any number of folders, as in local patterns.
    `[…]` matches one of the characters, `[!…]` any other one.
    """
    wild = WILD.search(pattern)
    if wild is None:
        url = _object_or_folder(store, pattern)
        return iter([url] if url is not None else [])
    if _DEEP.search(pattern):
        return _below(store, pattern, pattern[: wild.start()])
    folder = pattern[: wild.start()].rpartition("/")
    names = (folder[2] + pattern[wild.start() :]).split("/")
    return _by_folder(store, folder[0] + folder[1], names)


def pattern_of(text: str) -> re.Pattern[str]:
    """Convert a pattern to a regular expression for `fullmatch`."""
    expressions, at = [], 0
    while at < len(text):
        char = text[at]
        deep = _DEEP.match(text, at)
        if deep:
            expressions.append("(?:.*/)?" if deep[1] else ".*")
            at = deep.end()
            continue
        closed = text.find("]", at + (3 if text[at + 1 : at + 2] in ("!", "^") else 2)) if char == "[" else -1
        if char == "*":
            expressions.append("[^/]*")
        elif char == "?":
            expressions.append("[^/]")
        elif closed > 0:
            expressions.append(_character_class(text[at + 1 : closed]))
            at = closed
        else:
            expressions.append(re.escape(char))
        at += 1
    return re.compile("".join(expressions), re.DOTALL)


def _character_class(inside: str) -> str:
    """Convert the inside of brackets. A range that runs backwards is empty."""
    negated = inside[0] in "!^"
    ranges = re.findall(r"(.)-(.)|(.)", inside[1:] if negated else inside, re.DOTALL)
    kept = [
        re.escape(single) if single else f"{re.escape(first)}-{re.escape(last)}"
        for first, last, single in ranges
        if single or first <= last
    ]
    if not kept:
        return "[^/]" if negated else "(?!)"
    return f"[{'^/' if negated else ''}{''.join(kept)}]"


def _object_or_folder(store: Store, key: str) -> str | None:
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


def _by_folder(store: Store, folder: str, names: list[str]) -> Iterator[str]:
    """Match the first name in a folder and the others below it. `folder` ends in "/" or is empty."""
    first, rest = names[0], names[1:]
    if not WILD.search(first):
        if rest:
            yield from _by_folder(store, f"{folder}{first}/", rest)
        elif (url := _object_or_folder(store, folder + first)) is not None:
            yield url
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
    matched = set(urls)  # an object may have the name of a folder
    for info in objects:
        if expression.fullmatch(info.url.partition("::")[0].rpartition("/")[2]) and info.url not in matched:
            yield info.url
