"""GIFs of several frames, and BMPs with alpha: TensorFlow's pixels, not those that Pillow composes."""

import io
import struct

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

Image = pytest.importorskip("PIL.Image")

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

Invalid = tf.errors.InvalidArgumentError
RANDOM = np.random.default_rng(7)
COLORS = RANDOM.integers(1, 256, (8, 3), dtype=np.uint8)
OTHERS = RANDOM.integers(1, 256, (4, 3), dtype=np.uint8)
LARGE, SMALL = RANDOM.integers(0, 8, (6, 9), dtype=np.uint8), RANDOM.integers(0, 4, (3, 4), dtype=np.uint8)


def packed(indexes):
    """LZW code that never looks back: one code of 9 bits per pixel, and a new beginning now and then."""
    codes = []
    for i, index in enumerate(indexes.ravel().tolist()):
        codes += [256, index] if i % 200 == 0 else [index]
    bits = sum(code << 9 * i for i, code in enumerate([*codes, 257]))
    data = bits.to_bytes(9 * (len(codes) + 1) // 8 + 1, "little")
    return b"\x08" + b"".join(blocked(data[i : i + 255]) for i in range(0, len(data), 255)) + b"\0"


def blocked(data):
    return bytes([len(data)]) + data


def table(colors):
    """The flags, and the table."""
    return (0, b"") if colors is None else (0x80 | len(colors).bit_length() - 2, colors.tobytes())


def control(transparent=None, disposal=0):
    flags = disposal << 2 | (transparent is not None)
    return b"!\xf9" + blocked(struct.pack("<BHB", flags, 5, transparent or 0)) + b"\0"


def frame(indexes, position=(0, 0), colors=None, interlaced=False, **shown):
    height, width = indexes.shape
    flags, own = table(colors)
    rows = [*range(0, height, 8), *range(4, height, 8), *range(2, height, 4), *range(1, height, 2)]
    stored = indexes[rows] if interlaced else indexes
    head = struct.pack("<HHHHB", position[1], position[0], width, height, flags | 0x40 * interlaced)
    return (control(**shown) if shown else b"") + b"," + head + own + packed(stored)


def gif(*frames, screen=LARGE.shape, colors=COLORS, end=b";"):
    flags, shared = table(colors)
    return b"GIF89a" + struct.pack("<HHBBB", screen[1], screen[0], flags, 0, 0) + shared + b"".join(frames) + end


COMMENT = b"!\xfe" + blocked(b"words") + b"\0"
GIFS = {
    "one": gif(frame(LARGE)),
    "two": gif(frame(LARGE), frame(LARGE[::-1])),
    "part": gif(frame(LARGE), frame(SMALL, (2, 3))),
    "transparent": gif(frame(LARGE), frame(LARGE[::-1], transparent=3)),
    "transparent at first": gif(frame(LARGE, transparent=3), frame(SMALL, (1, 1), transparent=1)),
    **{f"disposed {way}": gif(frame(LARGE), frame(SMALL, disposal=way), frame(SMALL, (3, 5))) for way in (1, 2, 3)},
    "disposed at first": gif(frame(LARGE, disposal=2), frame(SMALL, (3, 5), transparent=0)),
    "growing": gif(frame(SMALL, (1, 2)), frame(LARGE)),
    "small on a large screen": gif(frame(SMALL, (1, 2)), screen=(20, 30)),
    "large on a small screen": gif(frame(LARGE), frame(SMALL, (5, 8)), screen=(2, 2)),
    "beside": gif(frame(LARGE), frame(SMALL, (50, 1))),
    "own colors": gif(frame(LARGE), frame(SMALL, colors=OTHERS), frame(SMALL, (3, 3))),
    "only own colors": gif(frame(SMALL, colors=OTHERS), colors=None),
    "gray": gif(frame(LARGE), colors=np.repeat(np.arange(8, dtype=np.uint8)[:, None], 3, axis=1)),
    "interlaced": gif(frame(LARGE, interlaced=True), frame(SMALL, (1, 1), interlaced=True)),
    "transparent beyond the colors": gif(frame(LARGE, transparent=200)),
    "two controls": gif(frame(LARGE), control(transparent=2) + control(transparent=1) + frame(SMALL)),
    "a control before": gif(control(transparent=2) + COMMENT + frame(LARGE), frame(LARGE[::-1])),
    "long": gif(frame(RANDOM.integers(0, 8, (40, 50), dtype=np.uint8))),
    "too few colors": gif(frame(LARGE), colors=OTHERS),
    "too few colors for what is transparent": gif(frame(LARGE % 5), frame(LARGE % 5, transparent=4), colors=OTHERS),
    "no colors": gif(frame(LARGE), colors=None),
    "no frame": gif(COMMENT),
}
# TensorFlow decodes these as far as possible.
CUT, EMPTY = gif(frame(LARGE))[:-20], gif(frame(LARGE), frame(LARGE[:0]))
PNG, JPEG, BMP = (io.BytesIO() for _ in range(3))
for _file, _form in ((PNG, "PNG"), (JPEG, "JPEG"), (BMP, "BMP")):
    Image.fromarray(COLORS[LARGE]).save(_file, _form)


def decode_all(function, files, options):
    """Decode each file with each of the options; None for an error."""
    result = []
    for content in files:
        for arguments in options:
            try:
                result.append(np.asarray(getattr(tf.io, function)(content, **arguments)))
            except Exception:
                result.append(None)
    return result


OPTIONS = {
    "decode_gif": [{}],
    "decode_image": [{}, {"channels": 3}, {"channels": 1}, {"channels": 4}, {"expand_animations": False}],
    "decode_png": [{}, {"channels": 3}, {"channels": 1}],
}


def assert_same(ours, theirs):
    assert [item is None for item in ours] == [item is None for item in theirs]
    for item, other in zip(ours, theirs, strict=True):
        if item is not None:
            assert item.dtype == other.dtype
            np.testing.assert_array_equal(item, other)


@needs_tensorflow
@pytest.mark.parametrize("function", OPTIONS)
def test_a_gif_decodes_as_by_tensorflow(function):
    files = list(GIFS.values())
    theirs = live_tensorflow.call(decode_all, function, files, OPTIONS[function])
    assert_same(decode_all(function, files, OPTIONS[function]), theirs)


@needs_tensorflow
def test_another_image_decodes_as_a_gif_of_one_frame_as_by_tensorflow():
    files = [PNG.getvalue(), JPEG.getvalue()]
    assert_same(decode_all("decode_gif", files, [{}]), live_tensorflow.call(decode_all, "decode_gif", files, [{}]))


def test_a_frame_covers_what_it_shows():
    over = frame(SMALL, (2, 3), transparent=1, disposal=3)
    first, second, third = tf.io.decode_gif(gif(frame(LARGE, disposal=2), over, frame(SMALL, colors=OTHERS)))
    assert first.tolist() == COLORS[LARGE].tolist()
    expected = COLORS[LARGE].copy()
    expected[2:5, 3:7][SMALL != 1] = COLORS[SMALL[SMALL != 1]]
    assert second.tolist() == expected.tolist()
    expected[:3, :4] = OTHERS[SMALL]
    assert third.tolist() == expected.tolist()


def test_what_no_frame_covers_is_black():
    first, second = tf.io.decode_gif(gif(frame(SMALL, (1, 2), transparent=0), frame(LARGE)))
    expected = np.zeros((*LARGE.shape, 3), int)
    expected[1:4, 2:6] = COLORS[SMALL] * (SMALL != 0)[..., None].astype(int)
    assert first.tolist() == expected.tolist() and second.tolist() == COLORS[LARGE].tolist()


def test_a_frame_may_reach_beyond_the_largest():
    result = tf.io.decode_gif(gif(frame(LARGE), frame(SMALL, (4, 7))))
    expected = COLORS[LARGE].copy()
    expected[4:, 7:] = COLORS[SMALL[:2, :2]]
    assert result[1].tolist() == expected.tolist()


def test_rows_may_be_interlaced():
    result = tf.io.decode_gif(gif(frame(LARGE, interlaced=True)))
    assert result.tolist() == [COLORS[LARGE].tolist()]


@pytest.mark.parametrize("end", [b"", b"!", b"!\xfe", b"!\xfe\5wo", b"?words"])
def test_frames_count_whatever_ends_the_file(end):
    assert tf.io.decode_gif(gif(frame(LARGE), end=end)).shape == (1, *LARGE.shape, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GIFS["too few colors"], f"a pixel has color {LARGE.max()} of 4"),
        (GIFS["no colors"], "a frame has no colors"),
        (GIFS["no frame"], "the GIF has no frame"),
        (EMPTY, "a frame has no pixels"),
        (CUT, "the file is truncated"),
        (gif(frame(LARGE))[:20], "the file is truncated"),
        (gif(frame(LARGE)).replace(packed(LARGE), b"\x09" + packed(LARGE)[1:]), "pixels have more than 8 bits"),
        (gif(frame(LARGE)).replace(packed(LARGE), packed(LARGE[:2])), ""),
    ],
    ids=["index", "no colors", "no frame", "no pixels", "cut", "header", "bits", "few pixels"],
)
def test_a_gif_that_is_damaged_is_an_error(content, message):
    with pytest.raises(Invalid, match=f"^the image can't be decoded: {message}"):
        tf.io.decode_gif(content)


