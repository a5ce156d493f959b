"""`tensorflow.core`, from which scripts import the messages of Examples."""

from . import example

__all__ = ["example"]
