"""Casts, norms, means, shapes and pixels at their limits: literal values, and TensorFlow's."""

import inspect

import numpy as np
import pytest

import tfrecord_fast as plain
import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import listed, of_both, outcomes, same

WRONG = (tf.errors.InvalidArgumentError, ValueError, TypeError, NotImplementedError, IndexError)


# ---- Literal values ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_floats_of_an_image_are_cut_off_where_its_dtype_ends(dtype):
    image = tf.cast(tf.constant(np.float32([-40, 300, 254.75, 7]).repeat(8)), dtype)
    for cast in (tf.cast, plain.cast):
        result = np.asarray(cast(image, "uint8"))
        assert result[::8].tolist() == [0, 255, np.asarray(image)[16].astype(int), 7] and result.dtype == np.uint8
        assert np.asarray(cast(image, "int8"))[::8].tolist() == [-40, 127, 127, 7]
        assert np.asarray(cast(image, "uint16"))[:1].tolist() == [0] and cast(image[:31], "uint8")[0] == 216
    assert tf.image.convert_image_dtype(image / 200, tf.uint8).numpy()[:24:8].tolist() == [0, 255, 255]
    assert tf.cast(image * 1000, tf.int32).numpy()[0] == -40000 or dtype != "float32"


@pytest.mark.parametrize(
    "length, share, left",
    [(10, 0.8, 8), (20, 0.1, 2), (100, 0.8, 80), (10, 0.2, 2), (10, 0.4, 4), (20, 0.6, 8 + 4), (100, 0.3, 30)],
)
def test_central_crop_takes_the_fraction_as_it_is(length, share, left):
    start = int((length - length * share) / 2)
    assert length - 2 * start == left
    result = tf.image.central_crop(np.zeros([length, length, 1], np.uint8), share)
    assert tuple(result.shape) == (left, left, 1)


def test_reshape_of_an_empty_batch_keeps_the_other_lengths():
    assert tuple(tf.reshape(tf.zeros([0, 5]), [0, -1]).shape) == (0, 5)
    assert tuple(tf.reshape(tf.zeros([0, 2, 3]), [0, -1]).shape) == (0, 6)
    batch = tf.zeros([0, 4, 4, 3])
    assert tuple(tf.reshape(batch, [tf.shape(batch)[0], -1]).shape) == (0, 48)
    assert tuple(tf.reshape(tf.zeros([0, 6]), [0, -1, 2]).shape) == (0, 3, 2)


@pytest.mark.parametrize("function", ["reduce_sum", "reduce_max", "abs", "square", "cumsum", "sort", "identity"])
def test_numbers_among_tensors_take_their_dtype(function):
    assert getattr(tf, function)([tf.constant(2.5), 1]).dtype == tf.float32


def test_numbers_among_narrow_tensors_take_their_dtype():
    assert tf.reduce_sum([tf.constant(2, tf.uint8), 3]).dtype == tf.uint8
    assert tf.reduce_sum([tf.constant(2.0, tf.float16), 3.0]).dtype == tf.float16
    assert tf.reduce_sum([[tf.constant(1.5), 1], [2, 3]]).dtype == tf.float32


def test_tensors_of_several_dtypes_in_a_list_are_an_error():
    with pytest.raises(WRONG):
        tf.reduce_sum([tf.constant(1), tf.constant(2.5)])


def test_norm_of_matrices_is_frobenius():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert float(tf.norm(x, axis=[0, 1])) == pytest.approx(30**0.5)
    assert float(tf.norm(x, axis=(-2, -1))) == pytest.approx(30**0.5)
    assert float(tf.norm(x, ord=2, axis=(0, 1))) == pytest.approx(5.4649857)


def test_norm_keeps_dimensions_without_an_axis():
    assert tuple(tf.norm(tf.ones([2, 3]), keepdims=True).shape) == (1, 1)


def test_norm_of_integers_is_not_cut():
    with pytest.raises(WRONG):
        tf.norm(tf.constant([1, 1]))  # TensorFlow has no sqrt of int32


def test_bfloat16_sums_do_not_stick():
    ones = tf.ones([1000], tf.bfloat16)
    assert float(tf.cast(tf.reduce_mean(ones), tf.float32)) == 1.0
    assert float(tf.cast(tf.reduce_sum(ones), tf.float32)) == pytest.approx(1000, rel=0.01)
    assert float(tf.cast(tf.math.l2_normalize(ones)[0], tf.float32)) == pytest.approx(1000**-0.5, rel=0.02)


