"""Answers to the page's requests: files, records and their values, bytes, and searches."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from ...records.selecting import NamesSeen, features_of_rows
from ...records.where import WhereError, parse_where
from .code import code_of
from .media import media_of
from .sources import File, Unreadable, Waiting
from .trees import Leaf, described, found, text_of, tree_of

_PATIENCE = 0.5  # seconds until an answer reports progress instead
_MOST_KEPT = 8  # records in the cache,
_MOST_KEPT_BYTES = 64 << 20  # and their bytes
_MOST_PARTS = 8  # of a path in the tree
_LINES = 10_000  # formatted at a time
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_ASSETS = {"": "index.html", "view.js": "view.js", "view.css": "view.css", "icon.svg": "icon.svg"}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Query = Mapping[str, str]


class BadRequest(Exception):
    """The request has no answer: an HTTP status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Answer(NamedTuple):
    """Content and its type; `attachment` is the file name of a download."""

    type: str
    content: bytes | Iterator[bytes]
    attachment: str | None = None


class Pages:
    """Answers by path and query. May be used from several threads."""

    def __init__(self, files: Sequence[File]) -> None:
        self._files = files
        self._working = threading.Semaphore(2)  # records that are decoded at the same time
        self._lock = threading.Lock()  # guards `_kept`
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._answers: dict[str, Callable[[Query], Answer]] = {
            "api/files": self._list,
            "api/record": self._record,
            "api/part": self._part,
            "api/code": self._code,
            "api/find": self._find,
            "bytes": self._bytes,
            "text": self._text,
        }

    def answer(self, path: str, query: Query) -> Answer:
        if path in _ASSETS:
            return _asset(_ASSETS[path])
        make = self._answers.get(path)
        if make is None:
            raise BadRequest(404, "no such page")
        try:
            return make(query)
        except Waiting as waiting:
            return _json({"waiting": str(waiting)})
        except Unreadable as error:
            return _json({"problem": str(error)})
        except LookupError:
            raise BadRequest(404, "no record or value with this number") from None

    def _list(self, query: Query) -> Answer:
        files = []
        for file in self._files:
            try:
                size: int | None = os.stat(file.path).st_size
            except (OSError, ValueError):
                size = None
            shown = file.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            files.append({"path": shown, "bytes": size})
        return _json({"files": files})

    def _record(self, query: Query) -> Answer:
        deadline = time.monotonic() + _PATIENCE
        file, number = self._place(query)
        source = self._files[file].source(deadline)
        fields: dict[str, Any] = {"record": number, "way": source.way}
        try:
            record = self._bytes_of(file, number, deadline)
            fields["size"], fields["offset"] = len(record), source.offset(number)
            with self._working:
                record_kind, tree = tree_of(record)
                fields |= {"kind": record_kind, "tree": described(tree)}
        except (Unreadable, ValueError) as error:
            fields["problem"] = str(error)
        except IndexError:
            fields["problem"] = "the file has fewer records" if source.count() else "the file has no records"
        return _json({**fields, "count": source.count(), "notes": source.notes})

    def _part(self, query: Query) -> Answer:
        with self._working:
            return _json(described(self._found(query), _parts(query), _number(query, "first", 0), more=True))

    def _bytes(self, query: Query) -> Answer:
        value = self._value(query)
        media = media_of(value)
        if media is not None:
            return Answer(media.type, value)
        return Answer("application/octet-stream", value, f"record-{_number(query, 'record', 0)}.bin")

    def _text(self, query: Query) -> Answer:
        leaf = self._found(query)
        if not isinstance(leaf, Leaf):
            raise BadRequest(404, "not a list of values")
        return Answer("text/plain; charset=utf-8", _lines(leaf.values))

    def _code(self, query: Query) -> Answer:
        file, number = self._place(query)
        deadline = time.monotonic() + _PATIENCE
        record = self._bytes_of(file, number, deadline)
        path = self._files[file].path
        with self._working:
            is_indexed = self._files[file].source(deadline).offset(number) is not None
            return _json(
                {"code": code_of(record, path if "://" in path else os.path.abspath(path), number, is_indexed)}
            )

    def _find(self, query: Query) -> Answer:
        """Search for the first matching record from `record` on or, with `back`, before it.

        `at` is where to continue. `unknown` describes names that none of the searched records has.
        """
        deadline = time.monotonic() + _PATIENCE
        file, number = self._place(query)
        source = self._files[file].source(deadline)
        back = query.get("back") == "1"
        at = number
        try:
            condition = parse_where(query.get("where", ""))
            seen = NamesSeen(condition.names)
        except WhereError as error:
            return _json({"problem": str(error).removeprefix("--where: ")})
        try:
            for first, records in source.backward(at, deadline) if back else source.forward(at, deadline):
                features = features_of_rows(records, condition.names, seen)
                rows = range(len(records))
                at = first + (len(records) if back else 0)
                for row in reversed(rows) if back else rows:
                    at = first + row
                    if condition.holds(features(row)):
                        return _json({"found": at})
                    at += not back
                if time.monotonic() > deadline:
                    return _json({"waiting": f"Searching: record {at:,} …", "at": at})
        except Waiting as waiting:
            return _json({"waiting": str(waiting), "at": at})
        except ValueError as error:  # unsuitable condition, or malformed record
            return _json({"problem": f"record {at:,}: {str(error).removeprefix('--where: ')}", "record": at})
        unknown = "; ".join(seen.problems())
        return _json({"found": None, "unknown": unknown} if unknown else {"found": None})

    def _place(self, query: Query) -> tuple[int, int]:
        file = _number(query, "file", 0)
        if file >= len(self._files):
            raise BadRequest(404, "no such file")
        return file, _number(query, "record", 0)

    def _found(self, query: Query) -> Any:
        file, number = self._place(query)
        record = self._bytes_of(file, number, time.monotonic() + _PATIENCE)
        try:
            return found(tree_of(record)[1], _parts(query))
        except ValueError as error:
            raise Unreadable(str(error)) from None

    def _value(self, query: Query) -> bytes:
        """Return the bytes value at `place`, or the record if the query has no place."""
        if not query.get("place"):
            file, number = self._place(query)
            return self._bytes_of(file, number, time.monotonic() + _PATIENCE)
        with self._working:
            leaf = self._found(query)
        if not isinstance(leaf, Leaf) or len(leaf.values) != 1 or not isinstance(leaf.values[0], bytes):
            raise BadRequest(404, "not a bytes value")
        return leaf.values[0]

    def _bytes_of(self, file: int, number: int, deadline: float) -> bytes:
        with self._lock:
            known = self._kept.get((file, number))
            if known is not None:
                return known
        record = self._files[file].source(deadline).record(number, deadline)
        with self._lock:
            self._kept[file, number] = record
            while len(self._kept) > 1 and (
                len(self._kept) > _MOST_KEPT or sum(map(len, self._kept.values())) > _MOST_KEPT_BYTES
            ):
                self._kept.popitem(last=False)
        return record


