"""URLs of objects: their parts, and how to show them without credentials."""

from __future__ import annotations

import re
from typing import NamedTuple

WILD = re.compile(r"[*?\[]")

# A user with a password, which may contain "@", or without. In `host:80/a@b` there is a port and no password.
_USER = re.compile(r"^([A-Za-z][\w.+-]*://)(?:(?!\[)[^/:@]*:(?!\d*(?:/|$)).*@|[^/]*@)")
# The end of a key that looks like a signed query.
_SIGNED = re.compile(r"[?#](?=.*(?:sig|signature|token|secret|password)=).*", re.IGNORECASE | re.DOTALL)
_AZURE = {"abfs", "abfss", "az", "adl", "azure"}
_QUERIES = {"http", "https", "ftp", "webdav", "webhdfs"}  # elsewhere a "?" is part of a key

# A query with one of these parameters is signed, and the others of the signature don't name the object either.
_SIGNATURE = re.compile(r"x-(?:amz|goog)-signature|sig|signature", re.IGNORECASE)
_SIGNATURE_PARAMETERS = re.compile(
    r"x-amz-(?:algorithm|credential|date|expires|security-token|signature|signedheaders)"
    r"|x-goog-(?:algorithm|credential|date|expires|signature|signedheaders)"
    r"|awsaccesskeyid|googleaccessid|expires|signature|policy|key-pair-id"
    r"|s[bpertv]|sig|sip|spr|ske|skoid|sks|skt|sktid|skv",
    re.IGNORECASE,
)


class Address(NamedTuple):
    """The parts of a URL without `::`."""

    scheme: str
    bucket: str  # or a container or a host
    key: str


def address_of(url: str) -> Address:
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    return Address(scheme.lower(), bucket, key)


def is_pattern(url: str) -> bool:
    """Return True if the URL has wildcards. In an HTTP URL, `?` begins the query."""
    return any(WILD.search(_without_query(link)) for link in url.split("::"))


def _without_query(url: str) -> str:
    if url.partition("://")[0].lower() in _QUERIES:
        return re.split(r"[?#]", url, maxsplit=1)[0]
    return url


def unsigned(url: str) -> str:
    """Remove the parameters that sign a URL and change with each signature."""
    path = _without_query(url)
    if path == url:
        return url
    query = url[len(path) :].partition("#")[0].removeprefix("?").split("&")
    if any(_SIGNATURE.fullmatch(parameter.partition("=")[0]) for parameter in query):
        query = [parameter for parameter in query if not _SIGNATURE_PARAMETERS.fullmatch(parameter.partition("=")[0])]
    return f"{path}?{'&'.join(query)}"


def public_url(url: str) -> str:
    """Remove everything from a URL that may be a credential: user names, passwords and queries."""
    return "::".join(_public(link) for link in url.split("::"))


def _public(url: str) -> str:
    scheme = url.partition("://")[0].lower()
    url = _SIGNED.sub("", _without_query(url))
    if scheme in _AZURE:  # container@account is a name
        return url
    return _USER.sub(r"\1", url)