def test_a_wide_frame_and_a_high_one_are_no_reason_to_allocate_what_they_span():
    line = np.zeros((1, 65535), np.uint8)
    tall = gif(frame(line), frame(line.T))
    with pytest.raises(Invalid, match=r"the frames span 65535 × 65535 pixels, more than 178956970$"):
        tf.io.decode_gif(tall)


def test_many_small_frames_are_no_reason_to_allocate_as_many_large_ones():
    line = np.zeros((1, 13000), np.uint8)
    few = gif(frame(line), frame(line.T), *[frame(line[:, :1])] * 40)
    with pytest.raises(Invalid, match=r"the 42 frames claim 7098000000 pixels, but have far fewer$"):
        tf.io.decode_gif(few)


def test_a_gif_has_three_channels():
    for channels in (1, 4):
        with pytest.raises(Invalid, match=f"^a GIF has 3 channels; channels must be 0 or 3, got {channels}$"):
            tf.io.decode_image(GIFS["one"], channels=channels)
    assert tf.io.decode_png(GIFS["gray"]).shape == (*LARGE.shape, 3)


def test_an_animation_is_no_single_image():
    with pytest.raises(Invalid, match=r"^the GIF has 2 frames; use decode_gif or decode_image$"):
        tf.io.decode_png(GIFS["two"])
    assert tf.io.decode_image(GIFS["part"], expand_animations=False).tolist() == COLORS[LARGE].tolist()


