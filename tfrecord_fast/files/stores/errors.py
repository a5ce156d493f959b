"""Errors of the stores' libraries as Python's own, with the object's URL and without credentials.

Messages contain only harmless parts of a library's text: a status, a code, a phrase from the list below. An error has
no cause and no context, which would contain the rest.
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

T = TypeVar("T")

_STATUS = re.compile(r"status(?: code)?\D{0,12}?\b([1-5]\d\d)\b|^([45]\d\d)\b", re.IGNORECASE)
_CODE = re.compile(r"<Code>([A-Za-z]{3,60})</Code>|\(([A-Z][A-Za-z]{3,60})\) when calling")
_ABSENT_CODES = {"NoSuchKey", "NoSuchBucket", "NoSuchUpload", "ContainerNotFound", "BlobNotFound", "NotFound"}
_DENIED_CODES = set(
    "AccessDenied AuthenticationFailed AuthorizationFailure ExpiredToken Forbidden InvalidAccessKeyId InvalidToken "
    "SignatureDoesNotMatch Unauthorized".split()
)
_BUSY_CODES = set("InternalError RequestTimeout RequestTimeTooSkewed ServerBusy ServiceUnavailable SlowDown".split())
_BUSY = {408, 425, 429, 500, 502, 503, 504, 509}
_REDIRECTS = {301, 302, 307, 308}

_EXISTS = "the object already exists"
_TOOK_TOO_LONG = "the request took too long"
_BROKEN = "the connection broke"
NO_SIZE = "the store does not report the size of the object"
NO_RANGE = "the store does not say which range it returned"
# Errors about the bytes of an answer. aiohttp's have a status, 400, which no server sent.
_CUT_ANSWERS = {"ClientPayloadError", "ContentLengthError", "TransferEncodingError", "IncompleteReadError"}

# The class, number and message of an error whose text or type names match; the first match counts.
_PHRASES: list[tuple[type[OSError], int, str, str]] = [
    (ConnectionError, errno.ECONNREFUSED, "no such host", "dns error|failed to lookup|name or service not known"),
    (ConnectionError, errno.ECONNREFUSED, "no such host", "nodename nor servname"),
    (ConnectionError, errno.ECONNREFUSED, "connection refused", "connection refused|connect call failed"),
    (ConnectionError, errno.ECONNREFUSED, "connection refused", "connectionrefused"),
    (ConnectionError, errno.ECONNREFUSED, "no connection to the host", "cannot connect to host"),
    (ConnectionError, errno.ECONNREFUSED, "no connection to the host", "could not connect to the endpoint"),
    (PermissionError, errno.EACCES, "the server's certificate was rejected", "certificate"),
    (PermissionError, errno.EACCES, "no credentials were found", "unable to locate credentials|nocredentials"),
    (PermissionError, errno.EACCES, "the credentials can't be used", "credential"),
    (PermissionError, errno.EACCES, "no credentials were found", "169.254.169.254|metadata.google.internal|oauth"),
    (TimeoutError, errno.ETIMEDOUT, _TOOK_TOO_LONG, "timed out|timeout"),
    (OSError, errno.EINVAL, "the bucket is in another region", "incorrectly configured region|wrong region"),
    (OSError, errno.ENOTSUP, NO_SIZE, "content-length header missing|keyerror 'contentlength'"),
    (OSError, errno.EIO, NO_RANGE, "content-range header not present"),
    (OSError, errno.EIO, "the store returned another range than requested", r"requested \d+\.\.\d+, got"),
    (ConnectionError, errno.ECONNRESET, _BROKEN, "error sending request|http error|decoding response body"),
    (ConnectionError, errno.ECONNRESET, _BROKEN, "clientpayload|serverdisconnected|incompleteread|clientoserror"),
    (ConnectionError, errno.ECONNRESET, _BROKEN, "connection ?(reset|closed)|connectionerror"),
    (ConnectionError, errno.ECONNRESET, _BROKEN, "end of file before message length"),
]


def call(url: str, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call the function on a thread and return its result; its errors are converted by `os_error`.

    An exception raised by a signal handler interrupts the wait at once and unchanged; the function may continue.
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
    """Mark an error as a store's. Signal handlers may raise unmarked errors of the same classes."""
    vars(error)["of_store"] = True
    return error


def os_error(error: Exception, url: str) -> Exception:
    """Convert a library's error about the object at `url` to Python's. Errors of this package stay as they are."""
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
    return _by_class(error, name, url) or _by_status(error, url) or _by_phrase(error, url) or _unknown(error, name, url)


def _unnameable(text: str, url: str) -> OSError:
    key = re.search(r"Path \"([^\"]*)\"", text)
    name = f"the key {public_url(key[1])!r}" if key else "a key"
    reason = "an empty part" if "empty" in text else "a character that the library does not support"
    return OSError(errno.EINVAL, f"cannot list: {name} has {reason}", url)


def changed(url: str) -> OSError:
    return OSError(errno.ESTALE, "the object changed while it was read", public_url(url))


def too_late(url: str, seconds: float) -> TimeoutError:
    return TimeoutError(errno.ETIMEDOUT, f"no answer within {seconds:g} seconds", public_url(url))


