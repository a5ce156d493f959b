"""Ranges through fsspec's HTTP and S3 with the headers of the answers, which fsspec itself drops."""

from __future__ import annotations

import datetime
import email.utils
import errno
import re
from collections.abc import AsyncIterable, Callable, Iterator
from typing import Any

from ...base.optional import optional
from .errors import NO_RANGE, NO_SIZE
from .store import Answer, Buffer

_PLACED = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_UNPLACED = re.compile(r"bytes \*/(\d+)")  # beyond the end
_PIECE = 1 << 20  # bytes
_Stamp = tuple[str | None, float | None]  # tag and time
_TAGS = ("ETag", "etag", "e_tag", "content-md5", "md5Hash", "generation")
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "created", "updated", "modify", "date_time")


def request_of(system: Any) -> Callable[[str, int, int], Answer] | None:
    """Return a function (key, start, end) -> Answer; None for other file systems than HTTP and S3."""
    request = _http if is_http(system) else _s3 if _is_a(system, "S3FileSystem") else None
    if request is None:
        return None
    sync = optional("fsspec.asyn", "URLs need fsspec").sync
    # A forked process has no event loop: `system.loop` raises there.
    return lambda key, start, end: sync(system.loop, request, system, key, start, end)


def is_http(system: Any) -> bool:
    return _is_a(system, "HTTPFileSystem")


def _is_a(system: Any, name: str) -> bool:
    return any(base.__name__ == name for base in type(system).__mro__)


async def _http(system: Any, key: str, start: int, end: int) -> Answer:
    session = await system.set_session()
    options = {**system.kwargs}
    own = {"Accept-Encoding": "identity", "Range": f"bytes={start}-{end - 1}"}
    headers = {**options.pop("headers", {}), **own}
    async with session.get(system.encode_url(key), headers=headers, auto_decompress=False, **options) as response:
        stamp = tag_and_time(response.headers)
        announced = response.headers.get("Content-Range", "")
        if response.status == 416 and (match := _UNPLACED.fullmatch(announced)):
            return Answer(0, 0, int(match[1]), *stamp, [])
        response.raise_for_status()
        length, chunks = response.content_length, response.content.iter_chunked(_PIECE)
        if response.status == 206 or announced:
            return await _part(announced, length, stamp, chunks, end)
        return await _whole(length, stamp, chunks, start, end)


async def _s3(system: Any, key: str, start: int, end: int) -> Answer:
    bucket, name, version = system.split_path(key)
    options = {"Range": f"bytes={start}-{end - 1}"}
    if version:
        options["VersionId"] = version
    ask = getattr(system, "_call_s3")  # noqa: B009 - the public `call_s3` is not asynchronous
    response = await ask("get_object", Bucket=bucket, Key=name, **system.req_kw, **options)
    length, stamp = response.get("ContentLength"), tag_and_time(response)
    async with response["Body"] as body:
        announced = response.get("ContentRange", "")
        if response["ResponseMetadata"]["HTTPStatusCode"] == 206 or announced:
            return await _part(announced, length, stamp, body.iter_chunks(_PIECE), end)
        return await _whole(length, stamp, body.iter_chunks(_PIECE), start, end)


async def _whole(length: int | None, stamp: _Stamp, chunks: AsyncIterable[bytes], start: int, end: int) -> Answer:
    """Return the answer of a server that ignores ranges, without the pieces before `start` and after `end`."""
    if length is None:
        raise OSError(errno.ENOTSUP, NO_SIZE)
    return await _received(chunks, start, end, Answer(0, length, length, *stamp, []))


async def _part(announced: str, length: int | None, stamp: _Stamp, chunks: AsyncIterable[bytes], end: int) -> Answer:
    match = _PLACED.fullmatch(announced)
    if match is None:
        raise OSError(errno.EIO, NO_RANGE)
    begin, stop, size = int(match[1]), int(match[2]) + 1, None if match[3] == "*" else int(match[3])
    if length not in (None, stop - begin) or (size is not None and stop > size):
        raise OSError(errno.EIO, "the store's answer contradicts its Content-Range")
    return await _received(chunks, begin, end, Answer(begin, stop, size, *stamp, []))


async def _received(chunks: AsyncIterable[bytes], start: int, end: int, answer: Answer) -> Answer:
    """Return the answer with the pieces from `start` to `end`. Those that came before an error precede it."""
    pieces: list[bytes | Exception] = []
    position = begin = answer.start
    try:
        async for chunk in chunks:
            position += len(chunk)
            if position > start:
                pieces.append(chunk)
            else:
                begin = position
            if position >= end:
                break
    except Exception as error:
        pieces.append(error)
    return answer._replace(start=begin, pieces=_replayed(pieces))


def _replayed(pieces: list[bytes | Exception]) -> Iterator[Buffer]:
    for piece in pieces:
        if isinstance(piece, Exception):
            raise piece
        yield piece


def tag_and_time(details: Any) -> _Stamp:
    """Return the tag and the time of the last change, as far as a file system's details or headers have them."""
    tag = next((str(details[name]) for name in _TAGS if details.get(name)), "").replace('"', "")
    time = next((details[name] for name in _TIMES if details.get(name)), None)
    if isinstance(time, int | float) or time is None:
        return tag or None, time if time is None else float(time)
    if hasattr(time, "timestamp"):
        return tag or None, float(time.timestamp())
    for parse in (email.utils.parsedate_to_datetime, datetime.datetime.fromisoformat):
        try:
            return tag or None, parse(str(time)).timestamp()
        except ValueError:
            pass
    return tag or str(time), None
