"""How the package was built, and the instructions that this processor supports."""

from __future__ import annotations

from typing import Any

from .. import _core
from .version import __version__


def build_info() -> dict[str, Any]:
    """Describe how the package was built.

    Returns:
      A dict: `version`; `compiler`, with the version of pybind11; `sanitizers` ("" for none); `simd`, a dict of the
      backends in use (`crc32c`, `varint`, `images`); `simd_available`, a dict of the backends that this processor
      supports, fastest first; `codecs`, a dict of library names to versions.

    >>> build_info()["simd_available"]["crc32c"][-1]
    'portable'
    """
    return {
        "version": __version__,
        "compiler": _core.compiler,
        "sanitizers": _core.sanitizers,
        "simd": {
            "crc32c": _core.crc32c_backend(),
            "varint": _core.varint_backend(),
            "images": _core.resize_backend(),
        },
        "simd_available": {
            "crc32c": _core.crc32c_backends(),
            "varint": _core.varint_backends(),
            "images": _core.resize_backends(),
        },
        "codecs": {library: version for codec in _core.codecs() for library, version in codec.libraries.items()},
    }
