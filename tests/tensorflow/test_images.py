"""Images decoded and encoded: TensorFlow's pixels."""

import io
import struct
import zlib

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

Image = pytest.importorskip("PIL.Image")

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

RANDOM = np.random.default_rng(5)
SMOOTH = (np.add.outer(np.arange(13) * 9, np.arange(21) * 5)[..., None] + [0, 20, 40]).clip(0, 255).astype(np.uint8)
NOISE = RANDOM.integers(0, 256, (9, 12, 4), dtype=np.uint8)


def saved(image, form, **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def chunk(form, content):
    return struct.pack(">I", len(content)) + form + content + struct.pack(">I", zlib.crc32(form + content))


def deep_png(pixels, color, *chunks, interlaced=0):
    """A PNG of 16 bits per channel, its rows filtered in each of the five ways in turn."""
    height, width, channels = pixels.shape
    rows = np.zeros((height + 1, width + 1, 2 * channels), np.int16)  # zeros above and on the left
    rows[1:, 1:] = np.ascontiguousarray(pixels, ">u2").view(np.uint8)
    now, left, up, corner = rows[1:, 1:], rows[1:, :-1], rows[:-1, 1:], rows[:-1, :-1]
    guess = left + up - corner
    near = [np.abs(guess - other) for other in (left, up, corner)]
    paeth = np.where((near[0] <= near[1]) & (near[0] <= near[2]), left, np.where(near[1] <= near[2], up, corner))
    guesses = [0 * now, left, up, (left + up) // 2, paeth]
    lines = [bytes([y % 5]) + (now[y] - guesses[y % 5][y]).astype(np.uint8).tobytes() for y in range(height)]
    header = struct.pack(">IIBBBBB", width, height, 16, color, 0, 0, interlaced)
    parts = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*piece) for piece in parts)


DEEP = RANDOM.integers(0, 1 << 16, (11, 7, 4)).astype(np.uint16)
FILES = {
    "png 16 rgb": deep_png(DEEP[..., :3], 2),
    "png 16 rgb transparent": deep_png(DEEP[..., :3], 2, (b"tRNS", DEEP[1, 2, :3].astype(">u2").tobytes())),
    "png 16 gray alpha": deep_png(DEEP[..., :2], 4),
    "png 16 rgba": deep_png(DEEP, 6),
    "jpeg": saved(Image.fromarray(SMOOTH), "JPEG"),
    "jpeg 444": saved(Image.fromarray(SMOOTH), "JPEG", subsampling=0, quality=95),
    "jpeg progressive": saved(Image.fromarray(SMOOTH), "JPEG", progressive=True),
    "jpeg gray": saved(Image.fromarray(SMOOTH[..., 0]), "JPEG"),
    "png gray": saved(Image.fromarray(NOISE[..., 0]), "PNG"),
    "png gray alpha": saved(Image.fromarray(NOISE[..., :2].copy(), "LA"), "PNG"),
    "png rgb": saved(Image.fromarray(NOISE[..., :3]), "PNG"),
    "png rgba": saved(Image.fromarray(NOISE), "PNG"),
    "png palette": saved(Image.fromarray(NOISE[..., :3]).quantize(90), "PNG"),
    "png palette alpha": saved(Image.fromarray(NOISE[..., :3]).quantize(90), "PNG", transparency=bytes(range(90))),
    "png gray transparent": saved(Image.fromarray(NOISE[..., 0]), "PNG", transparency=int(NOISE[2, 3, 0])),
    "png rgb transparent": saved(Image.fromarray(NOISE[..., :3]), "PNG", transparency=tuple(NOISE[0, 1, :3].tolist())),
    "png 16": saved(Image.fromarray(RANDOM.integers(0, 1 << 16, (5, 4)).astype(np.uint16)), "PNG"),
    "bmp": saved(Image.fromarray(NOISE[..., :3]), "BMP"),
    "gif": saved(Image.fromarray(NOISE[..., :3]), "GIF"),
}
CALLS = [
    *((name, "decode_jpeg", {"channels": channels}) for name in FILES if "jpeg" in name for channels in (0, 1, 3)),
    *((name, "decode_jpeg", {"dct_method": "INTEGER_ACCURATE"}) for name in FILES if "jpeg" in name),
    ("jpeg", "decode_jpeg", {"fancy_upscaling": False}),
    *(
        (name, "decode_png", {"channels": channels, "dtype": dtype})
        for name in FILES
        if "png" in name or name == "jpeg"
        for channels in (0, 1, 2, 3, 4)
        for dtype in ("uint8", "uint16")
        if name != "jpeg" or channels != 4
    ),
    ("png rgb", "decode_png", {"dtype": "float32"}),
    ("bmp", "decode_bmp", {}),
    ("gif", "decode_gif", {}),
    *((name, "decode_image", {}) for name in FILES),
    *((name, "decode_image", {"dtype": "float32", "channels": 0}) for name in FILES if "png" in name),
    ("png rgb", "decode_image", {"dtype": "float32", "channels": 1}),
    *(("jpeg", "decode_jpeg", {"ratio": ratio}) for ratio in (0, 3, 16)),
    ("gif", "decode_image", {"expand_animations": False}),
    ("jpeg", "decode_image", {"dtype": "float32", "channels": 3}),
    *((name, "decode_image", {"dtype": "uint16"}) for name in ("png rgb", "png 16", "jpeg", "bmp")),
    *(
        (name, "decode_image", {"dtype": dtype})
        for name in ("png rgb", "png 16", "jpeg", "bmp", "gif")
        for dtype in ("float64", "bfloat16", "int8", "int16", "int32", "int64", "uint32", "bool", "string")
    ),
    *((name, "decode_image", {"dtype": "float16"}) for name in ("jpeg", "bmp", "gif")),
    *((name, "decode_gif", {}) for name in FILES if "png" in name),
    ("jpeg", "decode_png", {"channels": 5}),
    ("jpeg", "decode_jpeg", {"channels": 2}),
    *(("junk", name, {}) for name in ("decode_jpeg", "decode_png", "decode_image")),
    *(("cut", name, {}) for name in ("decode_jpeg", "decode_image")),
]
FILES["junk"] = b"no image at all"
FILES["cut"] = FILES["jpeg"][:200]


