"""The images room: resized, mirrored and scaled pixels are those of NumPy, whatever the strides."""

import numpy as np
import pytest

from tfrecord_fast import _core
from tfrecord_fast.errors import InvalidArgumentError

SAME_SIZE, HALF_PIXELS, TOP_LEFT, CORNERS = range(4)
MULTIPLY, DIVIDE, ADD, SUBTRACT = range(4)
SIZES = [
    ((7, 5), (3, 9)),
    ((20, 21), (24, 13)),
    ((1, 1), (4, 4)),
    ((9, 9), (9, 9)),
    ((3, 90), (2, 7)),
    ((5, 6), (1, 1)),
]


def image(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random(shape) * 255).astype(dtype)


# ---- The oracle ----


def positions(length, results, alignment):
    numbers = np.arange(results, dtype=np.float32)
    if alignment == CORNERS and results > 1:
        return numbers * (np.float32(length - 1) / np.float32(results - 1))
    scale = np.float32(length) / np.float32(results)
    return (numbers + np.float32(0.5)) * scale if alignment == HALF_PIXELS else numbers * scale


def bilinear(pixels, size, alignment):
    pixels = pixels.astype(np.float32)
    for axis in (1, 0):
        length = pixels.shape[axis]
        position = positions(length, size[axis], alignment)
        position = position - np.float32(0.5) if alignment == HALF_PIXELS else position
        before = np.floor(position)
        share = (position - before).reshape(-1, *[1] * (2 - axis))
        first, second = (np.clip(before + k, 0, length - 1).astype(int) for k in (0, 1))
        lower, upper = np.take(pixels, first, axis), np.take(pixels, second, axis)
        pixels = lower + (upper - lower) * share
    return pixels


def nearest(pixels, size, alignment):
    for axis in (1, 0):
        length = pixels.shape[axis]
        position = positions(length, size[axis], alignment)
        if alignment == CORNERS and size[axis] > 1:
            position = position + np.float32(0.5)
        pixels = np.take(pixels, np.minimum(np.floor(position).astype(int), length - 1), axis)
    return pixels


def drawn(images, size, alignment=HALF_PIXELS, flips=b"", before=(), after=()):
    out = np.empty((len(images), *size, images[0].shape[2]), np.float32)
    _core.draw_images(images, out, alignment, flips, before, after)
    return out


def drawn_nearest(images, size, alignment=HALF_PIXELS, flips=b""):
    out = np.empty((len(images), *size, images[0].shape[2]), images[0].dtype)
    _core.draw_nearest(images, out, alignment, flips)
    return out


# ---- Pixels ----


@pytest.mark.parametrize("alignment", [HALF_PIXELS, TOP_LEFT, CORNERS])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_bilinear(channels, dtype, alignment):
    for (height, width), size in SIZES:
        images = [image((height, width, channels), dtype, seed) for seed in range(3)]
        expected = [bilinear(pixels, size, alignment) for pixels in images]
        assert np.array_equal(drawn(images, size, alignment), expected)
        flipped = [expected[0][:, ::-1], expected[1][::-1], expected[2][::-1, ::-1]]
        assert np.array_equal(drawn(images, size, alignment, bytes([1, 2, 3])), flipped)


@pytest.mark.parametrize("alignment", [HALF_PIXELS, TOP_LEFT, CORNERS])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64, np.int64])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_nearest(channels, dtype, alignment):
    for (height, width), size in SIZES:
        images = [image((height, width, channels), dtype, seed) for seed in range(2)]
        expected = [nearest(pixels, size, alignment) for pixels in images]
        assert np.array_equal(drawn_nearest(images, size, alignment), expected)
        flipped = [expected[0][:, ::-1], expected[1][::-1]]
        assert np.array_equal(drawn_nearest(images, size, alignment, bytes([1, 2])), flipped)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_arithmetic_before_and_after(channels, dtype):
    pixels = image((6, 7, channels), dtype)
    operands = np.arange(1, channels + 1, dtype=np.float32) / np.float32(3)
    before = [(MULTIPLY, operands.tolist()), (SUBTRACT, [0.5] * channels)]
    after = [(DIVIDE, operands.tolist()), (ADD, operands.tolist())]
    scaled = pixels.astype(np.float32) * operands - np.float32(0.5)
    expected = bilinear(scaled, (9, 4), HALF_PIXELS) / operands + operands
    assert np.array_equal(drawn([pixels], (9, 4), HALF_PIXELS, b"", before, after)[0], expected)
    unresized = (scaled / operands + operands)[:, ::-1]
    assert np.array_equal(drawn([pixels], (6, 7), SAME_SIZE, b"\1", before, after)[0], unresized)


def test_images_of_different_sizes_in_one_call():
    images = [image((n, 2 * n, 3), np.uint8, n) for n in range(1, 40)]
    assert np.array_equal(drawn(images, (8, 8)), [bilinear(pixels, (8, 8), HALF_PIXELS) for pixels in images])


