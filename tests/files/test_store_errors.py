"""Which of Python's errors an error of a store's library becomes, by its class, its status, its code and its text."""

import errno
import socket

import pytest

import tfrecord_fast as tf
from tfrecord_fast.files.stores.errors import (
    changed,
    check_process,
    is_worth_another_try,
    of_store,
    os_error,
    too_late,
)

URL = "s3://bucket/key"
BROKEN = (ConnectionError, errno.ECONNRESET, "the connection broke")
BUSY = (ConnectionError, errno.ECONNABORTED)
DENIED = (PermissionError, errno.EACCES)
ABSENT = (FileNotFoundError, errno.ENOENT)


def named(name, text="", **fields):
    """An error of a class of that name, as a library has it that is not imported here."""
    error = type(name, (Exception,), {})(text)
    vars(error).update(fields)
    return error


def of_botocore(status=None, code=None):
    return named("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": status}, "Error": {"Code": code}})


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "number", "said"),
    [
        (FileNotFoundError("gone"), *ABSENT, "no such object"),
        (named("NotFoundError", "<Code>NoSuchBucket</Code>"), *ABSENT, "no such bucket"),
        (named("ResourceNotFoundError"), *ABSENT, "no such object"),
        (named("NoSuchKey"), *ABSENT, "no such object"),
        (FileExistsError("there"), FileExistsError, errno.EEXIST, "the object already exists"),
        (named("AlreadyExistsError"), FileExistsError, errno.EEXIST, "the object already exists"),
        (IsADirectoryError(21, "a folder"), IsADirectoryError, errno.EISDIR, "a folder"),
        (IsADirectoryError("x"), IsADirectoryError, None, "not an object"),
        (NotADirectoryError(20, "no folder"), NotADirectoryError, errno.ENOTDIR, "no folder"),
        (named("PermissionDeniedError"), *DENIED, "permission denied"),
        (named("UnauthenticatedError", "status code: 401"), *DENIED, "permission denied (401)"),
        (named("NoCredentialsError"), *DENIED, "permission denied"),
        (named("ClientAuthenticationError", status_code=403), *DENIED, "permission denied (403)"),
        (PermissionError(1, "<Code>AccessDenied</Code>"), *DENIED, "permission denied (AccessDenied)"),
        (named("PreconditionError"), OSError, errno.ESTALE, "the object changed while it was read"),
        (OSError(errno.ESTALE, "old"), OSError, errno.ESTALE, "the object changed while it was read"),
        (socket.gaierror(-2, "?"), ConnectionError, errno.ECONNREFUSED, "no such host"),
        (TimeoutError(), TimeoutError, errno.ETIMEDOUT, "the request took too long"),
        (named("FSTimeoutError"), TimeoutError, errno.ETIMEDOUT, "the request took too long"),
        (named("ReadTimeoutError"), TimeoutError, errno.ETIMEDOUT, "the request took too long"),
        (named("TimeoutError"), TimeoutError, errno.ETIMEDOUT, "the request took too long"),
    ],
)
def test_by_class(error, kind, number, said):
    found = os_error(error, URL)
    assert type(found) is kind and (found.errno, found.strerror, found.filename) == (number, said, URL)


@pytest.mark.parametrize(
    ("error", "kind", "number", "said"),
    [
        (of_botocore(404), *ABSENT, "no such object"),
        (of_botocore(404, "NoSuchBucket"), *ABSENT, "no such bucket"),
        (of_botocore(None, "BlobNotFound"), *ABSENT, "no such object"),
        (of_botocore(401), *DENIED, "permission denied (401)"),
        (of_botocore(403, "SignatureDoesNotMatch"), *DENIED, "permission denied (403 SignatureDoesNotMatch)"),
        (of_botocore(None, "ExpiredToken"), *DENIED, "permission denied (ExpiredToken)"),
        (of_botocore(412), OSError, errno.ESTALE, "the object changed while it was read"),
        (of_botocore(503), *BUSY, "the server is busy or failed (503)"),
        (of_botocore(None, "SlowDown"), *BUSY, "the server is busy or failed (SlowDown)"),
        (of_botocore(307), OSError, errno.EINVAL, "the bucket is elsewhere; check its region and the endpoint (307)"),
        (of_botocore(400), OSError, errno.EIO, "the store refused (400)"),
        (of_botocore(416, "InvalidRange"), OSError, errno.EIO, "the store refused (416 InvalidRange)"),
        (named("E", status=404), *ABSENT, "no such object"),
        (named("E", code="429"), *BUSY, "the server is busy or failed (429)"),
        (named("E", "403, message='no'"), *DENIED, "permission denied (403)"),
        (named("E", "An error (AccessDenied) when calling it"), *DENIED, "permission denied (AccessDenied)"),
        (caused(named("E", "?"), named("F", status_code=500)), *BUSY,
         "the server is busy or failed (500)"),
        (caused(named("E", "?"), of_botocore(None, "InvalidToken")), *DENIED, "permission denied (InvalidToken)"),
    ],
)  # fmt: skip
def test_by_status_and_code(error, kind, number, said):
    found = os_error(error, URL)
    assert type(found) is kind and (found.errno, found.strerror, found.filename) == (number, said, URL)


@pytest.mark.parametrize("status", [0, 99, 600, 4040, "x", "-404", None, 4.04])
@pytest.mark.parametrize("name", ["status", "status_code", "code"])
def test_what_is_no_status_is_none(name, status):
    assert os_error(named("E", **{name: status}), URL).strerror == "the store failed (E)"


