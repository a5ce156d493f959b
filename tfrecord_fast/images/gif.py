"""GIFs as TensorFlow composes them: each frame over the one before, whatever is to be disposed of. Pillow only unpacks
the pixels of single frames, since it composes them as browsers do."""

from __future__ import annotations

import io
import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError
from .libraries import pillow

__all__ = ["is_gif", "read_gif"]

_EXTENSION, _IMAGE = b"!", b","
_CONTROL = b"\xf9"
_HAS_TABLE, _INTERLACED, _TRANSPARENT = 0x80, 0x40, 0x01
_MOST_BITS = 8  # of a pixel
_MOST_PER_PIXEL = 4096  # that are made for one that is there: frames that change little are as large as the others
_MOST_PIXELS = 178_956_970  # as Pillow has it for other images: a wide frame and a high one span much
# Colors that tell the index, so that it does not matter whether Pillow gives the one or the other.
_INDEXES = b"".join(bytes([index, 255 - index, 0]) for index in range(256))


class _Frame(NamedTuple):
    """A frame as it is in the file; `packed` is its LZW code."""

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
    """All frames, or the first one, as uint8 `[frames, height, width, 3]`.

    What a frame does not cover, and where it is transparent, is as in the frame before, and black in the first one. The
    size is that of the largest frame.

    Raises:
      errors.InvalidArgumentError: damage.
    """
    frames = _frames_of(data)
    height, width = max(frame.height for frame in frames), max(frame.width for frame in frames)
    if height * width > _MOST_PIXELS:
        raise _undecodable(f"its frames span {width} × {height} pixels, which is more than {_MOST_PIXELS}")
    frames = frames[:1] if only_first else frames
    pixels = [_pixels_of(frame) for frame in frames]  # first, so that nothing is allocated for a claim
    if (claimed := len(frames) * height * width) > max(_MOST_PIXELS, _MOST_PER_PIXEL * sum(one.size for one in pixels)):
        raise _undecodable(f"its {len(frames)} frames claim {claimed} pixels, and have far fewer")
    made = np.zeros((len(frames), height, width, 3), np.uint8)
    for number, frame in enumerate(frames):
        if number:
            made[number] = made[number - 1]
        _draw(frame, pixels[number], made[number])
    return made


def _draw(frame: _Frame, pixels: npt.NDArray[np.uint8], canvas: npt.NDArray[np.uint8]) -> None:
    part = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    seen = pixels[: part.shape[0], : part.shape[1]]
    opaque: Any = ... if frame.transparent is None else seen != frame.transparent
    indexes = seen[opaque]
    if indexes.size and indexes.max() >= len(frame.colors):
        raise _undecodable(f"a pixel has color {indexes.max()} of {len(frame.colors)}")
    part[opaque] = frame.colors[indexes]


def _pixels_of(frame: _Frame) -> npt.NDArray[np.uint8]:
    """The numbers of the colors, `[height, width]`."""
    size = struct.pack("<HH", frame.width, frame.height)
    place = b"\0\0\0\0" + size + bytes([_INTERLACED if frame.interlaced else 0])
    alone = b"GIF89a" + size + b"\xf7\0\0" + _INDEXES + _IMAGE + place + frame.packed + b";"
    try:
        pixels: npt.NDArray[Any] = np.asarray(pillow().open(io.BytesIO(alone)))
    except MemoryError:
        raise
    except Exception as error:  # Pillow has some of its own, and whatever its readers stumble on
        raise _undecodable(str(error)) from None
    return pixels if pixels.ndim == 2 else pixels[:, :, 0]


def _frames_of(data: bytes) -> list[_Frame]:
    """All frames before what ends the file, or can't be read; the last frame is whole."""
    file = _File(data)
    file.take(6)
    _, _, flags, _, _ = struct.unpack("<HHBBB", file.take(7))
    shared = file.colors(flags)
    frames: list[_Frame] = []
    control: bytes | None = None  # of the frame to come
    while (kind := file.rest(1)) in (_EXTENSION, _IMAGE):
        file.take(1)
        if kind == _IMAGE:
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
        raise _undecodable("it has no frame")
    return frames


def _frame(file: _File, shared: npt.NDArray[np.uint8] | None, control: bytes | None) -> _Frame:
    left, top, width, height, flags = struct.unpack("<HHHHB", file.take(9))
    own = file.colors(flags)
    colors = shared if own is None else own
    if not width or not height:
        raise _undecodable("a frame without pixels")
    if colors is None:
        raise _undecodable("a frame without colors")
    start = file.place
    if file.take(1)[0] > _MOST_BITS:
        raise _undecodable(f"pixels of more than {_MOST_BITS} bits")
    file.blocks()
    # A block that is no control, by its size, says nothing of transparency.
    is_transparent = control is not None and control[:1] == b"\x04" and control[1] & _TRANSPARENT
    transparent = control[4] if control is not None and is_transparent else None
    packed = file.data[start : file.place]
    return _Frame(left, top, width, height, bool(flags & _INTERLACED), colors, transparent, packed)


class _File:
    """The bytes of a file, and how far it has been read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def rest(self, size: int) -> bytes:
        """So many of the next bytes, or as many as there are; they are read again."""
        return self.data[self.place : self.place + size]

    def take(self, size: int) -> bytes:
        taken = self.rest(size)
        if len(taken) < size:
            raise _undecodable("it is cut")
        self.place += size
        return taken

    def blocks(self) -> bytes:
        """Blocks up to the empty one, with their sizes."""
        start = self.place
        while size := self.take(1)[0]:
            self.take(size)
        return self.data[start : self.place]

    def colors(self, flags: int) -> npt.NDArray[np.uint8] | None:
        """The table of colors, if the flags say that there is one."""
        if not flags & _HAS_TABLE:
            return None
        return np.frombuffer(self.take(3 << (flags & 7) + 1), np.uint8).reshape(-1, 3)


def _undecodable(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"the image can't be decoded: {why}")
