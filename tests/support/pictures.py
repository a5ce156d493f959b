"""Encoded pictures, and what the crops of ImageFeature have to be: drawn again here, in plain Python."""

import io
import math

import google_crc32c
import numpy as np
from PIL import Image

import tfrecord_fast as tf

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_FACTOR = 0xD1342543DE82EF95
_CROP_USE = 3


def photograph(height, width, seed=0):
    """Smooth shapes and a little noise, uint8 [height, width, 3]: what cameras see, more or less."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width] / max(height, width)
    waves = [np.sin(2 * np.pi * (x * a + y * b) + c) for a, b, c in random.uniform(-6, 6, (9, 3))]
    planes = np.stack([sum(waves[i::3]) for i in range(3)], axis=-1)
    return (127 + 40 * planes + random.normal(0, 4, planes.shape)).clip(0, 255).astype(np.uint8)


def encoded(pixels, form="JPEG", **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form, **options)
    return buffer.getvalue()


def resized(pixels, size, **options):
    """The pixels in another size, as TensorFlow has them: float32."""
    # Not at the top of a test: pytest looks for attributes of its names, for which this module imports TensorFlow.
    from tfrecord_fast.tensorflow import image

    return np.asarray(image.resize(pixels, size, **options))


def pictures(count, seed=0, form="PNG", least=9, most=60):
    """Encoded photographs of several sizes."""
    random = np.random.default_rng(seed)
    return [encoded(photograph(*random.integers(least, most, 2), seed=(seed, i)), form) for i in range(count)]


def examples(images, first=0, **columns):
    """Serialized Examples with an image and its number."""
    return tf.encode_examples({"image": images, "number": range(first, first + len(images)), **columns}).tolist()


class _Random:
    """SplitMix64."""

    def __init__(self, state):
        self.state = state & _MASK

    def next(self):
        self.state = z = (self.state + _GAMMA) & _MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
        return z ^ z >> 31

    def uniform(self, least, most):
        return least + (self.next() >> 11) * 2.0**-53 * (most - least)

    def below(self, bound):
        return self.next() * bound >> 64


def _random_of(seed, epoch, number, record):
    mix = _Random(seed ^ _CROP_USE * _FACTOR)
    epochs = _Random(mix.next() ^ epoch * _GAMMA + mix.next() & _MASK)
    records = _Random(epochs.next() ^ number * _GAMMA & _MASK)
    return _Random(records.next() ^ google_crc32c.value(record) * _FACTOR & _MASK)


def random_crop(record, height, width, *, seed, epoch=0, number=0, scale=(0.08, 1), ratio=(3 / 4, 4 / 3)):
    """(top, left, height, width, mirrored) of the image of a record: torchvision's RandomResizedCrop."""
    random = _random_of(seed, epoch, number, record)
    mirrored = bool(random.next() >> 63)
    for _ in range(10):
        area = height * width * random.uniform(*scale)
        shape = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        wide, high = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if 0 < wide <= width and 0 < high <= height:
            top = random.below(height - high + 1)
            return top, random.below(width - wide + 1), high, wide, mirrored
    return (*centre(height, width, min(max(width / height, ratio[0]), ratio[1])), mirrored)


def centre(height, width, ratio):
    """(top, left, height, width) of the largest centred window whose width by height is `ratio`."""
    high, wide = (height, round(height * ratio)) if width > height * ratio else (round(width / ratio), width)
    return (height - high) // 2, (width - wide) // 2, high, wide