def _number(query: Query, name: str, default: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not _NUMBER.fullmatch(text):
        raise BadRequest(400, f"{name} is not a number")
    return int(text)


def _parts(query: Query) -> list[int]:
    parts = query.get("place", "").split(".") if query.get("place") else []
    if len(parts) > _MOST_PARTS or not all(_NUMBER.fullmatch(number) for number in parts):
        raise BadRequest(400, "place must be numbers joined by dots, such as 3.0")
    return [int(number) for number in parts]


def _lines(values: Any) -> Iterator[bytes]:
    """Format each value on a line; bytes that are not text are hexadecimal."""
    for first in range(0, len(values), _LINES):
        some = values[first : first + _LINES]
        texts = some.astype("U").tolist() if isinstance(some, np.ndarray) else map(_line, some)
        yield "".join(f"{text}\n" for text in texts).encode("utf-8", "backslashreplace")


def _line(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    text = text_of(value)
    return value.hex() if text is None else text


def _json(value: dict[str, Any]) -> Answer:
    return Answer("application/json", json.dumps(value, allow_nan=False).encode())


def _asset(name: str) -> Answer:
    content = resources.files(__package__).joinpath("assets").joinpath(name).read_bytes()
    return Answer(f"{_TYPES[os.path.splitext(name)[1]]}; charset=utf-8", content)
