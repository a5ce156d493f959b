"""URLs of objects: their parts, and how they may be shown."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Address", "address_of", "is_pattern", "public_url", "unsigned"]

# A user and a password, which may hold an "@"; or a "/", where what looks like a port is none.
_USER = re.compile(r"^([A-Za-z][\w.+-]*://)(?:(?!\[)[^/:@]*:(?!\d*(?:/|$)).*@|[^/]*@)")
# What begins a key's end that looks like a signed query.
_SIGNED = re.compile(r"[?#](?=.*(?:sig|signature|token|secret|password)=).*", re.IGNORECASE | re.DOTALL)
_WILD = re.compile(r"[*?\[]")
_AZURE = {"abfs", "abfss", "az", "adl", "azure"}
_QUERIES = {"http", "https", "ftp", "webdav", "webhdfs"}  # elsewhere a "?" is part of a key


# Parameters of a query that sign a request for an object, and do not say which one it is, beside a signature.
_SIGNATURES = re.compile(r"x-(?:amz|goog)-signature|sig|signature", re.IGNORECASE)
_OF_SIGNATURES = re.compile(
    r"x-amz-(?:algorithm|credential|date|expires|security-token|signature|signedheaders)"
    r"|x-goog-(?:algorithm|credential|date|expires|signature|signedheaders)"
    r"|awsaccesskeyid|googleaccessid|expires|signature|policy|key-pair-id"
    r"|s[bpertv]|sig|sip|spr|ske|skoid|sks|skt|sktid|skv",
    re.IGNORECASE,
)


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


def unsigned(url: str) -> str:
    """The URL without the parameters that sign it: the same each time that an object's URL is signed."""
    path = _without_query(url)
    if path == url:
        return url
    query = url[len(path) :].partition("#")[0].removeprefix("?").split("&")
    if any(_SIGNATURES.fullmatch(one.partition("=")[0]) for one in query):
        query = [one for one in query if not _OF_SIGNATURES.fullmatch(one.partition("=")[0])]
    return f"{path}?{'&'.join(query)}"


def public_url(url: str) -> str:
    """The URL without what may be a credential: names of users and their passwords, and queries."""
    return "::".join(_public(part) for part in url.split("::"))


def _public(part: str) -> str:
    scheme = part.partition("://")[0].lower()
    part = _SIGNED.sub("", _without_query(part))
    if scheme in _AZURE:  # container@account is a name
        return part
    return _USER.sub(r"\1", part)
