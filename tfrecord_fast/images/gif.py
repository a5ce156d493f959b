"""GIFs composed as by TensorFlow: each frame is drawn over the one before, and disposal methods are ignored.

Pillow composes frames as browsers do, so it only unpacks the pixels of single frames here.
"""

from __future__ import annotations

import io
import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError
from .libraries import pillow, pillow_errors, undecodable

_EXTENSION, _IMAGE = b"!", b","
_CONTROL = b"\xf9"
_HAS_TABLE, _INTERLACED, _TRANSPARENT = 0x80, 0x40, 0x01
_MOST_BITS = 8  # of a pixel
_MOST_PER_PIXEL = 4096  # pixels of output for one in the file: small frames become as large as the others
_MOST_PIXELS = 178_956_970  # Pillow's limit for other images: a wide frame and a high one span a large area
# Colors that identify the index, as Pillow may return colors or indexes.
_INDEXES = b"".join(bytes([index, 255 - index, 0]) for index in range(256))


class _Frame(NamedTuple):
    """A frame as stored in the file; `packed` is its LZW code."""

    left: int
    top: int
    width: int
    height: int
    interlaced: bool
    colors: npt.NDArray[np.uint8]
    transparent: int | None
    packed: bytes


def is_gif(data: bytes) -> bool:
    return data[:4] == b"GIF8"


def read_gif(data: bytes, only_first: bool = False) -> npt.NDArray[np.uint8]:
    """Decode all frames, or the first one, to uint8 `[frames, height, width, 3]`.

    Pixels that a frame does not cover, or that are transparent, are those of the frame before, and black in the first
    one. The size is that of the largest frame.
    """
    frames = _frames_of(data)
    height, width = max(frame.height for frame in frames), max(frame.width for frame in frames)
    if height * width > _MOST_PIXELS:
        raise undecodable(f"the frames span {width} × {height} pixels, more than {_MOST_PIXELS}")
    frames = frames[:1] if only_first else frames
    pixels = [_pixels_of(frame) for frame in frames]  # first: never allocate based on an unverified size
    if (claimed := len(frames) * height * width) > max(_MOST_PIXELS, _MOST_PER_PIXEL * sum(map(np.size, pixels))):
        raise undecodable(f"the {len(frames)} frames claim {claimed} pixels, but have far fewer")
    composed = np.zeros((len(frames), height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        if number:
            composed[number] = composed[number - 1]
        _draw(frame, pixels[number], composed[number])
    return composed


def _draw(frame: _Frame, pixels: npt.NDArray[np.uint8], canvas: npt.NDArray[np.uint8]) -> None:
    area = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    visible = pixels[: area.shape[0], : area.shape[1]]
    opaque: Any = ... if frame.transparent is None else visible != frame.transparent
    indexes = visible[opaque]
    if indexes.size and indexes.max() >= len(frame.colors):
        raise undecodable(f"a pixel has color {indexes.max()} of {len(frame.colors)}")
    area[opaque] = frame.colors[indexes]


def _pixels_of(frame: _Frame) -> npt.NDArray[np.uint8]:
    size = struct.pack("<HH", frame.width, frame.height)
    descriptor = b"\0\0\0\0" + size + bytes([_INTERLACED if frame.interlaced else 0])
    file = b"GIF89a" + size + b"\xf7\0\0" + _INDEXES + _IMAGE + descriptor + frame.packed + b";"
    library = pillow()
    with pillow_errors():
        pixels: npt.NDArray[Any] = np.asarray(library.open(io.BytesIO(file)))
    return pixels if pixels.ndim == 2 else pixels[:, :, 0]


def _frames_of(data: bytes) -> list[_Frame]:
    """Return all frames before the end of the file, or before an extension that cannot be read."""
    file = _File(data)
    file.take(6)
    _, _, flags, _, _ = struct.unpack("<HHBBB", file.take(7))
    shared = file.colors(flags)
    frames: list[_Frame] = []
    control: bytes | None = None  # of the next frame
    while (block := file.rest(1)) in (_EXTENSION, _IMAGE):
        file.take(1)
        if block == _IMAGE:
            frames.append(_frame(file, shared, control))
            control = None
            continue
        label = file.rest(1)
        try:
            file.take(1)
            content = file.blocks()
        except InvalidArgumentError:
            break
        if label == _CONTROL and control is None:
            control = content
    if not frames:
        raise undecodable("the GIF has no frame")
    return frames


def _frame(file: _File, shared: npt.NDArray[np.uint8] | None, control: bytes | None) -> _Frame:
    left, top, width, height, flags = struct.unpack("<HHHHB", file.take(9))
    own = file.colors(flags)
    colors = shared if own is None else own
    if not width or not height:
        raise undecodable("a frame has no pixels")
    if colors is None:
        raise undecodable("a frame has no colors")
    start = file.position
    if file.take(1)[0] > _MOST_BITS:
        raise undecodable(f"pixels have more than {_MOST_BITS} bits")
    file.blocks()
    # A control block of another size does not define transparency.
    is_transparent = control is not None and control[:1] == b"\x04" and control[1] & _TRANSPARENT
    transparent = control[4] if control is not None and is_transparent else None
    packed = file.data[start : file.position]
    return _Frame(left, top, width, height, bool(flags & _INTERLACED), colors, transparent, packed)


class _File:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def rest(self, size: int) -> bytes:
        """Return up to `size` of the next bytes, without advancing."""
        return self.data[self.position : self.position + size]

    def take(self, size: int) -> bytes:
        taken = self.rest(size)
        if len(taken) < size:
            raise undecodable("the file is truncated")
        self.position += size
        return taken

    def blocks(self) -> bytes:
        """Read blocks, with their sizes, up to the empty one."""
        start = self.position
        while size := self.take(1)[0]:
            self.take(size)
        return self.data[start : self.position]

    def colors(self, flags: int) -> npt.NDArray[np.uint8] | None:
        if not flags & _HAS_TABLE:
            return None
        return np.frombuffer(self.take(3 << (flags & 7) + 1), np.uint8).reshape(-1, 3)
