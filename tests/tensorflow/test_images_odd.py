"""Images in unusual forms: sizes from headers, JPEGs made smaller, PNGs with transparent colors, what is refused."""

import io
import struct
import sys
import zlib

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tfrecord_fast.base.samples import sampling
from tfrecord_fast.images.headers import image_of

Image = pytest.importorskip("PIL.Image")

SMOOTH = (np.add.outer(np.arange(45) * 3, np.arange(61) * 2)[..., None] + [0, 20, 40]).clip(0, 255).astype(np.uint8)
Invalid = tf.errors.InvalidArgumentError


def saved(image, form, **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


# ---- Headers ----


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (300, 200), (2, 700), (16383, 1), (1, 16383)])
@pytest.mark.parametrize("form", ["lossy", "lossless", "extended"])
def test_webp_headers_have_the_sizes_that_pillow_wrote(size, form):
    mode = "RGBA" if form == "extended" else "RGB"
    try:
        data = saved(Image.new(mode, size, (9, 8, 7, 6)[: len(mode)]), "WEBP", lossless=form == "lossless")
    except (OSError, KeyError):
        pytest.skip("this Pillow writes no WebP")
    assert data[12:16] == {"lossy": b"VP8 ", "lossless": b"VP8L", "extended": b"VP8X"}[form]
    assert image_of(data) == ("WebP", *size)
    for cut in range(12, 30):
        image_of(data[:cut])
    assert image_of(data[:20]) is None


def test_webp_of_no_known_form_has_no_size():
    data = b"RIFF\0\0\0\0WEBPVP9 " + bytes(30)
    assert image_of(data) is None and image_of(data.replace(b"WEBP", b"WAVE")) is None


def test_sizes_of_webp_have_all_their_bits():
    head = b"RIFF\0\0\0\0WEBP"
    wide = (0x123456 - 1).to_bytes(3, "little") + (0x654321 - 1).to_bytes(3, "little")
    assert image_of(head + b"VP8X" + bytes(8) + wide) == ("WebP", 0x123456, 0x654321)
    bits = struct.pack("<I", 0x3FFF | 0x2AAA << 14 | 0xF << 28)
    assert image_of(head + b"VP8L" + bytes(4) + b"\x2f" + bits) == ("WebP", 0x4000, 0x2AAB)
    scaled = struct.pack("<HH", 0x4000 | 0x1234, 0x8000 | 0x2345)  # the highest bits say how it is shown
    assert image_of(head + b"VP8 " + bytes(10) + scaled) == ("WebP", 0x1234, 0x2345)


def test_jpeg_headers_may_have_padding_and_other_segments_first():
    jpeg = saved(Image.fromarray(SMOOTH), "JPEG")
    segment = b"\xff\xe5" + struct.pack(">H", 2 + 300) + bytes(300)
    tables = b"\xff\xc4\0\5abc" + b"\xff\xc8\0\2" + b"\xff\xcc\0\4ab"
    for before in (b"\xff", b"\xff" * 5, segment, segment + b"\xff\xff" + segment, tables):
        assert image_of(jpeg[:2] + before + jpeg[2:]) == ("JPEG", 61, 45)
    frame = struct.pack(">HBHH", 17, 8, 5, 7)
    for marker in range(0xC0, 0xD0):
        expected = None if marker in (0xC4, 0xC8, 0xCC) else ("JPEG", 7, 5)
        assert image_of(b"\xff\xd8\xff" + bytes([marker]) + frame + bytes(30)) == expected
    assert image_of(b"\xff\xd8\xff\xd9\0\2" + bytes(9)) is None


def test_bmp_and_gif_headers():
    bmp = saved(Image.fromarray(SMOOTH), "BMP")
    assert image_of(bmp) == ("BMP", 61, 45) and image_of(bmp + b"x") is None
    upside_down = bmp[:22] + struct.pack("<i", -45) + bmp[26:]
    assert image_of(upside_down) == ("BMP", 61, 45)
    assert image_of(b"GIF87a" + struct.pack("<HH", 300, 2)) == ("GIF", 300, 2)
    assert image_of(b"GIF88a" + struct.pack("<HH", 300, 2)) is None and image_of(b"GIF89a\0\0\0") is None