def decode_all(files, calls):
    results = []
    for name, function, arguments in calls:
        if "dtype" in arguments:
            arguments = {**arguments, "dtype": getattr(tf, arguments["dtype"])}
        try:
            results.append(np.asarray(getattr(tf.io, function)(files[name], **arguments)))
        except Exception:
            results.append(None)
    return results


@pytest.fixture(scope="module")
def theirs():
    return live_tensorflow.call(decode_all, FILES, CALLS)


@needs_tensorflow
@pytest.mark.parametrize("number", range(len(CALLS)), ids=[f"{name} {call} {how}" for name, call, how in CALLS])
def test_an_image_decodes_as_by_tensorflow(number, theirs):
    [ours], expected = decode_all(FILES, [CALLS[number]]), theirs[number]
    assert (ours is None) == (expected is None)
    if expected is not None:
        assert ours.dtype == expected.dtype and ours.shape == expected.shape
        np.testing.assert_array_equal(ours, expected)


def decoded_by_tensorflow(files, function, arguments):
    calls = [(i, function, options) for i, options in enumerate(arguments)]
    return live_tensorflow.call(decode_all, dict(enumerate(files)), calls)


@needs_tensorflow
def test_tensorflow_decodes_a_png_to_the_pixels_encoded_here():
    images = [SMOOTH, SMOOTH[..., :1], NOISE, NOISE[..., :2], NOISE.astype(np.uint16)[..., :1]]
    dtypes = [{"dtype": image.dtype.name} for image in images]
    decoded = decoded_by_tensorflow(map(tf.io.encode_png, images), "decode_png", dtypes)
    for ours, theirs in zip(images, decoded, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_jpeg_has_a_quality_of_95_by_default():
    assert tf.io.encode_jpeg(SMOOTH) == tf.io.encode_jpeg(SMOOTH, quality=95) != tf.io.encode_jpeg(SMOOTH, quality=96)


@pytest.mark.parametrize("channels", [0, 3])
def test_a_jpeg_of_four_inks_has_three_channels(channels):
    content = saved(Image.fromarray(SMOOTH).convert("CMYK"), "JPEG", quality=95)
    decoded = tf.io.decode_jpeg(content, channels=channels)
    assert decoded.shape == SMOOTH.shape
    assert np.abs(decoded.astype(int) - SMOOTH).max() < 24


@pytest.mark.parametrize("image", [SMOOTH[..., 0], SMOOTH.astype(float), SMOOTH[..., :2], SMOOTH.astype(np.uint16)])
def test_what_no_jpeg_holds_is_an_error(image):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.encode_jpeg(image)


ABOUT = [
    {},
    {"density_unit": "cm", "x_density": 72, "y_density": 100},
    {"x_density": 0, "y_density": 0},
    {"x_density": 65536, "y_density": -1},
    {"xmp_metadata": "<x/>"},
    {"xmp_metadata": "é", "progressive": True, "x_density": 1},
    {"xmp_metadata": "y" * 65504},
    {"xmp_metadata": "<x/>", "optimize_size": True, "format": "rgb"},
]


def encode_all(images, cases):
    return [[np.asarray(tf.io.encode_jpeg(image, **case)).item() for case in cases] for image in images]


@needs_tensorflow
def test_jpegs_have_the_bytes_that_tensorflow_writes():
    images = [SMOOTH, NOISE[..., :3], SMOOTH[..., :1], SMOOTH[:1, :1]]
    cases = [case for case in ABOUT if "format" not in case]
    cases += [{"quality": quality, "chroma_downsampling": quality > 50} for quality in (0, 1, 50, 51, 100)]
    cases += [{"progressive": True, "optimize_size": True, "quality": 30}]
    assert encode_all(images, cases) == live_tensorflow.call(encode_all, images, cases)


@pytest.mark.parametrize("image", [SMOOTH, SMOOTH[..., :1]])
@pytest.mark.parametrize("case", ABOUT[:6], ids=str)
def test_what_is_said_about_a_jpeg_leaves_its_pixels(image, case):
    expected = tf.io.decode_jpeg(tf.io.encode_jpeg(image, progressive=case.get("progressive", False)))
    np.testing.assert_array_equal(tf.io.decode_jpeg(tf.io.encode_jpeg(image, **case)), expected)


@pytest.mark.parametrize("case", [{"density_unit": "mm"}, {"xmp_metadata": "y" * 65505}], ids=["unit", "long"])
def test_what_no_jpeg_says_is_an_error(case):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.encode_jpeg(SMOOTH, **case)


def sampling(jpeg):
    """How often luminance is sampled for each sample of chrominance: across, and down."""
    start = next(
        position for position in range(len(jpeg)) if jpeg[position : position + 2] in (b"\xff\xc0", b"\xff\xc2")
    )
    factors = [jpeg[start + 11 + 3 * component] for component in range(3)]
    return factors[0] >> 4, factors[0] & 15, factors[1:]


@pytest.mark.parametrize("scans", [{}, {"progressive": True}], ids=["one scan", "progressive"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, (2, 2)), ({"chroma_downsampling": True}, (2, 2)), ({"chroma_downsampling": False}, (1, 1))],
)
def test_chroma_is_sampled_less_often_unless_that_is_turned_off(scans, options, expected):
    assert sampling(tf.io.encode_jpeg(SMOOTH, **scans, **options)) == (*expected, [0x11, 0x11])


