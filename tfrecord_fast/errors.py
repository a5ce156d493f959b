"""The package's errors, beside Python's OSError, TypeError and ValueError.

Names that code for TensorFlow catches exist: `NotFoundError` is `FileNotFoundError`, `OpError` is the base class.
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
      args: the text; or, as for TensorFlow's errors, two ignored values and the text.
      message: the text, under the name that a PyTorch DataLoader uses for errors from its workers.
    """

    def __init__(self, *args: object, message: str | None = None) -> None:
        if len(args) in (3, 4) and args[:2] == (None, None) and isinstance(args[2], str):
            args = args[2:3]
        super().__init__(*(args if message is None else (message,)))

    op = node_def = None  # attributes of TensorFlow's errors

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self)


class DataLossError(TFRecordError):
    """A file is damaged, truncated, or not a TFRecord file.

    Args:
      path: the file; None if unknown (a stream without a name).
      offset: the start of the damaged record, in bytes of the uncompressed stream; None if unknown.
      record_index: the index of that record in its file, from 0; None if unknown.
      reason: the fault.
      message: the whole text, instead of the other arguments; it becomes the reason.

    The first four are attributes.

    >>> import tfrecord_fast as tf
    >>> try:
    ...     list(tf.TFRecordDataset(bytearray(b"text, and not records")))
    ... except DataLossError as error:
    ...     print(error.offset, error.record_index)
    0 0
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
    """A record does not fit the requested features, or an argument is out of range. Also a ValueError."""


class FailedPreconditionError(TFRecordError, ValueError):
    """An object is in the wrong state for a call, such as a writer after close. Also a ValueError."""


class OutOfRangeError(TFRecordError, IndexError):
    """An index or position is past the end. Also an IndexError."""


class UnimplementedError(TFRecordError, NotImplementedError):
    """The operation is not implemented for these values. Also a NotImplementedError."""


OpError = TFRecordError
NotFoundError = FileNotFoundError
