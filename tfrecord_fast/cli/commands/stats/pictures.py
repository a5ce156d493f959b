"""Thumbnails of images in sample records, as data URLs. Without Pillow, there are none."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

from ....base.optional import optional_or_none
from ....images.headers import image_of

_SIDE = 112  # pixels
_MOST_PIXELS = 50_000_000  # of an image that is decoded
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP")


@dataclass
class Pictures:
    """Maker of thumbnails, up to `left` bytes in all."""

    left: int  # bytes

    def __post_init__(self) -> None:
        self._pillow: Any = optional_or_none("PIL.Image")

    @property
    def can_draw(self) -> bool:
        return self._pillow is not None

    def url(self, data: bytes) -> str | None:
        """Return a thumbnail; None if the data is not an intact image, is too large, or `left` is used up."""
        known = image_of(data)
        if known is None or self._pillow is None or self.left <= 0 or known[1] * known[2] > _MOST_PIXELS:
            return None
        try:
            with self._pillow.open(io.BytesIO(data), formats=_FORMATS) as image:
                image.draft("RGB", (_SIDE, _SIDE))
                image.thumbnail((_SIDE, _SIDE))
                out = io.BytesIO()
                _on_white(image, self._pillow).save(out, "JPEG", quality=62, optimize=True)
        except Exception:  # whatever Pillow raises for a damaged image: it is shown as bytes
            return None
        jpeg = out.getvalue()
        self.left -= len(jpeg)
        return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


def _on_white(image: Any, pillow: Any) -> Any:
    if image.mode in ("RGBA", "LA", "P", "PA"):
        over = image.convert("RGBA")
        under = pillow.new("RGBA", over.size, "white")
        return pillow.alpha_composite(under, over).convert("RGB")
    return image.convert("RGB")