def check_process(origin: Origin, url: str) -> None:
    """Raise FailedPreconditionError in a process that was forked from that of `origin`."""
    if not origin.is_here():
        raise FailedPreconditionError(f"{url}: opened by the parent process; open it again in the forked process")


def is_worth_another_try(error: BaseException, tried: int) -> bool:
    """Return True if a retry may help. A refused connection is retried at most twice."""
    if not isinstance(error, ConnectionError | TimeoutError) or "of_store" not in vars(error):
        return False
    return tried < 3 or error.errno != errno.ECONNREFUSED


def _by_class(error: Exception, name: str, url: str) -> Exception | None:
    if isinstance(error, FileNotFoundError) or name in ("NotFoundError", "ResourceNotFoundError", "NoSuchKey"):
        message = "no such bucket" if "NoSuchBucket" in str(error) else "no such object"
        return FileNotFoundError(errno.ENOENT, message, url)
    if isinstance(error, FileExistsError) or name == "AlreadyExistsError":
        return FileExistsError(errno.EEXIST, _EXISTS, url)
    if isinstance(error, IsADirectoryError | NotADirectoryError):
        return type(error)(error.errno, error.strerror or "not an object", url)
    if name == "PreconditionError":
        return changed(url)
    denied = ("PermissionDeniedError", "UnauthenticatedError", "NoCredentialsError", "ClientAuthenticationError")
    if isinstance(error, PermissionError) or name in denied:
        return PermissionError(errno.EACCES, f"permission denied{_details(error)}", url)
    if name == "gaierror":
        return ConnectionError(errno.ECONNREFUSED, "no such host", url)
    # Before Python 3.11, asyncio had a TimeoutError of its own.
    if isinstance(error, TimeoutError) or name in ("TimeoutError", "FSTimeoutError", "ReadTimeoutError"):
        return TimeoutError(errno.ETIMEDOUT, _TOOK_TOO_LONG, url)
    return None


def _by_status(error: Exception, url: str) -> OSError | None:
    if any(type(link).__name__ in _CUT_ANSWERS for link in _chain(error)):
        return ConnectionError(errno.ECONNRESET, _BROKEN, url)
    status, code = _status_of(error), _code_of(error)
    details = _details(error)
    if status == 404 or code in _ABSENT_CODES:
        return FileNotFoundError(errno.ENOENT, "no such bucket" if code == "NoSuchBucket" else "no such object", url)
    if status in (401, 403) or code in _DENIED_CODES:
        return PermissionError(errno.EACCES, f"permission denied{details}", url)
    if status == 412:
        return changed(url)
    if status in _BUSY or code in _BUSY_CODES:
        return ConnectionError(errno.ECONNABORTED, f"the server is busy or failed{details}", url)
    if status in _REDIRECTS:
        return OSError(errno.EINVAL, f"the bucket is elsewhere; check its region and the endpoint{details}", url)
    if status is not None and status >= 400:
        return OSError(errno.EIO, f"the store refused{details}", url)
    return None


def _by_phrase(error: Exception, url: str) -> OSError | None:
    text = " ".join(f"{type(link).__name__} {link}" for link in _chain(error)).lower()
    text = text.replace("retry_timeout", "")  # a setting that obstore prints with every error
    for error_class, number, message, phrases in _PHRASES:
        if re.search(phrases, text):
            return error_class(number, message, url)
    return None


def _unknown(error: Exception, name: str, url: str) -> Exception:
    if isinstance(error, ConnectionError):
        return ConnectionError(error.errno or errno.ECONNRESET, _BROKEN, url)
    if isinstance(error, OSError):
        return OSError(error.errno or errno.EIO, error.strerror if error.errno else "input/output error", url)
    if isinstance(error, ValueError | TypeError | NotImplementedError):
        return InvalidArgumentError(f"{url}: the store's library rejected an argument ({name})")
    return OSError(errno.EIO, f"the store failed ({name})", url)


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error, its cause, the cause of that, and so on; at most eight."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain and len(chain) < 8:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return chain


def _status_of(error: BaseException) -> int | None:
    for link in _chain(error):
        for value in (getattr(link, name, None) for name in ("status", "status_code", "code")):
            number = int(value) if isinstance(value, int | str) and str(value).isdigit() else 0
            if 100 <= number < 600:
                return number
        response = getattr(link, "response", None)
        if isinstance(response, dict):
            number = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            if isinstance(number, int):
                return number
        match = _STATUS.search(str(link))
        if match:
            return int(match[1] or match[2])
    return None


def _code_of(error: BaseException) -> str | None:
    for link in _chain(error):
        response = getattr(link, "response", None)
        if isinstance(response, dict):
            code = str(response.get("Error", {}).get("Code") or "")
            if re.fullmatch(r"[A-Za-z]{3,60}", code):
                return code
        match = _CODE.search(str(link))
        if match:
            return match[1] or match[2]
    return None


def _details(error: BaseException) -> str:
    words = [str(word) for word in (_status_of(error), _code_of(error)) if word]
    return f" ({' '.join(words)})" if words else ""