@pytest.mark.parametrize("code", ["ab", "a" * 61, "with space", "secret=1", "", None])
def test_a_code_that_may_be_anything_is_not_shown(code):
    found = os_error(of_botocore(400, code), URL)
    assert found.strerror == "the store refused (400)"


@pytest.mark.parametrize("code", ["abc", "a" * 60])
def test_a_code_of_a_length_that_codes_have_is_shown(code):
    assert os_error(of_botocore(400, code), URL).strerror == f"the store refused (400 {code})"


@pytest.mark.parametrize(
    ("text", "kind", "number", "said"),
    [
        ("Name or service not known", ConnectionError, errno.ECONNREFUSED, "no such host"),
        ("Connect call failed", ConnectionError, errno.ECONNREFUSED, "connection refused"),
        ("Cannot connect to host x", ConnectionError, errno.ECONNREFUSED, "no connection to the host"),
        ("invalid peer certificate", *DENIED, "the server's certificate was rejected"),
        ("Unable to locate credentials", *DENIED, "no credentials were found"),
        ("bad credential file", *DENIED, "the credentials can't be used"),
        ("http://169.254.169.254/latest", *DENIED, "no credentials were found"),
        ("read timed out", TimeoutError, errno.ETIMEDOUT, "the request took too long"),
        ("wrong region", OSError, errno.EINVAL, "the bucket is in another region"),
        ("error decoding response body", *BROKEN),
        ("retry_timeout: 180s", OSError, errno.EIO, "the store failed (LibraryError)"),
    ],
)
def test_by_phrase(text, kind, number, said):
    found = os_error(named("LibraryError", text), URL)
    assert type(found) is kind and (found.errno, found.strerror, found.filename) == (number, said, URL)
    below = os_error(caused(named("LibraryError", "?"), named("Inner", text)), URL)
    assert (below.errno, below.strerror) == (number, said)


@pytest.mark.parametrize(
    ("error", "number", "said"),
    [
        (ConnectionError(), errno.ECONNRESET, "the connection broke"),
        (BrokenPipeError(errno.EPIPE, "?"), errno.EPIPE, "the connection broke"),
        (BrokenPipeError(), errno.ECONNRESET, "the connection broke"),
        (OSError(errno.ENOSPC, "full"), errno.ENOSPC, "full"),
        (OSError("secret"), errno.EIO, "input/output error"),
        (named("E", "secret"), errno.EIO, "the store failed (E)"),
    ],
)
def test_what_is_unknown(error, number, said):
    found = os_error(error, URL)
    assert (found.errno, found.strerror, found.filename) == (number, said, URL)
    assert isinstance(found, ConnectionError) == isinstance(error, ConnectionError)


@pytest.mark.parametrize("kind", [ValueError, TypeError, NotImplementedError])
def test_an_argument_that_a_library_does_not_take(kind):
    found = os_error(kind("secret"), URL)
    assert type(found) is tf.errors.InvalidArgumentError
    assert str(found) == f"{URL}: the store's library rejected an argument ({kind.__name__})"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("no", name="gcsfs"), "no file system for this URL: gcsfs is missing"),
        (ImportError("no"), "no file system for this URL: its library is missing"),
        (named("UnknownConfigurationKeyError", "key: 'nonsense'"), "storage_options: no such option 'nonsense'"),
        (named("UnknownConfigurationKeyError", "?"), "storage_options: no such option"),
    ],
)
def test_what_was_asked_for_is_wrong(error, said):
    found = os_error(error, "https://me:secret@host/key?sig=secret")
    assert type(found) is tf.errors.InvalidArgumentError and str(found) == f"https://host/key: {said}"


@pytest.mark.parametrize("error", [tf.errors.DataLossError("damaged"), MemoryError()])
def test_an_error_of_this_package_stays(error):
    assert os_error(error, URL) is error


def test_a_circle_of_causes_has_an_end():
    first, second = named("E", "?"), named("F", "?")
    first.__cause__, second.__cause__ = second, first
    assert os_error(first, URL).strerror == "the store failed (E)"


@pytest.mark.parametrize(("depth", "said"), [(7, "no such object"), (8, "the store failed (E)")])
def test_eight_errors_of_a_chain_are_looked_at(depth, said):
    error = named("E", status=404)
    for _ in range(depth):
        error = caused(named("E"), error)
    assert os_error(error, URL).strerror == said


def test_only_what_a_store_says_is_tried_again():
    error = ConnectionError(errno.ECONNRESET, "broke")
    assert not is_worth_another_try(error, 1)  # a handler of a signal may have raised it
    assert is_worth_another_try(of_store(error), 1) and is_worth_another_try(error, 99)
    refused = of_store(ConnectionError(errno.ECONNREFUSED, "refused"))
    assert [is_worth_another_try(refused, tried) for tried in (1, 2, 3, 4)] == [True, True, False, False]
    assert is_worth_another_try(of_store(TimeoutError()), 1)
    assert not is_worth_another_try(of_store(FileNotFoundError()), 1)


def test_late_and_changed_say_so():
    late, other = too_late("https://me:secret@host/a", 2.5), changed("https://me:secret@host/a")
    assert (late.errno, late.strerror, late.filename) == (
        errno.ETIMEDOUT,
        "no answer within 2.5 seconds",
        "https://host/a",
    )
    assert (other.errno, other.filename) == (errno.ESTALE, "https://host/a")


class Elsewhere:
    """The origin of what a process has that this one was forked from."""

    def is_here(self):
        return False


def test_what_belongs_to_another_process_is_refused():
    with pytest.raises(tf.errors.FailedPreconditionError, match=f"^{URL}: opened by the parent process"):
        check_process(Elsewhere(), URL)
