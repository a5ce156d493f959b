"""Beam's names of compressions, and ours."""

from __future__ import annotations

from typing import NamedTuple

from apache_beam.io.filesystem import CompressionTypes

from ...files.naming.compression import check_compression_type

__all__ = ["Compression", "compression_of"]

_OURS = {
    CompressionTypes.UNCOMPRESSED: "",
    CompressionTypes.GZIP: "GZIP",
    CompressionTypes.DEFLATE: "ZLIB",
    CompressionTypes.ZSTD: "ZSTD",
}
_ONLY_BEAM = (CompressionTypes.BZIP2, CompressionTypes.LZMA)


class Compression(NamedTuple):
    """How a file is compressed.

    Attributes:
      ours: what the core is told: None detects.
      beam: what Beam's file system (de)compresses itself, if the core can't: bzip2 or lzma.
    """

    ours: str | None
    beam: str = CompressionTypes.UNCOMPRESSED

    @property
    def is_of_beam(self) -> bool:
        return bool(self.beam != CompressionTypes.UNCOMPRESSED)

    def of_file(self, name: str, *, written: bool = False) -> Compression:
        """What holds for a file of this name, whose extension says it where nothing else does. When a file is read,
        its content says which of the core's compressions it has."""
        if self.ours is not None or self.is_of_beam:
            return self
        found = CompressionTypes.detect_compression_type(name)
        if found in _ONLY_BEAM:
            return Compression("", found)
        return Compression(_OURS[found]) if written else self


def compression_of(compression_type: str | None) -> Compression:
    """The compression of an argument: Beam's name, or one of ours; None and Beam's AUTO leave it open.

    Raises:
      ValueError: there is none of this name.
    """
    if compression_type is None or compression_type == CompressionTypes.AUTO:
        return Compression(None)
    if compression_type in _ONLY_BEAM:
        return Compression("", compression_type)
    if compression_type in _OURS:
        return Compression(_OURS[compression_type])
    return Compression(check_compression_type(compression_type))