def test_rows_may_lie_anywhere():
    whole = image((20, 30, 3), np.uint8)
    for pixels in (whole[::2], whole[::-1], whole[3:9, 4:20], whole[::-3, 1:2]):
        assert np.array_equal(drawn([pixels], (5, 6))[0], bilinear(pixels, (5, 6), HALF_PIXELS))
        assert np.array_equal(drawn_nearest([pixels], (5, 6))[0], nearest(pixels, (5, 6), HALF_PIXELS))


def test_floats_need_not_be_aligned():
    data = bytearray(1 + 4 * 3 * 4 * 3)
    pixels = np.frombuffer(data, np.float32, offset=1).reshape(3, 4, 3)
    pixels[...] = image((3, 4, 3), np.float32)
    assert np.array_equal(drawn([pixels], (5, 5))[0], bilinear(pixels, (5, 5), HALF_PIXELS))


def test_values_that_are_not_finite_stay_where_they_are():
    pixels = np.zeros((3, 3, 1), np.float32)
    pixels[0, 0] = np.nan
    result = drawn([pixels], (6, 6))[0]
    assert np.isnan(result[:2, :2]).all()
    assert not result[3:, 3:].any()


# ---- Errors ----


def test_images_without_pixels_are_refused():
    for shape in ((0, 4, 3), (4, 0, 3), (0, 0, 3)):
        with pytest.raises(InvalidArgumentError, match="can't be resized"):
            drawn([np.zeros(shape, np.uint8)], (2, 2))
        with pytest.raises(InvalidArgumentError, match="can't be resized"):
            drawn_nearest([np.zeros(shape, np.uint8)], (2, 2))


def test_results_without_pixels():
    assert drawn([image((3, 3, 0), np.uint8)], (2, 2)).shape == (1, 2, 2, 0)
    assert drawn([image((3, 3, 3), np.uint8)], (0, 2)).shape == (1, 0, 2, 3)


def test_same_size_is_checked():
    with pytest.raises(InvalidArgumentError, match="3 x 4 pixels, not 4 x 3"):
        drawn([image((3, 4, 3), np.uint8)], (4, 3), SAME_SIZE)


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        ([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.uint8)], {}, "images"),
        ([np.zeros((2, 2, 3), np.int16)], {}, "one dtype"),
        ([np.zeros((2, 2, 3), np.float64)], {}, "one dtype"),
        ([np.zeros((2, 2, 3), ">f4")], {}, "one dtype"),
        ([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 3), np.float32)], {}, "one dtype"),
        ([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 1), np.uint8)], {}, "number of channels"),
        ([np.zeros((2, 3, 2), np.uint8).transpose(0, 2, 1)], {}, "adjacent"),
        ([np.zeros((2, 4, 3), np.uint8)[:, ::2]], {}, "adjacent"),
        ([np.zeros((2, 2, 3), np.uint8)], {"flips": b"\0\0"}, "flips"),
        ([np.zeros((2, 2, 3), np.uint8)], {"alignment": 4}, "alignment"),
        ([np.zeros((2, 2, 3), np.uint8)], {"alignment": -1}, "alignment"),
        ([np.zeros((2, 2, 3), np.uint8)], {"after": [(4, [1.0] * 3)]}, "steps"),
        ([np.zeros((2, 2, 3), np.uint8)], {"before": [(MULTIPLY, [1.0])]}, "steps"),
    ],
)
def test_wrong_arguments(images, options, message):
    with pytest.raises(ValueError, match=message):
        drawn(images, **({"size": (2, 2)} | options))


def test_floats_need_an_array_for_their_results():
    pixels = [np.zeros((2, 2, 3), np.uint8)]
    for out in (np.empty((2, 2, 3), np.float32), np.empty((1, 2, 4, 3), np.float32)[:, :, ::2]):
        with pytest.raises(ValueError, match="out"):
            _core.draw_images(pixels, out, HALF_PIXELS, b"", [], [])
    with pytest.raises(TypeError):
        _core.draw_images(pixels, np.empty((1, 2, 2, 3)), HALF_PIXELS, b"", [], [])
    assert _core.draw_images([], np.empty((0, 2, 2, 3), np.float32), HALF_PIXELS, b"", [], []) is None


def test_nearest_needs_an_array_for_its_results():
    pixels = [np.zeros((2, 2, 3), np.uint8)]
    for out in (
        np.empty((2, 2, 3), np.uint8),
        np.empty((2, 2, 2, 3), np.uint8),
        np.empty((1, 2, 4, 3), np.uint8)[:, :, ::2],
    ):
        with pytest.raises(ValueError, match="out"):
            _core.draw_nearest(pixels, out, HALF_PIXELS, b"")
    with pytest.raises(ValueError, match="objects"):
        _core.draw_nearest([np.zeros((1, 1, 1), object)], np.empty((1, 1, 1, 1), object), HALF_PIXELS, b"")
    frozen = np.empty((1, 2, 2, 3), np.uint8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="not writeable"):
        _core.draw_nearest(pixels, frozen, HALF_PIXELS, b"")
