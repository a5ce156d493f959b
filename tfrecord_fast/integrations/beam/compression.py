"""Beam's names of compressions, and this package's."""

from __future__ import annotations

from typing import NamedTuple

from apache_beam.io.filesystem import CompressionTypes

from ...files.naming.compression import check_compression_type

_OURS = {
    CompressionTypes.UNCOMPRESSED: "",
    CompressionTypes.GZIP: "GZIP",
    CompressionTypes.DEFLATE: "ZLIB",
    CompressionTypes.ZSTD: "ZSTD",
}
_ONLY_BEAM = (CompressionTypes.BZIP2, CompressionTypes.LZMA)


class Compression(NamedTuple):
    """The compression of a file.

    Attributes:
      ours: the name for the core; None: detected.
      beam: bzip2 or lzma, if Beam's file system (de)compresses the file, since the core can't.
    """

    ours: str | None
    beam: str = CompressionTypes.UNCOMPRESSED

    @property
    def is_beams(self) -> bool:
        return bool(self.beam != CompressionTypes.UNCOMPRESSED)

    def of_file(self, name: str, *, written: bool = False) -> Compression:
        """Return the compression of a file with this name. An open compression depends on the extension.

        For a file that is read, the core detects its own compressions from the content.
        """
        if self.ours is not None or self.is_beams:
            return self
        detected = CompressionTypes.detect_compression_type(name)
        if detected in _ONLY_BEAM:
            return Compression("", detected)
        return Compression(_OURS[detected]) if written else self


def compression_of(compression_type: str | None) -> Compression:
    """Return the compression of an argument: a name of Beam or of this package; None or Beam's AUTO: open."""
    if compression_type is None or compression_type == CompressionTypes.AUTO:
        return Compression(None)
    if compression_type in _ONLY_BEAM:
        return Compression("", compression_type)
    if compression_type in _OURS:
        return Compression(_OURS[compression_type])
    return Compression(check_compression_type(compression_type))
