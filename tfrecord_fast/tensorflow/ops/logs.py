"""`tf.logging`: a logger of Python's, "tfrecord_fast"."""

from __future__ import annotations

import logging

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "debug", "error", "fatal", "get_verbosity", "info", "log",
    "set_verbosity", "warn", "warning",
]  # fmt: skip

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.FATAL
_logger = logging.getLogger("tfrecord_fast")
debug, info, error, fatal = _logger.debug, _logger.info, _logger.error, _logger.critical
warn = warning = _logger.warning
log = _logger.log


def set_verbosity(v: int | str) -> None:
    """What is less important than this is not logged."""
    _logger.setLevel(v)


def get_verbosity() -> int:
    """What is less important than this is not logged."""
    return _logger.getEffectiveLevel()
