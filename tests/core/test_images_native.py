"""The images room: resized, mirrored and scaled pixels are those of NumPy, whatever the strides."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from tfrecord_fast import _core
from tfrecord_fast.errors import InvalidArgumentError

BILINEAR, NEAREST, BICUBIC, AREA, LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = range(8)
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


def drawn(
    images,
    size,
    alignment=HALF_PIXELS,
    flips=b"",
    before=(),
    after=(),
    method=BILINEAR,
    antialias=False,
    dtype=np.float32,
    **options,
):
    shape = (images[0].shape[2], *size) if options.get("channels_first") else (*size, images[0].shape[2])
    out = np.empty((len(images), *shape), dtype)
    _core.draw_images(images, out, method, alignment, antialias, flips, before, after, **options)
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


# ---- All methods ----

WAYS = [
    *[(method, antialias, HALF_PIXELS) for method in range(8) for antialias in (False, True)],
    *[(method, False, alignment) for method in (AREA, BICUBIC, NEAREST) for alignment in (TOP_LEFT, CORNERS)],
    (LANCZOS3, True, SAME_SIZE),
]


def way_options(way, size, pixels):
    method, antialias, alignment = way
    return {
        "size": pixels.shape[:2] if alignment == SAME_SIZE else size,
        "method": method,
        "antialias": antialias,
        "alignment": alignment,
    }


@pytest.fixture(params=_core.resize_backends())
def backend(request):
    before = _core.resize_backend()
    _core.set_resize_backend(request.param)
    yield request.param
    _core.set_resize_backend(before)


@pytest.mark.parametrize("way", WAYS)
def test_weights_add_up(way, backend):
    """An image of one value keeps it."""
    for (height, width), size in SIZES:
        pixels = np.full((height, width, 3), 200, np.uint8)
        options = way_options(way, size, pixels)
        np.testing.assert_allclose(drawn([pixels], **options), 200, rtol=1e-5)
        assert (drawn([pixels], **options, dtype=np.uint8) == 200).all()


@pytest.mark.parametrize("way", WAYS)
def test_backends_agree(way):
    before = _core.resize_backend()
    for (height, width), size in [*SIZES, ((60, 75), (31, 33))]:
        for channels, dtype in itertools.product((1, 2, 3, 4), (np.uint8, np.float32)):
            pixels = image((height, width, channels), dtype)
            steps = [(MULTIPLY, [1.5] * channels), (SUBTRACT, [90.0] * channels)]
            options = way_options(way, size, pixels)
            results = {}
            for name in _core.resize_backends():
                _core.set_resize_backend(name)
                results[name] = [
                    drawn([pixels], **options, after=steps, dtype=result) for result in (np.float32, np.uint8)
                ]
            _core.set_resize_backend(before)
            floats, numbers = results["portable"]
            assert np.array_equal(numbers, np.clip(np.rint(floats), 0, 255))
            for name, (other_floats, other_numbers) in results.items():
                assert np.array_equal(other_floats, floats), name
                assert np.array_equal(other_numbers, numbers), name


@pytest.mark.parametrize("way", WAYS)
def test_windows_flips_and_planes(way, backend):
    for ((height, width), size), dtype in itertools.product(SIZES, (np.uint8, np.float32)):
        images = [image((height, width, 3), np.uint8, seed) for seed in range(4)]
        options = way_options(way, size, images[0]) | {"dtype": dtype}
        height, width = options.pop("size")
        whole = drawn(images, (height, width), **options)
        top, left = height // 3, width // 4
        rows, columns = height - top - height // 4, width - left
        cut = whole[:, top : top + rows, left : left + columns]
        expected = np.stack([cut[0], cut[1][:, ::-1], cut[2][::-1], cut[3][::-1, ::-1]])
        options |= {"flips": bytes([0, 1, 2, 3]), "window": (height, width, top, left)}
        assert np.array_equal(drawn(images, (rows, columns), **options), expected)
        planes = drawn(images, (rows, columns), **options, channels_first=True)
        assert np.array_equal(planes, expected.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("way", WAYS)
def test_steps_before_work_on_the_pixels(way):
    for (height, width), size in SIZES:
        pixels = image((height, width, 3), np.uint8)
        options = way_options(way, size, pixels)
        scaled = pixels.astype(np.float32) / np.float32(255) - np.float32(0.25)
        before = [(DIVIDE, [255.0] * 3), (SUBTRACT, [0.25] * 3)]
        for flips in (b"", b"\3"):
            expected = drawn([scaled], flips=flips, **options)
            assert np.array_equal(drawn([pixels], flips=flips, before=before, **options), expected)


@pytest.mark.parametrize("way", WAYS)
def test_tables_are_kept_for_equal_sizes_alone(way):
    images = [image((3 + n % 11, 2 + n % 7, 3), np.uint8, n) for n in range(40)]
    if way[2] == SAME_SIZE:
        images = [pixels[:3, :2] for pixels in images]
    options = way_options(way, (5, 4), images[0])
    assert np.array_equal(drawn(images, **options), [drawn([pixels], **options)[0] for pixels in images])


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", [BILINEAR, BICUBIC, LANCZOS3, GAUSSIAN, MITCHELLCUBIC, AREA])
def test_parts_begin_between_pixels(method, antialias):
    """A plane stays one, so its value at any position is known."""
    rows, columns = np.mgrid[:60, :50].astype(np.float32)
    pixels = (3 * rows + 2 * columns)[:, :, None]
    top, left, height, width = 13.25, 15.5, 21.5, 18.75
    result = drawn([pixels], (11, 24), method=method, antialias=antialias, part=(top, left, height, width))
    y = top + (np.arange(11) + 0.5) * height / 11 - 0.5
    x = left + (np.arange(24) + 0.5) * width / 24 - 0.5
    expected = 3 * y[:, None] + 2 * x
    tolerance = 0.4 if antialias or method in (LANCZOS3, GAUSSIAN, AREA) else 1e-2
    assert np.abs(result[0, :, :, 0] - expected).max() < tolerance


@pytest.mark.parametrize("way", [way for way in WAYS if way[2] == HALF_PIXELS])
def test_a_part_may_be_all_pixels(way):
    pixels = image((9, 11, 3), np.uint8)
    options = way_options(way, (5, 17), pixels)
    assert np.array_equal(drawn([pixels], **options, part=(0, 0, 9, 11)), drawn([pixels], **options))


def test_rounding():
    values = np.array([-1e9, -0.6, -0.5, 0.4999, 0.5, 1.5, 2.5, 254.5, 255.4, 256, 1e9, np.inf, -np.inf, np.nan])
    expected = [0, 0, 0, 0, 0, 2, 2, 254, 255, 255, 255, 255, 0, 0]
    pixels = np.tile(values.astype(np.float32), 9)[None, :, None]  # more than a vector holds
    for name in _core.resize_backends():
        _core.set_resize_backend(name)
        assert drawn([pixels], (1, 126), SAME_SIZE, dtype=np.uint8).ravel().tolist() == expected * 9
    _core.set_resize_backend(_core.resize_backends()[0])


def test_the_environment_names_the_backend():
    code = "from tfrecord_fast import _core; print(_core.resize_backend())"
    for name in [*_core.resize_backends(), "none"]:
        environment = {**os.environ, "TFRECORD_FAST_RESIZE": name}
        result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert result.stdout.strip() == (_core.resize_backends()[0] if name == "none" else name)


def test_unknown_backends():
    with pytest.raises(ValueError, match="no resize backend"):
        _core.set_resize_backend("none")


# ---- Errors ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": (4, 4, 3, 0)}, "window"),
        ({"window": (4, 4, 0, 3)}, "window"),
        ({"window": (4, 4, 2**64 - 1, 0)}, "window"),
        ({"part": (0, 0, 3.5, 3)}, "part"),
        ({"part": (0, 0.5, 3, 3)}, "part"),
        ({"part": (-0.5, 0, 3, 3)}, "part"),
        ({"part": (0, 0, 3, 0)}, "part"),
        ({"part": (0, 0, float("nan"), 3)}, "part"),
        ({"part": (0, 0, 2, 2), "alignment": CORNERS}, "part"),
        ({"method": LANCZOS3, "alignment": TOP_LEFT}, "aligned"),
        ({"method": GAUSSIAN, "alignment": CORNERS}, "aligned"),
        ({"method": 8}, "method"),
        ({"method": -1}, "method"),
    ],
)
def test_what_can_not_be_drawn(options, message):
    with pytest.raises(ValueError, match=message):
        drawn([image((3, 3, 3), np.uint8)], (2, 2), **options)


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
            _core.draw_images(pixels, out, BILINEAR, HALF_PIXELS, False, b"", [], [])
    with pytest.raises(ValueError, match="uint8 or float32"):
        _core.draw_images(pixels, np.empty((1, 2, 2, 3)), BILINEAR, HALF_PIXELS, False, b"", [], [])
    assert _core.draw_images([], np.empty((0, 2, 2, 3), np.float32), BILINEAR, HALF_PIXELS, False, b"", [], []) is None


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
