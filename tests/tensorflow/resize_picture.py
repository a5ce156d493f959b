"""Draw docs/resize.png: an image resized here and by TensorFlow, and the difference.

python -m tests.tensorflow.resize_picture
"""

import io

import numpy as np
from PIL import Image, ImageDraw

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.support.paths import ROOT

__all__ = ["CASES", "image", "resized", "theirs"]

PICTURE = ROOT / "docs" / "resize.png"
SHOWN = 160  # pixels of each tile
CASES = {
    "bilinear, 2.5 x": ([120, 120], "bilinear", False),
    "nearest, 2.5 x": ([120, 120], "nearest", False),
    "bilinear, 1/3": ([16, 16], "bilinear", False),
    "with antialias, 1/3": ([16, 16], "bilinear", True),
}


def image():
    """Return rings whose distance shrinks outwards, in colours, and a sharp edge: [48, 48, 3], uint8."""
    y, x = np.mgrid[:48, :48].astype(np.float64) - 23.5
    radius = np.hypot(x, y)
    rings = 127.5 + 127.5 * np.cos(radius**2 / 30)
    result = np.stack([rings, np.where(x + y > 0, 230, 40) + 0 * x, 255 - rings], axis=-1)
    return result.astype(np.uint8)


def resized(pixels, size, method, antialias):
    """Resize with `tf.image.resize`, as float64."""
    return np.asarray(tf.image.resize(pixels, size, method, antialias=antialias).numpy(), np.float64)


def main():
    pixels = image()
    sheet = Image.new("RGB", (4 * (SHOWN + 10) + 10, len(CASES) * (SHOWN + 30) + 30), "white")
    draw = ImageDraw.Draw(sheet)
    for column, title in enumerate(["source", "tfrecord_fast", "TensorFlow", "difference x 1000"]):
        draw.text((10 + column * (SHOWN + 10), 8), title, "black")
    for row, (label, case) in enumerate(CASES.items()):
        ours, other = resized(pixels, *case), live_tensorflow.call(theirs, pixels, *case)
        top = 30 + row * (SHOWN + 30)
        off = np.abs(ours - other)
        tiles = [pixels, ours, other, off * 1000]
        for column, tile in enumerate(tiles):
            shown = Image.fromarray(np.clip(np.round(tile), 0, 255).astype(np.uint8)).resize((SHOWN, SHOWN), 0)
            sheet.paste(shown, (10 + column * (SHOWN + 10), top))
        draw.text((10, top + SHOWN + 4), f"{label}: differs by at most {off.max():.1g} of 255", "black")
    with io.BytesIO() as file:
        sheet.quantize(128).save(file, "PNG", optimize=True)
        PICTURE.write_bytes(file.getvalue())


def theirs(pixels, size, method, antialias):
    """Resize with TensorFlow, if `tf` is TensorFlow."""
    return tf.image.resize(pixels, size, method, antialias=antialias)


if __name__ == "__main__":
    main()
