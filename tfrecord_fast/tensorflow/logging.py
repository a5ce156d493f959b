"""`tf.logging` of the face: Python's own logging."""

from .fallback import face_names
from .ops.logs import (
    DEBUG,
    ERROR,
    FATAL,
    INFO,
    WARN,
    debug,
    error,
    fatal,
    get_verbosity,
    info,
    log,
    set_verbosity,
    warn,
    warning,
)

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "get_verbosity",
    "info",
    "log",
    "set_verbosity",
    "warn",
    "warning",
]

_names = face_names(__name__, "tf.compat.v1.logging")
__getattr__ = _names.getattr
__dir__ = _names.dir