def test_float16_sums_over_the_first_axis_do_not_stick():
    assert tf.reduce_sum(tf.ones([8192, 2], tf.float16), 0).numpy().tolist() == [8192, 8192]


def test_norm_is_over_one_axis_or_two():
    for axes in ([0, 1, 2], [0]):
        with pytest.raises(WRONG):
            tf.norm(tf.zeros([1, 2, 2]), axis=axes)


def test_stacked_integers_of_numpy_do_not_become_floats():
    large = 2**63 + 5
    assert tf.stack([np.uint64(5), np.int64(2**53 + 1)]).numpy().tolist() == [5, 2**53 + 1]
    assert tf.stack([np.array([1]), np.array([large], np.uint64)]).numpy().tolist() == [[1], [large]]
    with pytest.raises(WRONG):
        tf.stack([np.int64(-1), np.uint64(large)])


def test_bools_are_no_images_and_no_bits():
    for wrong in (lambda: tf.image.convert_image_dtype([True], tf.uint8), lambda: tf.bitcast([True], tf.int8)):
        with pytest.raises(WRONG):
            wrong()


def test_half_pixel_centers_of_tensorflow_1_count():
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    V = tf.compat.v1.image
    np.testing.assert_allclose(
        V.resize_bilinear(x, [5, 7], half_pixel_centers=True).numpy(), tf.image.resize(x, [5, 7]).numpy(), atol=1e-5
    )
    np.testing.assert_array_equal(
        V.resize_nearest_neighbor(x, [2, 3], half_pixel_centers=True).numpy(),
        tf.image.resize(x, [2, 3], "nearest").numpy(),
    )


def test_resize_bilinear_of_tensorflow_1_gives_floats_of_the_same_size_too():
    x = np.zeros([1, 3, 4, 1], np.uint8)
    assert tf.compat.v1.image.resize_bilinear(x, [3, 4]).dtype == tf.float32


def test_string_split_of_tensorflow_1_has_a_set_of_delimiters():
    split = tf.compat.v1.string_split
    assert split(["abc"], delimiter="").values.numpy().tolist() == [b"a", b"b", b"c"]
    assert split(["a b"], delimiter="").values.numpy().tolist() == [b"a", b" ", b"b"]
    assert split(["a-b c"], delimiter="- ").values.numpy().tolist() == [b"a", b"b", b"c"]
    assert split(["a,;b"], delimiter=",;", skip_empty=False).values.numpy().tolist() == [b"a", b"", b"b"]


def test_convert_image_dtype_saturates_integers():
    convert = tf.image.convert_image_dtype
    assert convert(np.array([-1, -32768, 32767], np.int16), tf.uint8, saturate=True).numpy().tolist() == [0, 0, 255]
    assert convert(np.array([-1, 127], np.int8), tf.uint8, saturate=True).numpy().tolist() == [0, 254]
    assert convert(np.array([-5], np.int16), tf.uint16, saturate=True).numpy().tolist() == [0]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_convert_image_dtype_of_one_is_near_the_limit(dtype):
    result = tf.image.convert_image_dtype(np.float32([1.0]), dtype, saturate=True).numpy()
    assert int(result[0]) >= 0.99 * np.iinfo(dtype).max


def test_adjust_brightness_of_int32_saturates():
    result = tf.image.adjust_brightness(np.full([2, 2, 3], 2**30, np.int32), 0.9).numpy()
    assert int(result.min()) >= 2**31 - 1024


def test_convert_image_dtype_of_a_list_is_of_int32():
    result = tf.image.convert_image_dtype([1, 2], tf.float32).numpy()
    np.testing.assert_allclose(result, np.float32([1, 2]) / np.float32(2147483647))


def test_bitcast_needs_the_last_length():
    with pytest.raises(WRONG):
        tf.bitcast(tf.constant([1, 0, 0, 0, 2, 0, 0, 0], tf.uint8), tf.int32)
    assert tf.bitcast(tf.constant([1, 0, 0, 0], tf.uint8), tf.int32).numpy() == 1


