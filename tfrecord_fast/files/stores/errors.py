"""Errors of any library as Python's own, with the object's URL and nothing that may be a credential.

Of a library's text only what is known to be harmless is taken: a status, a code, a phrase from the list below. An
error's cause and context are cut off, since they hold the rest.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ...base.process import Origin
from ...errors import FailedPreconditionError, InvalidArgumentError, TFRecordError
from ..naming.addresses import public_url
from .threads import answered

__all__ = ["call", "changed", "check_process", "is_worth_another_try", "of_store", "os_error", "too_late"]

T = TypeVar("T")

_STATUS = re.compile(r"status(?: code)?\D{0,12}?\b([1-5]\d\d)\b|^([45]\d\d)\b", re.IGNORECASE)
_CODE = re.compile(r"<Code>([A-Za-z]{3,60})</Code>|\(([A-Z][A-Za-z]{3,60})\) when calling")
_ABSENT_CODES = {"NoSuchKey", "NoSuchBucket", "NoSuchUpload", "ContainerNotFound", "BlobNotFound", "NotFound"}
_DENIED_CODES = {
    "AccessDenied",
    "AuthenticationFailed",
    "AuthorizationFailure",
    "ExpiredToken",
    "Forbidden",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "Unauthorized",
}
_BUSY_CODES = {
    "InternalError",
    "RequestTimeout",
    "RequestTimeTooSkewed",
    "ServerBusy",
    "ServiceUnavailable",
    "SlowDown",
}
_BUSY = {408, 425, 429, 500, 502, 503, 504, 509}
_REDIRECTS = {301, 302, 307, 308}

# (in the text or the names of the types, kind, number, what is said)
_PHRASES: list[tuple[str, type[OSError], int, str]] = [
    ("dns error", ConnectionError, errno.ECONNREFUSED, "no such host"),
    ("failed to lookup", ConnectionError, errno.ECONNREFUSED, "no such host"),
    ("name or service not known", ConnectionError, errno.ECONNREFUSED, "no such host"),
    ("nodename nor servname", ConnectionError, errno.ECONNREFUSED, "no such host"),
    ("connection refused", ConnectionError, errno.ECONNREFUSED, "connection refused"),
    ("connect call failed", ConnectionError, errno.ECONNREFUSED, "connection refused"),
    ("connectionrefused", ConnectionError, errno.ECONNREFUSED, "connection refused"),
    ("cannot connect to host", ConnectionError, errno.ECONNREFUSED, "no connection to the host"),
    ("could not connect to the endpoint", ConnectionError, errno.ECONNREFUSED, "no connection to the host"),
    ("certificate", PermissionError, errno.EACCES, "the server's certificate was not accepted"),
    ("unable to locate credentials", PermissionError, errno.EACCES, "no credentials were found"),
    ("nocredentials", PermissionError, errno.EACCES, "no credentials were found"),
    ("credential", PermissionError, errno.EACCES, "the credentials can't be used"),
    ("169.254.169.254", PermissionError, errno.EACCES, "no credentials were found"),
    ("metadata.google.internal", PermissionError, errno.EACCES, "no credentials were found"),
    ("oauth", PermissionError, errno.EACCES, "no credentials were found"),
    ("timed out", TimeoutError, errno.ETIMEDOUT, "the request took too long"),
    ("timeout", TimeoutError, errno.ETIMEDOUT, "the request took too long"),
    ("incorrectly configured region", OSError, errno.EINVAL, "the bucket is in another region"),
    ("wrong region", OSError, errno.EINVAL, "the bucket is in another region"),
    ("error sending request", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("http error", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("decoding response body", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("clientpayload", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("serverdisconnected", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("incompleteread", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("connection reset", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("connection closed", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("connectionclosed", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("connectionerror", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("clientoserror", ConnectionError, errno.ECONNRESET, "the connection broke"),
    ("end of file before message length", ConnectionError, errno.ECONNRESET, "the connection broke"),
]


def call(url: str, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What the function gives; an error of it as `os_error` has it, without the one that it was made from.

    What the handler of a signal raises meanwhile comes as it is, at once: the function may go on for a while then.
    """

    def outcome() -> tuple[T | None, Exception | None]:
        try:
            return function(*args, **kwargs), None
        except Exception as error:
            return None, of_store(os_error(error, url))

    value, failed = answered(outcome)
    if failed is not None:
        raise failed
    return cast(T, value)


def of_store(error: Exception) -> Exception:
    """The error, marked as one that a store gave. Others of the same classes may be raised by handlers of signals."""
    vars(error)["of_store"] = True
    return error


def os_error(error: Exception, url: str) -> Exception:
    """An error of a library as Python's, about the object at `url`. Errors of this package stay what they are."""
    if isinstance(error, TFRecordError | MemoryError):
        return error
    url = public_url(url)
    if isinstance(error, OSError) and error.errno == errno.ESTALE:
        return changed(url)
    if isinstance(error, ImportError):
        return InvalidArgumentError(f"{url}: no file system for this URL: {error.name or 'its library'} is missing")
    name = type(error).__name__
    if name == "UnknownConfigurationKeyError":
        key = re.search(r"key: '([\w.-]+)'", str(error))
        return InvalidArgumentError(f"{url}: storage_options: no such option{f' {key[1]!r}' if key else ''}")
    if name == "InvalidPathError":
        return _unnameable(str(error), url)
    return _by_kind(error, name, url) or _by_status(error, url) or _by_phrase(error, url) or _unknown(error, name, url)


