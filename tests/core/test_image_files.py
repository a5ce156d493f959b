"""JPEGs and PNGs in the core: headers, regions, lists, files that are damaged or claim too much, and encoding."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.image_files import jpeg, png, png_chunk
from tests.support.processes import printed
from tfrecord_fast import _core

Invalid = tf.errors.InvalidArgumentError
Options = _core.DecodeOptions

SAMPLINGS = [[(1, 1)], *([factors, (1, 1), (1, 1)] for factors in ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1)))]
SAMPLINGS += [[(1, 1)] * 4]


def pixels(height, width, channels=3, dtype=np.uint8):
    return np.random.default_rng(3).integers(0, np.iinfo(dtype).max, (height, width, channels), dtype, endpoint=True)


JPEG = tf.io.encode_jpeg(pixels(40, 56))
PNG = tf.io.encode_png(pixels(9, 7))


@pytest.mark.parametrize(
    ("file", "header"),
    [
        (JPEG, ("JPEG", 40, 56, 3, 8)),
        (jpeg(np.random.default_rng(0), 3, 4, [(1, 1)] * 4), ("JPEG", 3, 4, 4, 8)),
        (tf.io.encode_png(pixels(2, 3, 2, np.uint16)), ("PNG", 2, 3, 2, 16)),
        (png(np.random.default_rng(0), 5, 6, 3, 4, transparent=True), ("PNG", 5, 6, 4, 4)),
        (png(np.random.default_rng(0), 5, 6, 3, 1), ("PNG", 5, 6, 3, 1)),
    ],
)
def test_header(file, header):
    assert _core.image_header(file) == header


@pytest.mark.parametrize("file", [b"", b"\xff\xd8", b"GIF89a", b"\x89PNG\r\n\x1a"])
def test_other_files_are_an_error(file):
    for function in (_core.image_header, _core.decode_image):
        with pytest.raises(Invalid, match="neither a JPEG nor a PNG"):
            function(file)


def region_of(data, height, width):
    top = data.draw(st.integers(0, height - 1))
    left = data.draw(st.integers(0, width - 1))
    return top, left, data.draw(st.integers(1, height - top)), data.draw(st.integers(1, width - left))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_region_has_the_pixels_of_the_whole_image(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    height, width = data.draw(st.integers(1, 200)), data.draw(st.integers(1, 200))
    options = {"ratio": data.draw(st.sampled_from([1, 2, 4, 8])), "fancy_upsampling": data.draw(st.booleans())}
    how = data.draw(st.sampled_from(["sampled", "smooth", "progressive", "png", "interlaced"]))
    if how == "sampled":
        file = jpeg(rng, height, width, data.draw(st.sampled_from(SAMPLINGS)), restart=data.draw(st.integers(0, 3)))
    elif how in ("smooth", "progressive"):
        is_halved = data.draw(st.booleans())
        image = pixels(height, width)
        file = tf.io.encode_jpeg(image, progressive=how == "progressive", chroma_downsampling=is_halved)
    else:
        height, width = min(height, 50), min(width, 50)
        options = {"sixteen_bits": data.draw(st.booleans())}
        file = png(rng, height, width, data.draw(st.sampled_from([0, 2, 6])), 8, interlaced=how == "interlaced")
    whole = _core.decode_image(file, Options(**options))
    top, left, rows, columns = region = region_of(data, *whole.shape[:2])
    np.testing.assert_array_equal(
        _core.decode_image(file, Options(**options), region), whole[top : top + rows, left : left + columns]
    )


@pytest.mark.parametrize("region", [(0, 0, 0, 1), (0, 0, 1, 0), (40, 0, 1, 1), (0, 50, 1, 7), (0, 0, 41, 1)])
def test_a_region_beyond_the_border_is_an_error(region):
    with pytest.raises(Invalid, match="is not within an image of 40 x 56"):
        _core.decode_image(JPEG, Options(), region)


@pytest.mark.parametrize("num_threads", [1, 3])
def test_images_of_one_shape_are_one_array(num_threads):
    images = [pixels(40, 56) // (number + 1) for number in range(9)]
    files = [tf.io.encode_png(image) for image in images]
    result = _core.decode_images(files, num_threads=num_threads)
    assert isinstance(result, np.ndarray) and result.tolist() == np.stack(images).tolist()
    window = _core.decode_images(files, Options(channels=1), (3, 4, 5, 6), num_threads=num_threads)
    assert window.shape == (9, 5, 6, 1)


def test_images_of_several_shapes_are_a_list():
    result = _core.decode_images([JPEG, PNG, bytearray(PNG)])
    assert [array.shape for array in result] == [(40, 56, 3), (9, 7, 3), (9, 7, 3)]
    assert result[2].tolist() == pixels(9, 7).tolist()
    assert _core.decode_images([]) == []


def test_the_first_bad_image_of_a_list_is_the_error():
    files = [JPEG] * 20 + [JPEG[:-40], b"", PNG[:-30]] + [JPEG] * 20
    for _ in range(5):
        with pytest.raises(Invalid, match="neither a JPEG nor a PNG"):  # headers come first
            _core.decode_images(files, num_threads=3)
        with pytest.raises(Invalid, match="the JPEG can't be decoded: the file is truncated"):
            _core.decode_images(files[:21] + files[22:], num_threads=3)


# ---- Damage ----


@pytest.mark.parametrize("file", [tf.io.encode_jpeg(pixels(9, 7)), PNG], ids=["JPEG", "PNG"])
def test_a_truncated_file_is_an_error(file):
    for length in range(len(file)):
        with pytest.raises(Invalid):
            _core.decode_image(file[:length])


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([JPEG, tf.io.encode_jpeg(pixels(20, 33), progressive=True), PNG]), st.data())
def test_changed_bytes_are_an_error_or_pixels(file, data):
    changed = bytearray(file)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    try:
        _core.decode_image(changed, Options(recover_truncated=True, max_pixels=1 << 20))
    except Invalid:
        return


def test_a_truncated_jpeg_is_decoded_as_far_as_it_goes():
    whole = _core.decode_image(JPEG)
    part = _core.decode_image(JPEG[: len(JPEG) * 2 // 3], Options(recover_truncated=True))
    assert (part[:15] == whole[:15]).all() and (part[-1] != whole[-1]).any()
    rows = _core.decode_image(JPEG[: len(JPEG) * 2 // 3], Options(acceptable_fraction=0.25))
    assert (rows[:12] == whole[:12]).all() and not rows[-1].any()


def claiming(file, height, width):
    """Return the file with another size in its header."""
    if file.startswith(b"\x89PNG"):
        header = struct.pack(">II", width, height) + file[24:29]
        return file[:8] + png_chunk(b"IHDR", header) + file[33:]
    start = file.index(b"\xff\xc0") + 5
    return file[:start] + struct.pack(">HH", height, width) + file[start + 4 :]


LARGE = """
import resource, sys
from tfrecord_fast import _core, build_info, errors
if not build_info()["sanitizers"]:  # these map more than that
    resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))  # one image would take more
