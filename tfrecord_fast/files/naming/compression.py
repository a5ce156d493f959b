"""Compression types and options."""

from __future__ import annotations

import operator
from typing import ClassVar

from ... import _core

_PARAMETERS = "compression_level window_bits compression_method mem_level compression_strategy flush_mode".split()


class TFRecordCompressionType:
    """TensorFlow 1's names of compression types.

    >>> TFRecordOptions(TFRecordCompressionType.GZIP)
    TFRecordOptions(compression_type=2)
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    None: "",
    TFRecordCompressionType.NONE: "",
    TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP",
}


class TFRecordOptions:
    """Compression type and parameters.

    Args:
      compression_type: None or "" (none), "GZIP", "ZLIB", "ZSTD", "SNAPPY", a TFRecordCompressionType, or other
        options.
      compression_level: by default -1 (that is 6). With "ZSTD" -131072 to 22, by default 3. "SNAPPY" has no levels; a
        writer raises an error.
      flush_mode, window_bits, compression_method, mem_level, compression_strategy: parameters of zlib, unused with
        "ZSTD" and "SNAPPY". None is TensorFlow's default: window_bits 15 (31 with "GZIP"), method 8, mem_level 9,
        strategy 0, flush_mode 0. window_bits chooses ZLIB (9 to 15), GZIP (25 to 31) or raw deflate (-8 to -15).
      input_buffer_size, output_buffer_size: accepted and ignored.

    Raises:
      ValueError: unknown compression_type.

    >>> TFRecordOptions("ZSTD", compression_level=9)
    TFRecordOptions(compression_type='ZSTD', compression_level=9)
    """

    compression_type_map: ClassVar[dict[int | None, str]] = dict(_NAMES)

    def __init__(
        self,
        compression_type: str | int | TFRecordOptions | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: str | int | TFRecordOptions | None) -> str:
        """Return the compression type as a string: "", "GZIP", "ZLIB", "ZSTD" or "SNAPPY".

        >>> TFRecordOptions.get_compression_type_string(TFRecordCompressionType.GZIP)
        'GZIP'
        """
        # TensorFlow's options have the same attribute.
        while options is not None and hasattr(options, "compression_type"):
            options = options.compression_type
        if isinstance(options, str) and options in COMPRESSION_TYPES:
            return options
        if options is None or (isinstance(options, int) and options in _NAMES):
            return _NAMES[options]
        raise ValueError(f"Not a valid compression_type: {options!r}; expected one of {COMPRESSION_TYPES}")

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"TFRecordOptions({arguments})"


def core_options(options: object) -> dict[str, int]:
    """Return the parameters of TFRecordOptions (also TensorFlow's) that are set, for the core. A type has none."""
    values = {name: _number(options, name) for name in _PARAMETERS}
    return {name: value for name, value in values.items() if value is not None}


def window_bits_of(options: object) -> int | None:
    """Return `window_bits` (which chooses ZLIB, GZIP or raw deflate); raises as `core_options` does."""
    return _number(options, "window_bits")


def _number(options: object, name: str) -> int | None:
    value = getattr(options, name, None) if hasattr(options, "mem_level") else None
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if not -(1 << 31) <= number < 1 << 31:
        raise ValueError(f"{name} is out of range: {number}")
    return number


CODECS = {codec.name: codec for codec in _core.codecs()}
COMPRESSION_TYPES = ("", *CODECS)
COMPRESSION_OF = {codec.extension: name for name, codec in CODECS.items() if codec.extension}


def as_options(compression: str | TFRecordOptions | None) -> str | TFRecordOptions | None:
    """Return what TFRecordWriter takes as `options` for a `compression`, whose type may be in any case."""
    return check_compression_type(compression) if isinstance(compression, str) else compression


def check_compression_type(compression_type: str | None) -> str | None:
    """Return the type as the core spells it, or None; raise ValueError if it is unknown."""
    if isinstance(compression_type, bytes):
        compression_type = compression_type.decode()
    name = compression_type.upper() if isinstance(compression_type, str) else compression_type
    name = "" if name == "NONE" else name
    if name is not None and name not in COMPRESSION_TYPES:
        known = ", ".join(repr(name) for name in ("none", *CODECS))
        meant = COMPRESSION_OF.get(f".{compression_type}".lower())
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise ValueError(f"unknown compression {compression_type!r}; expected None or one of {known}{hint}")
    return name
