"""What the package raises, besides Python's own OSError, TypeError and ValueError.

TensorFlow's names are kept where code catches them: `NotFoundError` is `FileNotFoundError`, `OpError` is the base.
"""

from __future__ import annotations

__all__ = [
    "DataLossError",
    "FailedPreconditionError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "TFRecordError",
    "UnimplementedError",
]


class TFRecordError(Exception):
    """Base of the package's own errors.

    Args:
      args: the text; or, as of TensorFlow's errors, two things that have no meaning here, and the text.
      message: the text, by the name by which a PyTorch DataLoader gives it to an error that was raised in a worker.
    """

    def __init__(self, *args: object, message: str | None = None) -> None:
        if len(args) in (3, 4) and args[:2] == (None, None) and isinstance(args[2], str):
            args = args[2:3]
        super().__init__(*(args if message is None else (message,)))

    op = node_def = None  # what TensorFlow's errors have

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self)


class DataLossError(TFRecordError):
    """A file is damaged, truncated, or no TFRecord file.

    Args:
      path: the file, or None where it is not known (a stream without a name).
      offset: where the damaged record starts, in bytes of the uncompressed stream; None where not known.
      record_index: the index of that record in its file, from 0; None where not known.
      reason: what is wrong.
      message: instead of the four, the whole text, which is then the reason.

    The first four are attributes.
    """

    def __init__(
        self,
        path: str | None = None,
        offset: int | None = None,
        record_index: int | None = None,
        reason: str = "",
        *,
        message: str | None = None,
    ) -> None:
        reason = reason if message is None else message
        if isinstance(record_index, str):  # TensorFlow's order: node_def, op, message
            record_index, reason = None, record_index
        super().__init__(path, offset, record_index, reason)
        self.path = path
        self.offset = offset
        self.record_index = record_index
        self.reason = reason

    def __str__(self) -> str:
        text = self.reason if self.path is None else f"{self.path}: {self.reason}"
        if self.record_index is not None and self.offset is not None:
            return f"{text} (record {self.record_index} at byte {self.offset})"
        return text


class InvalidArgumentError(TFRecordError, ValueError):
    """Records do not fit the requested features, or an argument is out of range. Also a ValueError."""


class FailedPreconditionError(TFRecordError, ValueError):
    """An object is used in a state that does not allow it: a writer after close. Also a ValueError."""


class OutOfRangeError(TFRecordError, IndexError):
    """A place after the end was asked for. Also an IndexError."""


class UnimplementedError(TFRecordError, NotImplementedError):
    """There is no such operation on values of this kind. Also a NotImplementedError."""


OpError = TFRecordError
NotFoundError = FileNotFoundError