def converted(cases):
    return [tf.image.convert_image_dtype(image, form) for image, form in cases]


@needs_tensorflow
def test_dtypes_are_converted_as_by_tensorflow():
    floats = np.float32([0, 0.1, 0.5, 0.999, 1])
    cases = [(NOISE, "float32"), (NOISE, "uint16"), (floats, "uint8"), (floats, "uint16"), (floats, "float64")]
    cases += [(np.uint16([0, 1, 256, 65535]), "uint8"), (NOISE, "float16"), (NOISE, "uint8")]
    for ours, expected in zip(converted(cases), live_tensorflow.call(converted, cases), strict=True):
        assert ours.dtype == expected.dtype
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.filterwarnings("error")
def test_as_float16_white_is_finite_where_tensorflow_overflows():
    pixels = np.uint16([[0, 1, 257, 30_000, 65_504, 65_519, 65_520, 65_535]])
    result = tf.io.decode_image(saved(Image.fromarray(pixels), "PNG"), dtype=tf.float16)
    assert result.dtype == np.float16 and result[0, :, 0].tolist() == [
        0, 2**-16, 257 / 65536, *[float(np.float16(item / 65536)) for item in (30_000, 65_504, 65_504)], 1, 1
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), [("jpeg", True), ("png rgb", False)])
@pytest.mark.parametrize("is_jpeg", [tf.io.is_jpeg, tf.image.is_jpeg])
def test_is_jpeg(is_jpeg, name, expected):
    assert is_jpeg(FILES[name]) == expected


DEEP_RGBA = FILES["png 16 rgba"]
DAMAGED = {
    "a bit flipped": DEEP_RGBA[:80] + bytes([DEEP_RGBA[80] ^ 1]) + DEEP_RGBA[81:],
    "a bit of a checksum flipped": DEEP_RGBA[:-13] + bytes([DEEP_RGBA[-13] ^ 1]) + DEEP_RGBA[-12:],
    "cut": DEEP_RGBA[:-40],
    "a header that is too long": DEEP_RGBA[:8] + chunk(b"IHDR", DEEP_RGBA[16:29] + b"\0") + DEEP_RGBA[33:],
    "too few bytes": DEEP_RGBA[:33] + chunk(b"IDAT", zlib.compress(b"\0" * 9)),
    "no such filter": DEEP_RGBA[:33] + chunk(b"IDAT", zlib.compress((b"\5" + b"\0" * 56) * 11)),
    "interlaced": deep_png(DEEP, 6, interlaced=1),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_deep_png_is_an_error(content):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_png(content, dtype=tf.uint16)
