"""`tf.errors`: the errors of the package, and classes that scripts name but nothing here raises."""

from ..errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    UnimplementedError,
)
from .modules import module_lazy_names

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL = range(8, 14)
UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(14, 17)
AlreadyExistsError = FileExistsError
PermissionDeniedError = PermissionError
DeadlineExceededError = TimeoutError
ResourceExhaustedError = MemoryError


class AbortedError(OpError):
    """Never raised."""


class CancelledError(OpError):
    """Never raised."""


class InternalError(OpError):
    """Never raised."""


class UnavailableError(OpError):
    """Never raised."""


class UnknownError(OpError):
    """Never raised."""


__all__ = [
    "ABORTED", "ALREADY_EXISTS", "CANCELLED", "DATA_LOSS", "DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "INTERNAL",
    "INVALID_ARGUMENT", "NOT_FOUND", "OK", "OUT_OF_RANGE", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED", "UNAVAILABLE", "UNIMPLEMENTED", "UNKNOWN", "AbortedError", "AlreadyExistsError",
    "CancelledError", "DataLossError", "DeadlineExceededError", "FailedPreconditionError", "InternalError",
    "InvalidArgumentError", "NotFoundError", "OpError", "OutOfRangeError", "PermissionDeniedError",
    "ResourceExhaustedError", "UnavailableError", "UnimplementedError", "UnknownError",
]  # fmt: skip
_names = module_lazy_names(__name__, {}, "tf.errors")
__getattr__ = _names.getattr
__dir__ = _names.dir