def _unnameable(text: str, url: str) -> OSError:
    key = re.search(r"Path \"([^\"]*)\"", text)
    said = f"the key {public_url(key[1])!r}" if key else "a key"
    why = "an empty part" if "empty" in text else "a character that the library does not take"
    return OSError(errno.EINVAL, f"{said} has {why}, and so nothing beside it can be listed", url)


def changed(url: str) -> OSError:
    """The error about an object that is no longer what it was."""
    return OSError(errno.ESTALE, "the object changed while it was read", public_url(url))


def too_late(url: str, seconds: float) -> TimeoutError:
    """The error about an answer that did not come in time."""
    return TimeoutError(errno.ETIMEDOUT, f"no answer within {seconds:g} seconds", public_url(url))


def check_process(origin: Origin, url: str) -> None:
    """Raises FailedPreconditionError in a process that was forked from that of `origin`."""
    if not origin.is_here():
        raise FailedPreconditionError(f"{url}: it belongs to the process that this one was forked from")


def is_worth_another_try(error: BaseException, tried: int) -> bool:
    """Whether it is a store's and may go away. A host that is not there, or refuses, is asked only twice more."""
    if not isinstance(error, ConnectionError | TimeoutError) or "of_store" not in vars(error):
        return False
    return tried < 3 or error.errno != errno.ECONNREFUSED


def _by_kind(error: Exception, name: str, url: str) -> Exception | None:
    """By the class, where that says enough."""
    if isinstance(error, FileNotFoundError) or name in ("NotFoundError", "ResourceNotFoundError", "NoSuchKey"):
        what = "no such bucket" if "NoSuchBucket" in str(error) else "no such object"
        return FileNotFoundError(errno.ENOENT, what, url)
    if isinstance(error, FileExistsError) or name == "AlreadyExistsError":
        return FileExistsError(errno.EEXIST, "the object exists already", url)
    if isinstance(error, IsADirectoryError | NotADirectoryError):
        return type(error)(error.errno, error.strerror or "not an object", url)
    if name in ("PermissionDeniedError", "UnauthenticatedError", "NoCredentialsError", "ClientAuthenticationError"):
        return PermissionError(errno.EACCES, f"permission denied{_said(error)}", url)
    if name == "PreconditionError":
        return changed(url)
    if isinstance(error, PermissionError):
        return PermissionError(errno.EACCES, f"permission denied{_said(error)}", url)
    if name == "gaierror":
        return ConnectionError(errno.ECONNREFUSED, "no such host", url)
    # asyncio's, before Python 3.11, was not Python's own.
    if isinstance(error, TimeoutError) or name in ("TimeoutError", "FSTimeoutError", "ReadTimeoutError"):
        return TimeoutError(errno.ETIMEDOUT, "the request took too long", url)
    return None


def _by_status(error: Exception, url: str) -> OSError | None:
    status, code = _status_of(error), _code_of(error)
    said = _said(error)
    if status == 404 or code in _ABSENT_CODES:
        return FileNotFoundError(errno.ENOENT, "no such bucket" if code == "NoSuchBucket" else "no such object", url)
    if status in (401, 403) or code in _DENIED_CODES:
        return PermissionError(errno.EACCES, f"permission denied{said}", url)
    if status == 412:
        return changed(url)
    if status in _BUSY or code in _BUSY_CODES:
        return ConnectionError(errno.ECONNABORTED, f"the server is busy, or failed{said}", url)
    if status in _REDIRECTS:
        return OSError(errno.EINVAL, f"the bucket is elsewhere: its region or the endpoint is wrong{said}", url)
    if status is not None and status >= 400:
        return OSError(errno.EIO, f"the store refused{said}", url)
    return None


def _by_phrase(error: Exception, url: str) -> OSError | None:
    text = " ".join(f"{type(one).__name__} {one}" for one in _chain(error)).lower()
    text = text.replace("retry_timeout", "")  # a setting that obstore prints with every error
    for phrase, kind, number, message in _PHRASES:
        if phrase in text:
            return kind(number, message, url)
    return None


def _unknown(error: Exception, name: str, url: str) -> Exception:
    if isinstance(error, ConnectionError):
        return ConnectionError(error.errno or errno.ECONNRESET, "the connection broke", url)
    if isinstance(error, OSError):
        return OSError(error.errno or errno.EIO, error.strerror if error.errno else "input/output error", url)
    if isinstance(error, ValueError | TypeError | NotImplementedError):
        return InvalidArgumentError(f"{url}: the store's library does not take this ({name})")
    return OSError(errno.EIO, f"the store failed ({name})", url)


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it came from."""
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in found and len(found) < 8:
        found.append(one)
        one = one.__cause__ or one.__context__
    return found


def _status_of(error: BaseException) -> int | None:
    for one in _chain(error):
        for value in (getattr(one, "status", None), getattr(one, "status_code", None), getattr(one, "code", None)):
            number = int(value) if isinstance(value, int | str) and str(value).isdigit() else 0
            if 100 <= number < 600:
                return number
        response = getattr(one, "response", None)
        if isinstance(response, dict):
            number = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            if isinstance(number, int):
                return number
        found = _STATUS.search(str(one))
        if found:
            return int(found[1] or found[2])
    return None


def _code_of(error: BaseException) -> str | None:
    for one in _chain(error):
        response = getattr(one, "response", None)
        if isinstance(response, dict):
            code = str(response.get("Error", {}).get("Code") or "")
            if re.fullmatch(r"[A-Za-z]{3,60}", code):
                return code
        found = _CODE.search(str(one))
        if found:
            return found[1] or found[2]
    return None


def _said(error: BaseException) -> str:
    """The status and the code, in brackets; nothing if there are none."""
    words = [str(word) for word in (_status_of(error), _code_of(error)) if word]
    return f" ({' '.join(words)})" if words else ""
