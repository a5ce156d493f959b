"""JPEG and WAV files, and tensors as TensorFlow's messages."""

from __future__ import annotations

import inspect
import struct
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...errors import InvalidArgumentError
from ...examples.messages.tensors import make_ndarray as plain_ndarray
from ...examples.messages.tensors import make_tensor_proto as plain_proto
from ...images import decoding
from ..tensors.wrapping import unwrap
from .arguments import as_array, as_lengths, integer, tensor
from .arrays import constant

# ---- JPEG files ----


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Return a tensor that is True for bytes that begin like a JPEG."""
    return tensor(np.bool_(decoding.is_jpeg(unwrap(contents))))


def extract_jpeg_shape(contents: Any, output_type: Any = "int32", name: str | None = None) -> Any:
    """Return (height, width, channels) from the header of a JPEG file."""
    data: bytes = as_array(contents, "string").item()
    if not decoding.is_jpeg(data):
        raise InvalidArgumentError("Expected image (JPEG), got something else [Op:ExtractJpegShape]")
    _, height, width, channels, _ = _core.image_header(data)
    return tensor(np.array([height, width, channels], dtype=np.dtype(getattr(output_type, "name", output_type))))


def decode_and_crop_jpeg(contents: Any, crop_window: Any, *options: Any, **named: Any) -> Any:
    """Decode a JPEG and crop it to (top, left, height, width). The options are those of `decode_jpeg`."""
    top, left, height, width = as_lengths(crop_window)
    if min(top, left, height, width) < 0:
        raise InvalidArgumentError("Invalid JPEG data or crop window [Op:DecodeAndCropJpeg]")
    data = as_array(contents, "string").item()
    return tensor(decoding.decode_region(data, (top, left, height, width), *unwrap(options), **unwrap(named)))


def _signature_with_window() -> inspect.Signature:
    first, *options = inspect.signature(decoding.decode_jpeg).parameters.values()
    return inspect.Signature([first, first.replace(name="crop_window", annotation="Any"), *options])


decode_and_crop_jpeg.__signature__ = _signature_with_window()  # type: ignore[attr-defined]


# ---- WAV files ----


class DecodeWav(NamedTuple):
    """What `decode_wav` returns."""

    audio: Any
    sample_rate: Any


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """Decode a WAV file of 16-bit samples to float32 from -1 to 1, of shape [samples, channels], and its sample rate.

    Args:
      desired_channels: if set, further channels are left out, and the last one is repeated for missing ones.
      desired_samples: if set, further samples are left out, and missing ones are zeros.
    """
    data: bytes = as_array(contents, "string").item()
    channels, rate, samples = _samples(data)
    sound = samples[: len(samples) // channels * channels].reshape(-1, channels).astype(np.float32) / np.float32(32768)
    wanted, length = integer(desired_channels), integer(desired_samples)
    if wanted > 0:
        sound = sound[:, np.minimum(np.arange(wanted), channels - 1)]
    if length >= 0:
        sound = np.pad(sound[:length], [(0, max(length - len(sound), 0)), (0, 0)])
    return DecodeWav(tensor(sound), tensor(np.int32(rate)))


def _samples(data: bytes) -> tuple[int, int, Any]:
    """Return the number of channels, the sample rate and the samples of a WAV file."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise InvalidArgumentError(f"Header mismatch: Expected RIFF and WAVE but found {data[:12]!r} [Op:DecodeWav]")
    layout = None
    position = 12
    while position + 8 <= len(data):
        length = int.from_bytes(data[position + 4 : position + 8], "little")
        chunk = data[position + 8 : position + 8 + length]
        if data[position : position + 4] == b"fmt ":
            if len(chunk) < 16:
                raise InvalidArgumentError(f"Bad format chunk of {len(chunk)} bytes for WAV [Op:DecodeWav]")
            layout = struct.unpack("<HHIIHH", chunk[:16])
            if layout[0] not in (1, 0xFFFE) or layout[5] != 16 or not layout[1]:
                raise InvalidArgumentError(
                    f"Bad audio format for WAV: format {layout[0]} of {layout[5]} bits and {layout[1]} channels; only "
                    "PCM of 16 bits is supported [Op:DecodeWav]"
                )
        elif data[position : position + 4] == b"data" and layout is not None:
            if len(chunk) < length:
                raise InvalidArgumentError(f"Data too short: the WAV file ends after {len(data)} bytes [Op:DecodeWav]")
            return layout[1], layout[2], np.frombuffer(chunk[: len(chunk) // 2 * 2], "<i2")
        position += 8 + length
    raise InvalidArgumentError("the WAV file has no samples: it has no chunk 'data' after 'fmt ' [Op:DecodeWav]")


# ---- Messages ----


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> Any:
    """Return a TensorProto of the values. It needs protobuf."""
    return plain_proto(as_array(constant(values, dtype, shape)))


def make_ndarray(tensor: Any) -> Any:
    """Return the array of a TensorProto, of this package or of TensorFlow."""
    return plain_ndarray(tensor)
