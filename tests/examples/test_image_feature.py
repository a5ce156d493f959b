"""ImageFeature in parse_example: its pixels, its windows, and images that can't be decoded."""

import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as face
from tests.support import live_tensorflow
from tests.support.pictures import centre, encoded, examples, photograph, pictures, random_crop, resized
from tfrecord_fast import ImageFeature, _core

NUMBER = tf.FixedLenFeature([], tf.int64)
METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]


def parsed(records, feature, **options):
    return tf.io.parse_example(records, {"image": feature}, **options)["image"]


def whole(records):
    """The decoded images of records, as the core's decoder returns them for one image."""
    return [tf.io.decode_image(tf.io.parse_single_example(r, {"image": tf.FixedLenFeature([], tf.string)})["image"])
            for r in records]  # fmt: skip


def windows(records, top_left_sizes):
    return [image[t : t + h, x : x + w] for image, (t, x, h, w) in zip(whole(records), top_left_sizes, strict=True)]


def all_resized(images, size, **options):
    return np.stack([resized(image, size, **options) for image in images])


def rounded(pixels):
    return np.rint(pixels).clip(0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def records():
    return examples(pictures(12, form="JPEG") + pictures(12, seed=1, form="PNG"))


# ---- Pixels ----


def test_without_a_size_images_are_a_list_of_arrays(records):
    images = parsed(records, ImageFeature())
    assert type(images) is list
    assert all(image.flags.writeable for image in images)
    for image, expected in zip(images, whole(records), strict=True):
        np.testing.assert_array_equal(image, expected)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_images_are_resized_as_by_image_resize(records, method, antialias):
    images = parsed(records, ImageFeature((17, 11), dtype=tf.float32, resize=method, antialias=antialias))
    expected = all_resized(whole(records), (17, 11), method=method, antialias=antialias)
    np.testing.assert_allclose(images, expected, rtol=0, atol=1e-3)
    assert images.dtype == np.float32


def test_uint8_is_rounded_and_clipped():
    edges = np.repeat(np.repeat(np.indices((4, 4)).sum(axis=0) % 2 * 255, 9, axis=0), 9, axis=1).astype(np.uint8)
    records = examples([encoded(edges, "PNG")])
    images = parsed(records, ImageFeature((17, 11), resize="lanczos5"))
    exact = parsed(records, ImageFeature((17, 11), resize="lanczos5", dtype=tf.float32))
    assert exact.min() < 0 and exact.max() > 255
    np.testing.assert_array_equal(images, rounded(exact))


def test_gray_images_have_one_channel(records):
    images = parsed(records, ImageFeature((9, 8), 1, tf.float32))
    grays = [tf.io.decode_image(image, channels=1) for image in pictures(12, form="JPEG")]
    np.testing.assert_allclose(images[:12], all_resized(grays, (9, 8), antialias=True), atol=1e-3)
    assert images.shape == (24, 9, 8, 1)


@pytest.mark.parametrize("size", [None, 9])
@pytest.mark.parametrize("dtype", [tf.uint8, tf.float32])
def test_channels_first_is_the_transpose(records, size, dtype):
    options = {"dtype": dtype, "flip": True, "seed": 3}
    first = parsed(records, ImageFeature(size, channels_first=True, **options))
    last = parsed(records, ImageFeature(size, **options))
    for a, b in zip(first, last, strict=True):
        assert a.flags.c_contiguous
        np.testing.assert_array_equal(a, b.transpose(2, 0, 1))


def test_an_image_of_the_size_is_copied():
    image = photograph(20, 30)
    records = examples([encoded(image, "PNG")])
    for options in ({}, {"crop": "center"}, {"dtype": tf.float32}, {"channels_first": True}):
        result = parsed(records, ImageFeature((20, 30), resize="bicubic", **options))[0]
        np.testing.assert_array_equal(result.transpose(1, 2, 0) if "channels_first" in options else result, image)


@pytest.mark.parametrize("method", ["gaussian", "mitchellcubic", "lanczos3", "bicubic"])
def test_an_image_of_the_size_is_still_filtered(method):
    pixels = (np.arange(192) * 37 % 251).astype(np.uint8).reshape(8, 8, 3)
    records = tf.encode_examples({"image": [tf.io.encode_png(pixels)]})
    made = tf.parse_example(records, {"image": tf.ImageFeature(8, resize=method, dtype=tf.float32)})["image"][0]
    assert np.allclose(made, face.image.resize(pixels, (8, 8), method=method).numpy(), atol=1e-3)


def test_pixels_are_those_of_tensorflow():
    if not live_tensorflow.INSTALLED:
        pytest.skip("TensorFlow is not installed")
    files = pictures(6, seed=2, form="JPEG", least=30, most=90)
    records = examples(files)

    def by_tensorflow(files, crops):
        results = []
        for file, (top, left, height, width, mirrored) in zip(files, crops, strict=True):
            window = tf.io.decode_jpeg(file, channels=3)[top : top + height, left : left + width]
            image = tf.image.resize(window, (24, 20), antialias=True)
            results.append((image[:, ::-1] if mirrored else image).numpy())
        return np.stack(results)

    crops = [
        random_crop(record, *image.shape[:2], seed=8, number=row)
        for row, (record, image) in enumerate(zip(records, whole(records), strict=True))
    ]
    images = parsed(records, ImageFeature((24, 20), dtype=tf.float32, crop="random", flip=True, seed=8))
    np.testing.assert_allclose(images, live_tensorflow.call(by_tensorflow, files, crops), rtol=0, atol=1e-3)


# ---- Windows ----


def test_center_takes_the_largest_window_of_the_aspect_ratio(records):
    images = parsed(records, ImageFeature((10, 20), dtype=tf.float32, crop="center"))
    places = [centre(*image.shape[:2], 2) for image in whole(records)]
    np.testing.assert_allclose(images, all_resized(windows(records, places), (10, 20), antialias=True), atol=1e-3)


@pytest.mark.parametrize("flip", [False, True])
def test_shorter_side_resizes_before_the_crop(records, flip):
    images = parsed(
        records, ImageFeature((15, 14), dtype=tf.float32, crop="center", shorter_side=17, flip=flip, seed=1)
    )
    for row, (image, pixels) in enumerate(zip(images, whole(records), strict=True)):
        shorter = min(pixels.shape[:2])
        height, width = (int(17 * side / shorter) for side in pixels.shape[:2])
        top, left = round((height - 15) / 2), round((width - 14) / 2)
        expected = resized(pixels, (height, width), antialias=True)[top : top + 15, left : left + 14]
        mirrored = flip and random_crop(records[row], 9, 9, seed=1, number=row)[4]
        np.testing.assert_allclose(image, expected[:, ::-1] if mirrored else expected, atol=1e-3)


@pytest.mark.parametrize("scale, ratio", [((0.08, 1), (3 / 4, 4 / 3)), ((0.9, 1), (2, 3)), ((0.3, 0.3), (1, 1))])
def test_random_windows_are_those_of_torchvision(records, scale, ratio):
    feature = ImageFeature(12, dtype=tf.float32, crop="random", scale=scale, ratio=ratio, seed=7)
    images = parsed(records, feature)
    crops = [
        random_crop(record, *image.shape[:2], seed=7, number=row, scale=scale, ratio=ratio)[:4]
        for row, (record, image) in enumerate(zip(records, whole(records), strict=True))
    ]
    np.testing.assert_allclose(images, all_resized(windows(records, crops), (12, 12), antialias=True), atol=1e-3)


def test_half_of_the_images_are_mirrored(records):
    image = encoded(photograph(8, 8), "PNG")
    many = examples([image] * 400)
    images = parsed(many, ImageFeature(8, flip=True, seed=4))
    plain = photograph(8, 8)
    mirrored = [bool((row == plain[:, ::-1]).all()) for row in images]
    assert all((row == plain).all() for row, is_mirrored in zip(images, mirrored, strict=True) if not is_mirrored)
    assert 160 < sum(mirrored) < 240


def test_an_image_and_its_mask_stay_aligned():
    images = [photograph(40, 50, seed) for seed in range(20)]
    records = examples(
        [encoded(image, "PNG") for image in images], mask=[encoded(image[..., 0], "PNG") for image in images]
    )
    options = {"crop": "random", "flip": True, "resize": "nearest", "seed": 5}
    columns = tf.io.parse_example(
        records, {"image": ImageFeature(16, **options), "mask": ImageFeature(16, 1, **options)}
    )
    np.testing.assert_array_equal(columns["image"][..., :1], columns["mask"])


def test_draws_depend_on_the_seed_and_on_the_record(records):
    def draw(seed, rows=records):
        return parsed(rows, ImageFeature(8, crop="random", seed=seed))

    np.testing.assert_array_equal(draw(1), draw(1))
    np.testing.assert_array_equal(draw(1), draw(1 + 2**64))
    assert (draw(1) != draw(2)).any(axis=(1, 2, 3)).mean() > 0.8
    same = draw(1, records[:1] * 20)
    assert len(np.unique(same, axis=0)) > 15


def test_random_features_outside_of_a_reader_need_a_seed(records):
    for feature in (ImageFeature(8, crop="random"), ImageFeature(flip=True)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="feature 'image': random crops and flips need"):
            parsed(records, feature)
        with pytest.raises(tf.errors.InvalidArgumentError, match="need ImageFeature"):
            tf.io.parse_single_example(records[0], {"image": feature})


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(records, threads):
    feature = ImageFeature(8, crop="random", flip=True, seed=1)
    many = records * 20
    np.testing.assert_array_equal(parsed(many, feature, num_threads=threads), parsed(many, feature, num_threads=3))


# ---- Reduced scales ----


def test_inexact_pixels_are_close_to_exact_ones():
    """Compare with the bounds in docs/guide/images.md."""
    files = [
        encoded(photograph(height, width, height), quality=90)
        for height, width in [(501, 703), (1024, 768), (333, 999)]
    ]
    records = examples(files)
    for crop in (None, "center"):
        exact, fast = (
            parsed(records, ImageFeature(40, dtype=tf.float32, crop=crop, exact=is_exact)) for is_exact in (True, False)
        )
        difference = np.abs(exact - fast)
        assert difference.max() > 0, "nothing was reduced"
        assert difference.mean() < 1.3
        assert np.quantile(difference, 0.99) < 5


def test_inexact_random_windows_are_the_same_windows():
    records = examples([encoded(photograph(600, 800, seed), quality=92) for seed in range(8)])
    exact, fast = (
        parsed(records, ImageFeature(32, dtype=tf.float32, crop="random", flip=True, seed=2, exact=is_exact))
        for is_exact in (True, False)
    )
    assert np.abs(exact - fast).max() > 0
    assert np.abs(exact - fast).mean(axis=(1, 2, 3)).max() < 2


def test_images_that_are_not_larger_are_exact(records):
    for feature in (ImageFeature(70), ImageFeature()):
        fast = parsed(records, feature._replace(exact=False))
        for a, b in zip(parsed(records, feature), fast, strict=True):
            np.testing.assert_array_equal(a, b)


# ---- Images that can't be decoded ----

HOSTILE = {
    "empty": b"",
    "text": b"not an image",
    "only a start": b"\xff\xd8\xff",
    "PNG's start": b"\x89PNG\r\n\x1a\n",
    "truncated JPEG": encoded(photograph(50, 50))[:-300],
    "truncated PNG": encoded(photograph(50, 50), "PNG")[:-300],
    "damaged PNG": encoded(photograph(50, 50), "PNG").replace(b"IDAT", b"IDAU"),
    "claims too much": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\0\0\0",
    "GIF": encoded(photograph(9, 9)[..., 0], "GIF"),
}


@pytest.fixture(params=HOSTILE)
def damaged(request):
    good = encoded(photograph(20, 20), "PNG")
    return examples([good, good, HOSTILE[request.param], good], text=[b"a", b"b", b"c", b"d"])


@pytest.mark.parametrize("size", [None, 8])
def test_a_damaged_image_is_an_error_that_names_it(damaged, size):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'image': .*\(record 2\)"):
        parsed(damaged, ImageFeature(size))


def test_skip_drops_the_record_from_all_columns(damaged):
    features = {
        "image": ImageFeature(8, on_error="skip"),
        "number": tf.VarLenFeature(tf.int64),
        "text": tf.FixedLenFeature([], tf.string),
        "missing": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    columns = tf.io.parse_example(damaged, features)
    good = [record for i, record in enumerate(damaged) if i != 2]
    expected = tf.io.parse_example(good, features)
    np.testing.assert_array_equal(columns["image"], expected["image"])
    assert columns["text"].tolist() == [b"a", b"b", b"d"]
    assert columns["number"].values.tolist() == [0, 1, 3]
    assert columns["missing"].shape == (3, 0)


def test_skip_drops_the_record_from_lists_of_images(damaged):
    assert [image.shape for image in parsed(damaged, ImageFeature(on_error="skip"))] == [(20, 20, 3)] * 3


def test_zeros_makes_a_black_image(damaged):
    images = parsed(damaged, ImageFeature(8, on_error="zeros", dtype=tf.float32))
    assert not images[2].any()
    assert images[[0, 1, 3]].any(axis=(1, 2, 3)).all()
    assert [image.shape for image in parsed(damaged, ImageFeature(on_error="zeros"))][2] == (0, 0, 3)


def test_the_earliest_bad_record_is_named():
    good = encoded(photograph(120, 120), "PNG")
    for bad in ([40], [41, 7, 90], [99, 3]):
        records = examples([b"junk" if i in bad else good for i in range(100)])
        for threads in (1, 4):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"\(record {min(bad)}\)"):
                parsed(records, ImageFeature(8), num_threads=threads)


def test_a_missing_image_is_one_that_can_not_be_decoded():
    records = [*examples(pictures(2)), tf.train.Example().SerializeToString()]
    with pytest.raises(tf.errors.InvalidArgumentError, match="feature 'image': not in the record"):
        parsed(records, ImageFeature(8))
    assert parsed(records, ImageFeature(8, on_error="skip")).shape == (2, 8, 8, 3)
    assert not parsed(records, ImageFeature(8, on_error="zeros"))[2].any()


@pytest.mark.parametrize("on_error", ["raise", "skip", "zeros"])
def test_several_images_in_a_record_are_an_error(on_error):
    image = pictures(1)[0]
    records = tf.encode_examples({"image": [[image], [image, image]]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="image"):
        parsed(records, ImageFeature(8, on_error=on_error))
    with pytest.raises(tf.errors.InvalidArgumentError, match="image"):
        parsed(tf.encode_examples({"image": [1, 2]}), ImageFeature(8, on_error=on_error))


def test_max_pixels_limits_what_an_image_may_claim():
    records = examples([encoded(photograph(20, 30), "PNG"), encoded(photograph(21, 30))])
    assert parsed(records, ImageFeature(4, max_pixels=630)).shape == (2, 4, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"21 . 30 .*629.*\(record 1\)"):
        parsed(records, ImageFeature(4, max_pixels=629))


# ---- Batches and single records ----


@pytest.mark.parametrize("feature", [ImageFeature(5), ImageFeature(5, channels_first=True, dtype=tf.float32)])
def test_an_empty_batch_has_no_images(feature):
    shape = (0, 3, 5, 5) if feature.channels_first else (0, 5, 5, 3)
    images = parsed([], feature)
    assert (images.shape, images.dtype) == (shape, np.dtype(feature.dtype.as_numpy_dtype))
    assert parsed([], ImageFeature()) == []


def test_all_records_may_be_dropped():
    columns = tf.io.parse_example(examples([b"", b"x"]), {"image": ImageFeature(8, on_error="skip"), "number": NUMBER})
    assert columns["image"].shape == (0, 8, 8, 3)
    assert columns["number"].shape == (0,)


def test_one_record_has_no_dimension_of_the_batch(records):
    features = {
        "image": ImageFeature(8, crop="random", seed=1),
        "number": NUMBER,
        "list": tf.VarLenFeature(tf.int64),
        "ragged": tf.RaggedFeature(tf.int64),
        "text": tf.FixedLenFeature([], tf.string, b"no"),
    }
    for parse in (tf.io.parse_single_example, tf.io.parse_example):
        values = parse(records[3], features)
        np.testing.assert_array_equal(values["image"], tf.io.parse_example(records[3:4], features)["image"][0])
        others = parse(records[3], {key: feature for key, feature in features.items() if key != "image"})
        assert values["number"] == others["number"] == 3
        assert values["list"].dense_shape.tolist() == others["list"].dense_shape.tolist()
        assert values["ragged"].tolist() == others["ragged"].tolist() == []
        assert values["text"] == others["text"] == b"no"
        assert set(values) == {"image", *others}
    with pytest.raises(tf.errors.InvalidArgumentError, match='on_error="zeros" for single records'):
        tf.io.parse_single_example(examples([b""])[0], {"image": ImageFeature(8, on_error="skip")})


def test_images_keep_no_records(records):
    """Pixels are new memory: the records may go."""
    batch = _core.record_batch(records)
    images = parsed(batch, ImageFeature(4))
    expected = images.copy()
    del batch
    np.testing.assert_array_equal(images, expected)


# ---- The feature itself ----


def test_a_feature_pickles_and_compares():
    feature = ImageFeature((3, 4), 1, tf.float32, "area", "random", None, (0.1, 0.5), (1, 2), True, seed=9)
    assert pickle.loads(pickle.dumps(feature)) == feature
    assert ImageFeature(8) == ImageFeature([8, 8]) != ImageFeature(9)
    assert len(ImageFeature(8)._fields) == len(set(ImageFeature(8)._fields)) == 15


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"size": 0}, ValueError, "size"),
        ({"size": (1, 2, 3)}, TypeError, "size"),
        ({"size": "8"}, TypeError, "size"),
        ({"size": 1 << 16}, ValueError, "size"),
        ({"channels": 2}, ValueError, r"channels` must be one of \[1, 3\]; got 2"),
        ({"channels": True}, ValueError, "channels"),
        ({"dtype": tf.int32}, ValueError, "dtype"),
        ({"resize": "linear"}, ValueError, "resize"),
        ({"crop": "middle", "size": 8}, ValueError, "crop"),
        ({"crop": "random"}, ValueError, "`crop` needs a `size`"),
        ({"crop": "random", "size": 8, "shorter_side": 9}, ValueError, "shorter_side"),
        ({"crop": "center", "size": (8, 9), "shorter_side": 8}, ValueError, "shorter_side"),
        ({"scale": (0, 1)}, ValueError, "scale"),
        ({"scale": (0.5, 1.5)}, ValueError, "scale"),
        ({"scale": 0.5}, TypeError, "scale"),
        ({"ratio": (2, 1)}, ValueError, "ratio"),
        ({"ratio": (1, float("nan"))}, ValueError, "ratio"),
        ({"flip": 1}, TypeError, "flip"),
        ({"exact": "no"}, TypeError, "exact"),
        ({"on_error": "ignore"}, ValueError, "on_error"),
        ({"max_pixels": 0}, ValueError, "max_pixels"),
        ({"seed": 1.5}, TypeError, "integer"),
    ],
)
def test_arguments_are_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        ImageFeature(**arguments)


def test_features_that_images_can_not_be_combined_with(records):
    with pytest.raises(ValueError, match="Unsupported ImageFeature"):
        tf.io.parse_sequence_example([], {"image": ImageFeature(8)}, {})
    with pytest.raises(ValueError, match="Unsupported ImageFeature"):
        tf.io.parse_sequence_example([], {}, {"image": ImageFeature(8)})
    sparse = {"image": ImageFeature(8, on_error="skip"), "s": tf.SparseFeature("i", "v", tf.int64, 5)}
    with pytest.raises(ValueError, match='on_error="skip" needs features without indices'):
        tf.io.parse_example(records, sparse)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ImageFeature; a group takes"):
        tf.io.parse_example(records, {"image": ImageFeature(8)}, groups={"g": ["image"]})