# ---- Decoding ----


def ratios(images):
    return [tf.io.decode_jpeg(image, ratio=ratio) for image in images for ratio in (1, 2, 4, 8)]


SIZES = [(45, 61), (48, 64), (16, 16), (17, 9), (7, 5), (1, 1), (3, 40)]
SMALLER = [saved(Image.fromarray(SMOOTH).resize(size[::-1]), "JPEG", quality=95) for size in SIZES]


def test_a_jpeg_is_made_smaller_by_the_ratio_whatever_its_size():
    shapes = [result.shape for result in ratios(SMALLER)]
    assert shapes == [(-(-h // ratio), -(-w // ratio), 3) for h, w in SIZES for ratio in (1, 2, 4, 8)]


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_a_jpeg_is_made_smaller_as_by_tensorflow():
    for ours, theirs in zip(ratios(SMALLER), live_tensorflow.call(ratios, SMALLER), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_no_jpeg_is_not_made_smaller():
    for form in ("PNG", "BMP", "GIF"):
        content = saved(Image.fromarray(SMOOTH), form)
        assert tf.io.decode_jpeg(content, ratio=2).shape == SMOOTH.shape


def test_a_png_is_decoded_whatever_function_is_asked():
    content = saved(Image.fromarray(SMOOTH), "PNG")
    deep = saved(Image.fromarray((SMOOTH[..., 0].astype(np.uint16) << 8) + 3), "PNG")
    for decode in (tf.io.decode_jpeg, tf.io.decode_bmp, tf.io.decode_png, tf.io.decode_image):
        assert decode(content).tolist() == SMOOTH.tolist()
        assert decode(deep).dtype == np.uint8 and decode(deep)[..., 0].tolist() == SMOOTH[..., 0].tolist()


def chunk(form, content):
    return struct.pack(">I", len(content)) + form + content + struct.pack(">I", zlib.crc32(form + content))


def test_a_deep_gray_png_with_a_transparent_gray():
    """With four channels, that gray is transparent, and all others are not."""
    gray = np.array([[1, 2, 300], [300, 65535, 0]], np.uint16)
    lines = b"".join(b"\0" + row.astype(">u2").tobytes() for row in gray)
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 16, 0, 0, 0, 0)), (b"tRNS", struct.pack(">H", 300))]
    parts += [(b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    content = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*piece) for piece in parts)
    result = tf.io.decode_png(content, channels=4, dtype=tf.uint16)
    alpha = np.where(gray == 300, 0, 65535)
    assert result.dtype == np.uint16 and result.tolist() == np.stack([gray, gray, gray, alpha], axis=2).tolist()
    for channels in (0, 1, 3):
        result = tf.io.decode_png(content, channels=channels, dtype=tf.uint16)
        assert result.shape == (2, 3, channels or 1) and (result == gray[..., None]).all()
    eight = tf.io.decode_png(content, channels=4)
    assert eight.dtype == np.uint8 and eight[..., 3].tolist() == [[255, 255, 0], [0, 255, 255]]


def test_a_deep_png_that_is_no_zlib_stream():
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0)), (b"IDAT", b"no such stream"), (b"IEND", b"")]
    content = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*piece) for piece in parts)
    with pytest.raises(Invalid, match="the PNG can't be decoded: IDAT: incorrect header check"):
        tf.io.decode_png(content, dtype=tf.uint16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.io.decode_jpeg(["a"]), "contents must be the bytes of one image, got list"),
        (lambda: tf.io.decode_png(np.array([b"a"], object)), "contents must be the bytes of one image, got ndarray"),
        (lambda: tf.io.decode_jpeg(b"", channels=4), "channels must be one of (0, 1, 3), got 4"),
        (lambda: tf.io.decode_png(b"", channels=2), "channels must be one of (0, 1, 3, 4), got 2"),
        (lambda: tf.io.decode_jpeg(b"", ratio=3), "ratio must be 1, 2, 4 or 8, got 3"),
        (
            lambda: tf.io.decode_jpeg(b"", dct_method="ISLOW"),
            "dct_method must be one of ('', 'INTEGER_FAST', 'INTEGER_ACCURATE'), got 'ISLOW'",
        ),
        (lambda: tf.io.decode_png(b"", dtype=tf.int32), "dtype must be uint8 or uint16, got int32"),
        (
            lambda: tf.io.encode_jpeg(SMOOTH, format="grayscale"),
            "format 'grayscale' does not fit an image of 3 channels",
        ),
        (lambda: tf.io.encode_jpeg(SMOOTH[..., :1], format="rgb"), "format 'rgb' does not fit an image of 1 channels"),
        (lambda: tf.io.encode_jpeg(SMOOTH, format="cmyk"), "format 'cmyk' does not fit an image of 3 channels"),
        (lambda: tf.io.encode_jpeg(SMOOTH, quality=101), "quality must be 0 to 100, got 101"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(Invalid) as error:
        call()
    assert str(error.value) == message


def test_what_is_no_image_is_told_as_that():
    for decode in (tf.io.decode_png, tf.io.decode_bmp, tf.io.decode_image, tf.io.decode_gif):
        with pytest.raises(Invalid, match="Unknown image file format; expected JPEG, PNG, GIF or BMP: "):
            decode(b"no image")
    gif = saved(Image.fromarray(SMOOTH[..., 0]), "GIF")
    with pytest.raises(Invalid, match="the image can't be decoded: "):
        tf.io.decode_gif(gif[: len(gif) // 2])


def test_too_little_memory_is_no_fault_of_the_image(monkeypatch):
    def refuse(*those):
        raise MemoryError

    monkeypatch.setattr(Image, "open", refuse)
    with pytest.raises(MemoryError):
        tf.io.decode_bmp(b"BM")


@pytest.mark.parametrize(
    ("decode", "arguments", "shape", "dtype"),
    [
        (tf.io.decode_jpeg, {}, (32, 32, 3), np.uint8),
        (tf.io.decode_jpeg, {"channels": 1}, (32, 32, 1), np.uint8),
        (tf.io.decode_png, {"channels": 4, "dtype": tf.uint16}, (32, 32, 4), np.uint16),
        (tf.io.decode_image, {"dtype": tf.float32}, (32, 32, 3), np.float32),
        (tf.io.decode_bmp, {}, (32, 32, 3), np.uint8),
    ],
)
def test_what_is_made_up_is_a_black_image(decode, arguments, shape, dtype):
    with sampling(2):
        result = decode(b"no image", **arguments)
    assert (result.shape, result.dtype, result.any()) == (shape, dtype, False)
    with sampling(1):
        assert decode(b"no image", **arguments).shape[-1] == arguments.get("channels", 1)
    with pytest.raises(Invalid):
        decode(b"no image", **arguments)


def test_arguments_may_be_given_by_place():
    with sampling(2):
        assert tf.io.decode_png(b"no image", 0, tf.uint16).dtype == np.uint16
        assert tf.io.decode_jpeg(b"no image", 0, 2).dtype == np.uint8  # a ratio


def test_names_that_keras_needs_are_told_where_it_is(monkeypatch):
    from tfrecord_fast.base.optional import shown_to_keras

    monkeypatch.delitem(sys.modules, "keras", raising=False)
    assert shown_to_keras("<it>", "paths") == "<it>"
    monkeypatch.setitem(sys.modules, "keras", None)
    assert shown_to_keras("<it>", "paths") == (
        "<it> (for Keras, wrap it: tfrecord_fast.integrations.keras.TFRecordPyDataset(paths))"
    )
