"""The core decodes every JPEG and PNG to TensorFlow's pixels."""

import hashlib
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tests.support.image_files import jpeg, png

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SAMPLINGS = [
    [(1, 1)],
    *([factors, (1, 1), (1, 1)] for factors in ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (4, 2), (3, 1))),
    [(2, 2), (2, 1), (1, 2)],
    [(1, 1), (2, 2), (1, 1)],
    [(1, 1)] * 4,
    [(2, 2), (1, 1), (1, 1), (2, 2)],
]


def pixels_of(rng, height, width, channels):
    waves = np.add.outer(np.sin(np.arange(height) / 3), np.cos(np.arange(width) / 5)) * 60 + 128
    return (waves[..., None] + rng.normal(0, rng.choice([1, 40]), (height, width, channels))).clip(0, 255).astype("u1")


def photograph(rng, height, width):
    """Return a JPEG that Pillow writes: progressive or not, with every way to turn it."""
    mode = rng.choice(["RGB", "RGB", "L", "CMYK"])
    pixels = pixels_of(rng, height, width, {"RGB": 3, "L": 1, "CMYK": 4}[mode])
    exif = Image.Exif()
    exif[0x112] = int(rng.integers(1, 9))  # orientation
    options = {"quality": int(rng.integers(1, 101)), "subsampling": int(rng.integers(3)), "exif": exif}
    options |= {"progressive": bool(rng.integers(2)), "restart_marker_blocks": int(rng.integers(4))}
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode).save(file, "JPEG", **options)
    return file.getvalue()


def jpeg_calls(count):
    """Return (function, file, arguments) for JPEGs of 1 to 70 pixels a side."""
    rng = np.random.default_rng(41)
    calls = []
    for number in range(count):
        height, width = (int(side) for side in rng.integers(1, 71, 2))
        if number % 2:
            file = photograph(rng, height, width)
        else:
            sampling = SAMPLINGS[number // 2 % len(SAMPLINGS)]
            adobe = int(rng.integers(3)) if len(sampling) > 2 and rng.integers(3) == 0 else None
            file = jpeg(rng, height, width, sampling, restart=int(rng.integers(4)), adobe=adobe)
        arguments = {"channels": (0, 0, 1, 3)[int(rng.integers(4))], "ratio": (1, 1, 2, 4, 8)[int(rng.integers(5))]}
        arguments |= {"fancy_upscaling": bool(rng.integers(2))}
        arguments |= {"dct_method": ("", "INTEGER_FAST", "INTEGER_ACCURATE")[int(rng.integers(3))]}
        calls.append(("decode_jpeg", file, arguments))
    return calls


def png_calls():
    rng = np.random.default_rng(42)
    by_color = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
    calls = []
    for color, depth in [(color, depth) for color, depths in by_color.items() for depth in depths]:
        for number in range(8):
            height, width = (int(side) for side in rng.integers(1, 40, 2))
            gamma = (0, 45455, 100000)[number % 3]
            file = png(rng, height, width, color, depth, number % 2 == 1, number % 4 < 2, gamma)
            for dtype in ("uint8", "uint16"):
                calls += [("decode_png", file, {"channels": channels, "dtype": dtype}) for channels in (0, 1, 3, 4)]
    return calls


def damaged_calls():
    """Return calls for files that are cut at every byte of the pixels, or have wrong bytes."""
    rng = np.random.default_rng(43)
    calls = []
    for options in ({"subsampling": 2}, {"progressive": True}, {"restart_marker_blocks": 2}):
        file = io.BytesIO()
        Image.fromarray(pixels_of(rng, 24, 31, 3)).save(file, "JPEG", quality=50, **options)
        content = file.getvalue()
        start = content.index(b"\xff\xda") + 14
        for length in range(start, len(content), 3):
            fraction = (0.0, 0.3, 1.0)[int(rng.integers(3))]
            calls.append(("decode_jpeg", content[:length], {"acceptable_fraction": fraction}))
        for _ in range(100):
            changed = bytearray(content)
            for position in rng.integers(start, len(content), 2):
                changed[position] = int(rng.integers(256))
            calls.append(("decode_jpeg", bytes(changed), {}))
    return calls


def decode_all(calls):
    """Return a digest of the pixels of each call, None for an error."""
    digests = []
    for function, file, arguments in calls:
        arguments = {**arguments, **({"dtype": getattr(tf, arguments["dtype"])} if "dtype" in arguments else {})}
        try:
            array = np.asarray(getattr(tf.io, function)(file, **arguments))
        except tf.errors.InvalidArgumentError:
            digests.append(None)
        else:
            digests.append([str(array.dtype), [*array.shape], hashlib.sha1(array.tobytes()).hexdigest()])
    return digests


def decode_all_there(calls):
    import hashlib

    digests = []
    for function, file, arguments in calls:
        try:
            array = np.asarray(getattr(tf.io, function)(file, **arguments))
        except Exception:
            digests.append(None)
        else:
            digests.append([str(array.dtype), [*array.shape], hashlib.sha1(array.tobytes()).hexdigest()])
    return digests


def differences(calls, ours, theirs):
    numbers = [number for number, digest in enumerate(ours) if digest != theirs[number]]
    return [(number, calls[number][2], ours[number], theirs[number]) for number in numbers]


@pytest.mark.parametrize("make", [lambda: jpeg_calls(2000), png_calls, damaged_calls], ids=["JPEG", "PNG", "damaged"])
def test_pixels_are_those_of_tensorflow(make):
    calls = make()
    ours = decode_all(calls)
    assert sum(digest is not None for digest in ours) > len(calls) / 4
    assert not differences(calls, ours, live_tensorflow.call(decode_all_there, calls))


WITHOUT_SIMD = """
from tests.tensorflow import test_decoded_pixels as pixels
import json
print(json.dumps(pixels.decode_all(pixels.jpeg_calls(300))))
"""


def test_pixels_are_the_same_without_simd():
    environment = {**os.environ, "JSIMD_FORCENONE": "1"}
    done = subprocess.run([sys.executable, "-c", WITHOUT_SIMD], env=environment, capture_output=True, check=True)
    calls = jpeg_calls(300)
    assert not differences(calls, decode_all(calls), json.loads(done.stdout))
