"""Pillow, imported on first use, and the error for images that it cannot decode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..base.optional import optional
from ..errors import InvalidArgumentError

# The first bytes of files.
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"

UNDECODABLE = "the image can't be decoded"


def pillow() -> Any:
    return optional("PIL.Image", "images other than JPEG and PNG need Pillow")


def undecodable(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{UNDECODABLE}: {why}")


@contextlib.contextmanager
def pillow_errors(what: str = UNDECODABLE) -> Iterator[None]:
    """Turn the errors of Pillow, which raises errors of many classes for damage, into InvalidArgumentError."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise InvalidArgumentError(f"{what}: {error}") from None