for name in sys.argv[1:]:
    for decode in (_core.decode_image, lambda file: _core.decode_images([file] * 8)):
        try:
            decode(bytes.fromhex(name))
        except errors.InvalidArgumentError as error:
            print(error)
"""


def test_claimed_sizes_take_no_memory():
    files = [claiming(JPEG, 65500, 65500), claiming(JPEG, 20000, 8000), claiming(PNG, 20000, 8000)]
    files += [claiming(PNG, 1 << 20, 1 << 30)]
    lines = printed(LARGE, *(file.hex() for file in files)).splitlines()
    assert len(lines) == 8
    assert "65500 x 65500 pixels has more than 178956970" in lines[0]
    assert all(f"needs more than {len(JPEG)} bytes" in line for line in lines[2:4])
    assert all(f"needs more than {len(PNG)} bytes" in line for line in lines[4:6])


def test_the_limit_can_be_set():
    assert _core.decode_image(JPEG, Options(max_pixels=40 * 56)).shape == (40, 56, 3)
    with pytest.raises(Invalid, match="an image of 40 x 56 pixels has more than 2239"):
        _core.decode_image(JPEG, Options(max_pixels=40 * 56 - 1))


def test_a_jpeg_of_many_scans_is_an_error():
    file = tf.io.encode_jpeg(pixels(16, 16), progressive=True)
    last = file.rindex(b"\xff\xda")
    assert _core.decode_image(file[:-2] + file[last:-2] * 400 + b"\xff\xd9").shape == (16, 16, 3)
    with pytest.raises(Invalid, match="too many scans"):
        _core.decode_image(file[:-2] + file[last:-2] * 500 + b"\xff\xd9")


def test_a_png_whose_pixels_are_too_few_is_an_error():
    file = PNG[:33] + png_chunk(b"IDAT", zlib.compress(b"\0" * 9)) + png_chunk(b"IEND", b"")
    with pytest.raises(Invalid, match="the PNG can't be decoded"):
        _core.decode_image(file)


@pytest.mark.parametrize(
    ("file", "options"),
    [(JPEG, {"channels": 4}), (JPEG, {"sixteen_bits": True}), (JPEG, {"ratio": 3}), (PNG, {"channels": 5})],
)
def test_options_that_do_not_fit(file, options):
    with pytest.raises(Invalid):
        _core.decode_image(file, Options(**options))


# ---- Encoding ----


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_png_holds_what_was_encoded(channels, dtype):
    image = pixels(5, 8, channels, dtype)
    for level in (-1, 0, 9):
        decoded = _core.decode_image(_core.encode_png(image, level), Options(sixteen_bits=dtype == np.uint16))
        assert decoded.dtype == dtype and decoded.tolist() == image.tolist()


@pytest.mark.parametrize("encode", [tf.io.encode_jpeg, tf.io.encode_png])
@pytest.mark.parametrize("shape", [(0, 3, 3), (3, 0, 3), (65501, 1, 1)])
def test_an_image_that_no_file_holds_is_an_error(encode, shape):
    if encode is tf.io.encode_png and shape[0] > 3:
        assert _core.decode_image(encode(np.zeros(shape, np.uint8))).shape == shape
        return
    with pytest.raises(Invalid):
        encode(np.zeros(shape, np.uint8))


def test_large_files_are_complete():
    image = pixels(300, 400)
    assert _core.decode_image(tf.io.encode_jpeg(image, quality=100)).shape == image.shape
    np.testing.assert_array_equal(_core.decode_image(tf.io.encode_png(image)), image)
