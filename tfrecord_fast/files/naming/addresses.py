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

# Kinds of signatures: the hosts that have them, the parameters that belong to each, and those that a few have.
_V4 = "{0}-algorithm {0}-credential {0}-date {0}-expires {0}-signature {0}-signedheaders"
_SIGNATURES = [
    (r".*", _V4.format("x-amz"), "x-amz-security-token"),
    (r".*", _V4.format("x-goog"), ""),
    (r"(?:.*\.)?amazonaws\.com", "awsaccesskeyid expires signature", "x-amz-security-token"),
    (r"(?:.*\.)?storage\.googleapis\.com", "googleaccessid expires signature", ""),
    (r".*\.cloudfront\.net", "key-pair-id signature", "expires policy"),
    (
        r".*\.(?:blob|dfs)\.core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)",
        "sig sv",
        "se sip ske skoid sks skt sktid skv sp spr sr srt ss st",
    ),
]
_BUCKETS = ("s3", "s3a", "gs", "gcs", "az", "abfs")  # schemes in which the first name has objects, and is none


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


def is_folder_name(url: str) -> bool:
    """Return True if the URL ends in "/", or names a bucket alone. In HTTP, "/" is a part of the name."""
    name = next((link for link in url.split("::") if "://" in link), url)
    scheme, _, rest = name.lower().partition("://")
    return (name.endswith("/") and scheme not in ("http", "https")) or (scheme in _BUCKETS and "/" not in rest)


def names_several(url: str) -> bool:
    """Return True for the URL of a pattern or a folder."""
    return is_pattern(url) or is_folder_name(url)


def _without_query(url: str) -> str:
    if url.partition("://")[0].lower() in _QUERIES:
        return re.split(r"[?#]", url, maxsplit=1)[0]
    return url


def unsigned(url: str) -> str:
    """Remove the parameters of a known store's signature, which change each time. All others name the object."""
    path = _without_query(url)
    if path == url:
        return url
    query = url[len(path) :].partition("#")[0].removeprefix("?").split("&")
    names = {parameter.partition("=")[0].lower() for parameter in query}
    host = _USER.sub(r"\1", path).partition("://")[2].partition("/")[0].partition(":")[0].lower()
    for hosts, required, optional in _SIGNATURES:
        if names.issuperset(required.split()) and re.fullmatch(hosts, host):
            known = f"{required} {optional}".split()
            query = [parameter for parameter in query if parameter.partition("=")[0].lower() not in known]
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