def test_another_image_is_one_frame():
    for file in (PNG, BMP):
        assert tf.io.decode_gif(file.getvalue()).tolist() == [COLORS[LARGE].tolist()]


def test_an_animated_png_is_one_frame():
    file = io.BytesIO()
    frames = [Image.fromarray(COLORS[rows]) for rows in (LARGE, LARGE[::-1])]
    frames[0].save(file, "PNG", save_all=True, append_images=frames[1:])
    assert tf.io.decode_gif(file.getvalue()).tolist() == [COLORS[LARGE].tolist()]


# ---- BMPs with alpha ----

RGBA = RANDOM.integers(0, 256, (5, 7, 4), dtype=np.uint8)


def bmp(pixels, upside_down=True, header=40, masks=None, more=b""):
    """32 bits per pixel, blue first; by masks, if there are some."""
    height, width = pixels.shape[:2]
    rows = pixels[::-1] if upside_down else pixels
    data = np.ascontiguousarray(rows[..., [2, 1, 0, 3]]).tobytes() + more
    stored = 0 if masks is None else 3
    about = struct.pack("<IiiHHI", header, width, height if upside_down else -height, 1, 32, stored) + bytes(20)
    about += b"" if masks is None else struct.pack("<4I", *masks)
    about += bytes(max(0, header - len(about)))
    start = 14 + len(about)
    return b"BM" + struct.pack("<III", start + len(data), 0, start) + about + data


MASKS = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
BMPS = {
    "plain": bmp(RGBA),
    "first row first": bmp(RGBA, upside_down=False),
    "masks": bmp(RGBA, masks=MASKS),
    "long header": bmp(RGBA, header=108, masks=MASKS),
    "no alpha": bmp(RGBA * np.uint8([1, 1, 1, 0])),
    "24 bits": BMP.getvalue(),
}


@needs_tensorflow
@pytest.mark.parametrize("function", ["decode_bmp", "decode_image"])
def test_a_bmp_decodes_as_by_tensorflow(function):
    files, options = list(BMPS.values()), [{}, {"channels": 3}, {"channels": 4}]
    theirs = live_tensorflow.call(decode_all, function, files, options)
    assert_same(decode_all(function, files, options), theirs)


@pytest.mark.parametrize("name", ["plain", "first row first", "masks", "long header"])
@pytest.mark.parametrize("decode", [tf.io.decode_bmp, tf.io.decode_image])
def test_a_bmp_of_four_bytes_per_pixel_has_alpha(decode, name):
    assert decode(BMPS[name]).tolist() == decode(BMPS[name], channels=4).tolist() == RGBA.tolist()
    assert decode(BMPS[name], channels=3).tolist() == RGBA[..., :3].tolist()
    assert decode(BMPS[name], channels=1).shape == (5, 7, 1)


def test_a_bmp_whose_channels_are_elsewhere_is_read_by_pillow():
    masks = (0xFF, 0xFF00, 0xFF0000, 0xFF000000)
    result = tf.io.decode_bmp(bmp(RGBA, header=108, masks=masks), channels=3)
    assert result.tolist() == RGBA[..., [2, 1, 0]].tolist()


def test_a_bmp_with_alpha_that_is_cut_is_an_error():
    with pytest.raises(Invalid, match=r"^the image can't be decoded: the file is truncated$"):
        tf.io.decode_bmp(BMPS["plain"][:-1])
    assert tf.io.decode_bmp(bmp(RGBA, more=b"more")).tolist() == RGBA.tolist()