def test_complex_numbers():
    z, w = tf.constant([3 + 4j], tf.complex64), tf.constant([1 + 1j], tf.complex64)
    assert tf.abs(z).dtype == tf.float32 == abs(z).dtype
    assert tf.math.squared_difference(z, w).numpy().tolist() == [13 + 0j]
    np.testing.assert_allclose(tf.math.l2_normalize(z).numpy(), np.complex64([0.6 + 0.8j]), rtol=1e-5)


def test_updates_have_the_shape_that_indices_say():
    with pytest.raises(WRONG):
        tf.scatter_nd([[0], [2]], [5], [4])
    with pytest.raises(WRONG):
        tf.tensor_scatter_nd_update(tf.zeros([4]), [[0], [2]], [5.0])


def test_gather_nd_of_no_place_gives_all_for_each():
    assert tuple(tf.gather_nd(tf.constant([1, 2, 3]), np.zeros([2, 0], np.int32)).shape) == (2, 3)


def test_decode_and_crop_jpeg_takes_the_options_of_decode_jpeg():
    image = np.random.default_rng(0).integers(0, 256, [24, 32, 3]).astype(np.uint8)
    jpeg = tf.io.encode_jpeg(image)
    options = {"dct_method": "INTEGER_ACCURATE", "fancy_upscaling": False}
    whole = tf.io.decode_jpeg(jpeg, **options).numpy()
    np.testing.assert_array_equal(tf.io.decode_and_crop_jpeg(jpeg, [0, 0, 24, 32], **options).numpy(), whole)
    assert tuple(tf.io.decode_and_crop_jpeg(jpeg, [0, 0, 24, 32], tf.constant(1)).shape) == (24, 32, 1)
    names = [[*inspect.signature(item).parameters] for item in (tf.io.decode_jpeg, tf.io.decode_and_crop_jpeg)]
    assert names[1] == ["contents", "crop_window", *names[0][1:]] and names[0][-2:] == ["dct_method", "name"]
    with pytest.raises(TypeError):
        tf.io.decode_and_crop_jpeg(jpeg, [0, 0, 24, 32], no_such_option=1)


def _pad_plan(height, width, frame, dtype):
    """Return the size and the margins of resize_with_pad, computed in a float type."""
    h, w, fh, fw = map(dtype, (height, width, *frame))
    ratio = max(w / fw, h / fh)
    return (
        int(np.floor(h / ratio)), int(np.floor(w / ratio)),
        max(int(np.floor((fh - h / ratio) / dtype(2))), 0), max(int(np.floor((fw - w / ratio) / dtype(2))), 0),
    )  # fmt: skip


def test_resize_with_pad_counts_in_float32():
    checked = 0
    for height in range(1, 64):
        for target in range(1, 48):
            frame = (target, 2 * target)
            wanted = _pad_plan(height, height, frame, np.float32)
            if wanted == _pad_plan(height, height, frame, np.float64) or min(wanted[:2]) < 1:
                continue
            result = tf.image.resize_with_pad(np.ones([height, height, 1], np.float32), *frame).numpy()[:, :, 0]
            rows, columns = np.flatnonzero(result.any(1)), np.flatnonzero(result.any(0))
            assert (len(rows), len(columns), rows[0], columns[0]) == wanted, (height, target)
            checked += 1
            if checked > 20:
                return


def test_tensorflow_1_keeps_aspect_ratios_in_float32():
    for height in range(1, 70):
        for target in range(1, 50):
            width = 2 * height + 1
            sizes = []
            for dtype in (np.float32, np.float64):
                scale = min(dtype(target) / dtype(height), dtype(target) / dtype(width))
                sizes.append(tuple(int(np.round(scale * dtype(item))) for item in (height, width)))
            if sizes[0] == sizes[1] or min(sizes[0]) < 1:
                continue
            x = np.zeros([height, width, 1], np.float32)
            result = tf.compat.v1.image.resize_images(x, [target, target], preserve_aspect_ratio=True)
            assert tuple(result.shape)[:2] == sizes[0], (height, width, target)


# ---- Beside TensorFlow ----

