"""The characters of strings in UTF-8, UTF-16 and UTF-32, as `tf.strings.unicode_split` tells them apart."""

from __future__ import annotations

import codecs
from collections.abc import Callable

from ...errors import InvalidArgumentError

__all__ = ["characters_of"]

_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_WRONG = "\udfff"  # stands for bytes that are no character: none is decoded to it


def _marked(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _WRONG, error.end


codecs.register_error("tfrecord_fast.marked", _marked)


def characters_of(encoding: str, errors: str, replacement: int) -> Callable[[bytes], list[bytes]]:
    """A function from a string to its characters, in the same encoding.

    Args:
      errors: what becomes of bytes that are no character: "replace", "ignore" or "strict".
      replacement: the character that stands for them, as a number.

    Raises:
      errors.InvalidArgumentError: another encoding or way with errors, a replacement that is no character; the
        function does, too, of wrong bytes if errors are "strict".
    """
    codec = _CODECS.get(encoding)
    if codec is None:
        raise InvalidArgumentError(f"encodings are {', '.join(_CODECS)}, got {encoding!r}")
    if errors not in ("replace", "ignore", "strict"):
        raise InvalidArgumentError(f"errors are 'replace', 'ignore' or 'strict', got {errors!r}")
    if not 0 <= replacement <= 0x10FFFF:
        raise InvalidArgumentError(f"replacement_char out of unicode codepoint range: {replacement}")
    if codec == "utf-8" and 0xD800 <= replacement <= 0xDFFF:
        replacement = 0xFFFD  # UTF-8 has no halves of characters
    instead = chr(replacement).encode(codec, "surrogatepass")

    def characters(item: bytes) -> list[bytes]:
        found = item.decode(codec, "tfrecord_fast.marked")
        if _WRONG not in found:
            return [one.encode(codec) for one in found]
        if errors == "strict":
            raise InvalidArgumentError(f"Invalid formatting on input string: {item!r:.100} is not {encoding}")
        kept = found if errors == "replace" else found.replace(_WRONG, "")
        return [instead if one == _WRONG else one.encode(codec) for one in kept]

    return characters
