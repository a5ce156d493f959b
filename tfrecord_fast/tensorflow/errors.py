"""`tf.errors` of the face: the package's errors, and those that only scripts name."""

from ..errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    UnimplementedError,
)
from .fallback import face_names

AlreadyExistsError = FileExistsError
PermissionDeniedError = PermissionError
DeadlineExceededError = TimeoutError
ResourceExhaustedError = MemoryError


class AbortedError(OpError):
    """Raised by nothing here."""


class CancelledError(OpError):
    """Raised by nothing here."""


class InternalError(OpError):
    """Raised by nothing here."""


class UnavailableError(OpError):
    """Raised by nothing here."""


class UnknownError(OpError):
    """Raised by nothing here."""


__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]
_names = face_names(__name__, "tf.errors")
__getattr__ = _names.getattr
__dir__ = _names.dir