SETUP = """
c = np.random.RandomState(0).randint(0, 256, [5, 7, 3]).astype(np.uint8)
z = tf.constant([3 + 4j, 1j], tf.complex64); nan = float('nan')
B = tf.bfloat16; H = tf.float16; many = tf.constant([-40.0, 300.0, 254.75, 7.0, 4e4, -4e4, 1e9, -1e9] * 8)
def up(x): return tf.cast(x, tf.float32)
"""
EXACT = """
tf.range(0.0, 1.0, 0.1); tf.linspace(0.0, 1.0, 11); tf.linspace(0.1, 0.7, 7); tf.range(0, 3, 0.3)
tf.image.resize(c, [11, 13]); tf.image.resize(c, [3, 4]); tf.cast(tf.image.resize(c, [9, 10]), tf.uint8)
tf.image.central_crop(np.zeros([10, 10, 1]), 0.8).shape; tf.image.central_crop(np.zeros([20, 20, 1]), 0.1).shape
tf.image.central_crop(np.zeros([20, 20, 1]), tf.constant(0.1)).shape; tf.reshape(tf.zeros([0, 5]), [0, -1]).shape
tf.reshape(tf.zeros([2, 0, 3]), [2, 0, -1]).shape; tf.reshape(tf.zeros([0, 4]), [-1, 0]).shape
tf.reshape(tf.zeros([0, 4]), [0, -1, 3]).shape; tf.stack([np.array([1]), np.array([1.5], np.float32)])
tf.stack([np.array([1.5], np.float32), np.array([1])]); tf.concat([np.array([1]), np.array([1.5], np.float32)], 0)
tf.sequence_mask([-1, 2]); tf.transpose([[1, 2]], [-1, -2]); tf.zeros([2.7]); tf.reshape([1, 2, 3, 4], [2.0, 2.0])
tf.gather_nd([1, 2], np.zeros([2, 0], np.int32)); tf.cast([-1.5, 300.7, 255.9], tf.uint8)
tf.cast([nan, 1e10, -1e10], tf.int32); tf.cast([-1.0, 3e9, 5e9], tf.uint32); tf.cast(many, tf.uint8)
tf.cast(many, tf.int8); tf.cast(many, tf.uint16); tf.cast(many, tf.int16); tf.cast(tf.cast(many, B), tf.uint8)
tf.cast(tf.cast(many, tf.float64), tf.int8); tf.cast(tf.cast(many, H), tf.int16)
tf.image.convert_image_dtype(many, tf.uint8); tf.image.convert_image_dtype(many, tf.uint16)
tf.cast(tf.round(tf.image.resize(tf.reshape(tf.cast(many, tf.uint8), [8, 4, 2]), [16, 32], 'bicubic')), tf.uint8)
tf.cast([nan, 1e19, -1e19], tf.int64); tf.cast([-1.0, 1e19], tf.uint64); tf.cast([-1.5, 40000.0], tf.int16)
tf.constant(2**31, tf.int32); tf.constant([1]) + 2**31; tf.constant([-1], tf.uint32); tf.argmax([nan, nan])
tf.argmax([nan, -np.inf]); tf.argmin([nan, np.inf]); tf.sign([nan, -0.0]); tf.maximum([nan], 1.0)
tf.minimum([1.0], nan); tf.clip_by_value([nan], 0.0, 1.0); tf.reduce_max([nan, 1.0]); tf.reduce_min([1.0, nan])
tf.round([0.5, 1.5, -0.5, 2.5]); tf.math.floormod([-1e-20, 5.0, -5.0], [1.0, -np.inf, np.inf])
tf.convert_to_tensor([tf.constant(2.5), 1]); tf.reduce_sum([tf.constant(2.5), 1])
tf.square([tf.constant(2, tf.uint8), 3]); tf.reduce_sum([[tf.constant(1.5), 1], [2, 3]])
tf.cumsum([tf.constant(2.5), 1]); tf.cast([tf.constant(1.5), 2], tf.int32); tf.maximum([tf.constant(1.5), 1], 0.5)
tf.where([True, False], [tf.constant(1.5), 1], 0.0); tf.image.convert_image_dtype([1, 2], tf.float32)
tf.image.convert_image_dtype([0.2, 0.7], tf.uint8)
tf.image.convert_image_dtype(np.int16([-1, 5, -300]), tf.uint8, saturate=True)
tf.image.convert_image_dtype(np.int8([-1, 5]), tf.uint8, saturate=True)
tf.image.convert_image_dtype(np.int16([-1, 5]), tf.uint8); tf.image.convert_image_dtype(np.int8([-1, 5]), tf.uint16)
tf.bitcast(tf.constant([1, 0, 0, 0, 2, 0, 0, 0], tf.uint8), tf.int32); tf.compat.v1.string_split(['abc', 'd'], '')
tf.compat.v1.string_split(['a-b c'], '- '); tf.compat.v1.string_split(['a-b c', '-'], '- ', skip_empty=False)
tf.compat.v1.image.resize_bilinear(c[None], [5, 7]).dtype.name; tf.abs(z); abs(z)
tf.math.squared_difference(z, tf.constant([1 + 1j, 2], tf.complex64)); tf.sign(z)
tf.norm(tf.ones([2, 3]), keepdims=True); tf.scatter_nd([[0], [2]], [5], [4])
tf.tensor_scatter_nd_update(tf.zeros([4]), [[0], [2]], [5.0]); tf.norm(tf.constant([1, 1]))
tf.reduce_mean(tf.constant([2**62, 2**62], tf.int64)); tf.reduce_mean(tf.constant([-2**62, -2**62, -2**62], tf.int64))
tf.reduce_mean([-7, 2]); tf.reduce_mean([7, -2]); tf.gather(tf.zeros([1, 0]), [1, 0, 1])
tf.gather(tf.zeros([2, 0, 3]), [5]); tf.gather(tf.zeros([2, 3, 0]), [[5], [6]], axis=1, batch_dims=1)
"""
CLOSE = """
tf.norm([[1.0, 2.0], [3.0, 4.0]], axis=[0, 1]); tf.norm([[1.0, 2.0], [3.0, 4.0]], ord=2, axis=[0, 1])
tf.norm([[1.0, 2.0], [3.0, 4.0]], ord='fro', axis=(-2, -1)); tf.norm([3.0, 4.0], ord='fro'); tf.norm(z)
tf.norm(z, ord=1); tf.math.l2_normalize(z); up(tf.reduce_sum(tf.ones([1000], B)))
up(tf.reduce_mean(tf.ones([1000], B))); up(tf.reduce_mean(tf.ones([1000, 2], B), 0))
up(tf.reduce_sum(tf.ones([1000, 2], B), 0)); up(tf.reduce_sum(tf.ones([8192], H)))
up(tf.cumsum(tf.ones([1000], B))[-1]); tf.compat.v1.image.resize_bilinear(c[None], [9, 4], half_pixel_centers=True)
tf.compat.v1.image.resize_nearest_neighbor(c[None], [3, 4], half_pixel_centers=True)
tf.image.convert_image_dtype(np.float32([1.0, 0.5]), tf.int32, saturate=True)
tf.image.convert_image_dtype(np.float32([1.0, 2.0]), tf.uint32, saturate=True)
tf.image.adjust_brightness(np.full([1, 1, 3], 2**30, np.int32), 0.9)
tf.image.adjust_hue(np.float32([[[-0.5, 0.2, 0.9], [1.5, 0.3, 0.1]]]), 0.2)
tf.image.adjust_saturation(np.float32([[[-0.5, 0.2, 0.9], [1.5, 0.3, 0.1]]]), 0.5); tf.image.rgb_to_grayscale(c)
tf.image.rgb_to_grayscale(c.astype(np.float64)); tf.image.per_image_standardization(c)
tf.image.adjust_contrast(c, 1.7); tf.image.adjust_brightness(c, -0.3); tf.image.adjust_saturation(c, 2.5)
"""


CASES = [*((item, 0.0) for item in listed(EXACT)), *((item, 1e-5) for item in listed(CLOSE))]


@pytest.fixture(scope="module")
def both():
    if not live_tensorflow.INSTALLED:
        pytest.skip("TensorFlow is not installed")
    ours, theirs = of_both(outcomes, [item for item, _ in CASES], SETUP)
    return {item: pair for (item, _), pair in zip(CASES, zip(ours, theirs, strict=True), strict=True)}


@pytest.mark.parametrize("expression, tolerance", CASES, ids=[item for item, _ in CASES])
def test_is_as_tensorflow_has_it(both, expression, tolerance):
    ours, theirs = both[expression]
    assert same(ours, theirs, tolerance), f"ours {ours!r:.300}\ntheirs {theirs!r:.300}"
