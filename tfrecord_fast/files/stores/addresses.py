"""URLs of objects: their parts, and how they may be shown."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Address", "address_of", "is_pattern", "public_url"]

_USER = re.compile(r"^([A-Za-z][\w.+-]*://)[^/@]*@")
_WILD = re.compile(r"[*?\[]")
_AZURE = {"abfs", "abfss", "az", "adl", "azure"}
_QUERIES = {"http", "https", "ftp", "webdav", "webhdfs"}  # elsewhere a "?" is part of a key


class Address(NamedTuple):
    """The parts of a URL without `::`."""

    scheme: str
    place: str  # a bucket, a container or a host
    key: str


def address_of(url: str) -> Address:
    """The parts of `scheme://place/key`."""
    scheme, _, rest = url.partition("://")
    place, _, key = rest.partition("/")
    return Address(scheme.lower(), place, key)


def is_pattern(url: str) -> bool:
    """Whether it stands for the objects that match it. In a URL of HTTP, `?` begins the query, which is no pattern."""
    return any(_WILD.search(_without_query(part)) for part in url.split("::"))


def _without_query(part: str) -> str:
    if part.partition("://")[0].lower() in _QUERIES:
        return re.split(r"[?#]", part, maxsplit=1)[0]
    return part


def public_url(url: str) -> str:
    """The URL without what may be a credential: names of users and their passwords, and queries."""
    return "::".join(_public(part) for part in url.split("::"))


def _public(part: str) -> str:
    scheme = part.partition("://")[0].lower()
    if scheme in _AZURE:  # container@account is a name
        return part
    return _USER.sub(r"\1", _without_query(part))
