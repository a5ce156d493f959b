"""Detection of images and sound that browsers can show and play."""

from __future__ import annotations

from typing import NamedTuple

from ....examples.record_kinds import form_of

_ENOUGH = 64  # bytes, for all but MP3

# By form. BMP is missing, since truncated ones are not detected.
_TYPES = {
    "PNG image": "image/png",
    "JPEG image": "image/jpeg",
    "GIF image": "image/gif",
    "WebP image": "image/webp",
    "WAV audio": "audio/wav",
    "FLAC audio": "audio/flac",
    "Ogg audio": "audio/ogg",
}

# MPEG-1 and 2, layer III: kbit/s by 4 bits of the header, Hz by 2 bits; 0 is invalid.
_RATES = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
    0: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
_HERTZ = {3: (44100, 48000, 32000, 0), 2: (22050, 24000, 16000, 0), 0: (11025, 12000, 8000, 0)}


class Media(NamedTuple):
    type: str
    name: str


def media_of(data: bytes) -> Media | None:
    """Detect a type that browsers can show or play, or return None.

    >>> media_of(b"GIF89a...")
    Media(type='image/gif', name='GIF image')
    """
    if data.startswith(b"BM") and form_of(data) == "BMP image":
        return Media("image/bmp", "BMP image")
    if data.startswith((b"ID3\x02", b"ID3\x03", b"ID3\x04")) or _is_mp3(data):
        return Media("audio/mpeg", "MP3 audio")
    form = form_of(data[:_ENOUGH])
    return Media(_TYPES[form], form) if form in _TYPES else None


def _is_mp3(data: bytes) -> bool:
    """Return True for data that starts with two consecutive frames."""
    size = _mp3_frame(data[:4])
    return size > 0 and _mp3_frame(data[size : size + 4]) > 0


def _mp3_frame(head: bytes) -> int:
    """Return the size of the frame with this header, or 0 if the header is invalid."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return 0
    version = head[1] >> 3 & 3
    if version not in _RATES:
        return 0
    rate, hertz = _RATES[version][head[2] >> 4], _HERTZ[version][head[2] >> 2 & 3]
    if not rate or not hertz:
        return 0
    return (144 if version == 3 else 72) * rate * 1000 // hertz + (head[2] >> 1 & 1)
