"""What was built in, and what this processor makes of it."""

from __future__ import annotations

from typing import Any

from .. import _core
from .version import __version__

__all__ = ["build_info"]


def build_info() -> dict[str, Any]:
    """Tells what the package was built with.

    Returns:
      A dict: `version`; `compiler`; `sanitizers` ("" for none); `simd`, a dict of the backend in use by room
      (`crc32c`, `varint`), and `simd_available`, a dict of all that this processor can run, fastest first;
      `codecs`, a dict of library names to versions.

    >>> build_info()["simd_available"]["crc32c"][-1]
    'portable'
    """
    return {
        "version": __version__,
        "compiler": _core.compiler,
        "sanitizers": _core.sanitizers,
        "simd": {"crc32c": _core.crc32c_backend(), "varint": _core.varint_backend()},
        "simd_available": {"crc32c": _core.crc32c_backends(), "varint": _core.varint_backends()},
        "codecs": {library: version for codec in _core.codecs() for library, version in codec.libraries.items()},
    }
