"""What is fuzzed: each target takes any bytes, and must end with a result or with one of the errors in REFUSED."""

import io
import json
import os
import random
import struct
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.compression import ALL, compress
from tests.support.frames import frame
from tests.support.image_files import jpeg, png
from tests.support.oracle import neutral
from tests.support.other_files import OTHER_FILES
from tests.support.paths import FUZZ
from tfrecord_fast import _core
from tfrecord_fast.cli.console import Style
from tfrecord_fast.cli.records.decoding import decode
from tfrecord_fast.cli.records.json_values import marked
from tfrecord_fast.cli.records.showing import Shower
from tfrecord_fast.examples.record_kinds import kind_of
from tfrecord_fast.files.naming.foreign_formats import foreign_format
from tools.fuzz.makers import make_arrow, make_columns
from tools.fuzz.mutate import MOST
from tools.fuzz.program import Program

__all__ = ["REFUSED", "TARGETS", "Target"]

REFUSED = (ValueError, TypeError, OSError, MemoryError, OverflowError, tf.errors.TFRecordError)
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))


class Target(NamedTuple):
    run: object  # bytes -> None
    seeds: object  # () -> list of bytes
    words: tuple = ()  # what means something in its inputs
    repair: object = None  # (bytes) -> bytes with the right check sums, so that changes come through


def stored(name):
    """The inputs kept in tools/fuzz/corpus."""
    folder = FUZZ / "corpus" / name
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.exists() else []


def outcome(work, *args):
    try:
        return work(*args), None
    except REFUSED as error:
        return None, error


# ---- Parsing ----

EXAMPLES = [
    {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.float32), "c": tf.VarLenFeature(tf.string)},
    {"a": tf.FixedLenFeature([], tf.int64, 1), "b": tf.FixedLenFeature([3], tf.float32, [1.0, 2.0, 3.0])},
    {"a": tf.FixedLenSequenceFeature([2], tf.int64, True), "": tf.RaggedFeature(tf.int64)},
    {"a": tf.FixedLenFeature([2], tf.bool, [0, 0]), "c": tf.FixedLenFeature([], tf.string, b"")},
]
LISTS = [
    {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.float32), "c": tf.VarLenFeature(tf.string)},
    {"a": tf.FixedLenSequenceFeature([], tf.int64, True), "": tf.RaggedFeature(tf.int64)},
]


def parse(data):
    which, record = data[0] if data else 0, data[1:]
    features = EXAMPLES[which % 4]
    one, why = outcome(tf.parse_example, [record], features)
    two, also = outcome(tf.parse_example, [record, bytearray(record)], features)
    assert (one is None) == (two is None), (why, also)
    if one is not None:
        for key, value in one.items():
            kind, *_, last = neutral(value)
            if kind == "dense":
                assert repr(neutral(two[key])[1][:1].ravel()[: last.size]) == repr(last.ravel())
    outcome(tf.parse_single_example, record, features)
    outcome(tf.parse_sequence_example, [record, record], EXAMPLES[0], LISTS[which % 2])
    outcome(tf.infer_features, [record])


# ---- Encoding ----


def encode(data):
    columns = make_columns(Program(data))
    rows, _ = outcome(tf.encode_examples, columns)
    if not rows:
        return
    try:
        features = tf.infer_features(rows)
    except tf.errors.InvalidArgumentError as error:  # a column of empty lists and None has any kind
        raise AssertionError(f"what was encoded does not parse: {error}") from error
    parsed = tf.parse_example(rows, {key: _list_of(feature) for key, feature in features.items()})
    for key, column in columns.items():
        if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and key in parsed:
            assert np.array_equal(parsed[key].values, column.ravel().astype(np.int64)), key


def _list_of(feature):
    return feature if isinstance(feature, tf.VarLenFeature) else tf.VarLenFeature(feature.dtype)


def arrow(data):
    made = make_arrow(Program(data))
    rows, _ = outcome(tf.encode_examples, {"a": made})
    if rows is not None:
        tf.infer_features(rows) if len(rows) else None
        again, why = outcome(tf.encode_examples, {"a": made})
        assert again is None and "only once" in str(why)


# ---- Files ----


def files(data):
    """A file object with any content, read to its end with any compression."""
    how, content = data[0] if data else 0, data[1:]
    compression = [None, *ALL][how % 6]
    dataset = tf.data.TFRecordDataset(io.BytesIO(content), compression_type=compression)
    outcome(list, dataset.ignore_errors() if how // 6 % 2 else dataset)


def files_by_path(data):
    how, content = data[0] if data else 0, data[1:]
    path = FOLDER / "file"
    path.write_bytes(content)
    compression = [None, *ALL][how % 6]
    counts = {}
    for on_corrupt in ("raise", "skip"):
        reader = tf.ShardReader(
            str(path), on_corrupt=on_corrupt, compression_type=compression, batch_size=7, num_threads=1 + how // 6 % 2
        )
        counts[on_corrupt], _ = outcome(lambda reader=reader: [record for batch in reader for record in batch])
    if counts["raise"] is not None:
        assert counts["skip"] == counts["raise"]


def some_files():
    contents = [b"".join(map(frame, records)) for records in ([], [b"abc"], [b"", b"x" * 300, b"yz"], [bytes(20)] * 30)]
    return [bytes([i]) + compress(kind, content) for i, kind in enumerate(ALL, 1) for content in contents]


def reframed(data):
    """With the right CRCs wherever lengths lead."""
    made, at = bytearray(data[:1]), 1
    while at + 16 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        if size > len(data) - at - 16:
            break
        made += frame(data[at + 12 : at + 12 + size])
        at += size + 16
    return bytes(made + data[at:])


def index(data):
    path = FOLDER / "index"
    path.write_bytes(data)
    found, _ = outcome(_core.RecordIndex.load, os.fsencode(path))
    if found is not None:
        _core.RecordIndex.save(found, os.fsencode(path))
        assert _core.RecordIndex.load(os.fsencode(path)).equals(found)
    content = FOLDER / "indexed"
    if not content.exists():
        content.write_bytes(b"".join(map(frame, INDEXED)))
    path.write_bytes(data)
    reader, _ = outcome(lambda: tf.IndexedReader(str(content), indexes=str(path)))
    if reader is not None:
        count, _ = outcome(len, reader)
        for i in range(min(count or 0, 5)):
            record, _ = outcome(reader.__getitem__, i)
            assert record is None or record in INDEXED


INDEXED = [b"zero", b"one" * 30, b"", b"three" * 9]
INDEX = b"0 20\n20 106\n126 16\n142 61\n"


def state(data):
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError):
        return
    reader = _shard_reader()
    _, refused = outcome(reader.load_state_dict, loaded)
    if refused is None:
        iterator = iter(reader)
        for _ in range(3):
            batch, _ = outcome(next, iterator, None)
            if batch is None:
                break
            assert all(record in RESUMED for record in batch)


RESUMED = {b"%d" % i for i in range(60)}


def _shard_reader():
    paths = [FOLDER / "shard0", FOLDER / "shard1"]
    if not paths[0].exists():
        records = sorted(RESUMED)
        for path, part in zip(paths, (records[:30], records[30:]), strict=True):
            path.write_bytes(b"".join(map(frame, part)))
    return tf.ShardReader([*map(str, paths)], batch_size=4, shuffle_buffer=8, seed=1, num_epochs=2)


def some_states():
    states = [json.dumps(_shard_reader().state_dict()).encode()]
    for batches in (1, 9, 20):
        reader = _shard_reader()
        iterator = iter(reader)
        for _ in range(batches):
            next(iterator)
        states.append(json.dumps(reader.state_dict()).encode())
    return states


# ---- Messages and images ----

TENSORS = ["int64", "float32", "string", "bool", "float16", "uint8", "bfloat16", "complex64"]


def tensor(data):
    outcome(tf.io.parse_tensor, data[1:], getattr(tf, TENSORS[(data[0] if data else 0) % len(TENSORS)], tf.int64))


def some_tensors():
    arrays = [np.arange(6).reshape(2, 3), np.float32([1.5]), np.array(3), np.array([b"a", b"bc"], object)]
    return [bytes([i % 3]) + tf.io.serialize_tensor(array) for i, array in enumerate(arrays)]


def images(data):
    """Files of images, and a region of one, which has the pixels of the whole."""
    how, content = data[0] if data else 0, data[1:]
    outcome(lambda: tf.io.decode_png(content, channels=how % 5, dtype=tf.uint16 if how & 8 else tf.uint8))
    outcome(tf.io.decode_image, content)
    outcome(_core.image_header, content)
    options = _core.DecodeOptions(
        channels=how % 2 * 3,
        ratio=1 << how // 2 % 4,
        fancy_upsampling=how & 16 == 0,
        fast_dct=how & 32 == 0,
        recover_truncated=how & 64 != 0,
        acceptable_fraction=how // 128,
        max_pixels=1 << 22,
    )
    whole, _ = outcome(_core.decode_image, content, options)
    if whole is not None:
        top, left = how % whole.shape[0], how * 7 % whole.shape[1]
        height, width = -(-(whole.shape[0] - top) // 2), -(-(whole.shape[1] - left) // 3)
        region, why = outcome(_core.decode_image, content, options, (top, left, height, width))
        assert region is not None or how >= 64, why
        assert (
            how >= 64
            or np.array_equal(region, whole[top : top + height, left : left + width])
            or b"\xff\xc2" in content
        )
        assert len(_core.decode_images([content] * 2, options)) == 2


def some_images():
    rng = np.random.default_rng(0)
    shapes = [*((dtype, channels) for dtype in (np.uint8, np.uint16) for channels in (1, 2, 3, 4))]
    pictures = [rng.integers(0, 255, (5, 4, channels)).astype(dtype) for dtype, channels in shapes]
    pngs = [bytes([8 * (image.dtype == np.uint16)]) + tf.io.encode_png(image) for image in pictures]
    pngs += [b"\0" + png(rng, 9, 7, color, 8, interlaced=True, transparent=True) for color in (0, 2, 3)]
    samplings = [[(1, 1)], [(2, 2), (1, 1), (1, 1)], [(2, 1), (1, 1), (1, 1)], [(1, 1)] * 4]
    jpegs = [bytes([i]) + jpeg(rng, 20, 35, sampling, restart=i) for i, sampling in enumerate(samplings)]
    jpegs += [bytes([i]) + tf.io.encode_jpeg(pictures[2], progressive=True) for i in (0, 64, 128)]
    return [*pngs, *jpegs, *(b"\0" + _saved(pictures[2], kind) for kind in ("GIF", "BMP", "JPEG"))]


METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
CHOICES = 8  # bytes before the image


def image_features(data):
    """An ImageFeature of any arguments over any file: errors do not depend on dtype, layout or batch."""
    program, content = Program(data[:CHOICES]), data[CHOICES:]
    size = program.choice([None, 1, 7, (5, 40), (64, 3), 224])
    crop = program.choice([None, "center", "random"]) if size is not None else None
    arguments = {
        "size": size,
        "crop": crop,
        "shorter_side": program.choice([None, 230]) if crop == "center" else None,
        "resize": program.choice(METHODS),
        "channels": program.choice([3, 1]),
        "scale": program.choice([(0.08, 1.0), (0.5, 0.5), (1e-9, 1e-9)]),
        "ratio": program.choice([(3 / 4, 4 / 3), (1e-6, 1e6)]),
        **dict(zip(("flip", "antialias", "exact"), map(bool, np.unpackbits([np.uint8(program.byte())])), strict=False)),
        "max_pixels": 1 << 18,
        "seed": 5,
    }
    records = tf.encode_examples({"image": [content]}).tolist()

    def parsed(count=1, **changes):
        feature = tf.ImageFeature(**(arguments | changes))
        return outcome(lambda: tf.parse_example(records * count, {"image": feature})["image"])

    pixels, why = parsed(dtype=tf.float32)
    if pixels is None:
        assert parsed()[0] is None and parsed(channels_first=True)[0] is None, why
        assert size is None or not parsed(on_error="zeros")[0].any()
        assert len(parsed(on_error="skip")[0]) == 0
        return
    assert np.isfinite(pixels[0]).all()
    assert np.array_equal(parsed()[0][0], np.rint(pixels[0]).clip(0, 255))
    assert np.array_equal(parsed(channels_first=True, dtype=tf.float32)[0][0], pixels[0].transpose(2, 0, 1))
    assert np.array_equal(parsed(3, dtype=tf.float32, on_error="skip")[0][0], pixels[0])


def some_image_features():
    rng = np.random.default_rng(1)
    return [rng.bytes(CHOICES) + image[1:] for image in some_images() for _ in range(2)]


def _saved(pixels, kind):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def with_crcs(data, before=1):
    """A PNG whose chunks have the right CRCs, after some bytes."""
    made, at = bytearray(data[: before + 8]), before + 8
    while at + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if size > len(data) - at - 12:
            break
        body = data[at + 4 : at + 8 + size]
        made += data[at : at + 4] + body + struct.pack(">I", zlib.crc32(body))
        at += size + 12
    return bytes(made + data[at:])


# ---- What records and files are ----


def kinds(data):
    """What bytes look like, and what the commands show of them."""
    kind = kind_of(data)
    assert (kind in ("text", "JSON")) <= (data.decode("utf-8", "replace").encode() == data), kind
    assert isinstance(foreign_format(data, len(data)), str | None)
    for form in ("example", "event", "proto"):
        outcome(decode, data, form)
    decoded = decode(data)
    json.dumps(marked(decoded.tree), allow_nan=False)
    for full in (False, True):
        for line in Shower(Style(coloured=False), full).lines(0, data, decoded):
            assert all(ord(letter) >= 32 for letter in line), line


def some_kinds():
    number = wire.varint(1 << 3) + b"\x01"
    time = wire.varint(1 << 3 | 1) + struct.pack("<d", 1.5)
    example = wire.example([(b"a", wire.feature("int64", [1])), (b"b", wire.feature("bytes", [b"x"]))])
    texts = [b'{"a": [1]}', "zwölf\u20ac\U0001f600".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"BM\x06\0\0\0"]
    messages = [
        time + wire.field(3, b"brain.Event:2"),
        time + number + wire.field(5, wire.field(1, wire.field(1, b"loss") + wire.varint(2 << 3 | 5) + bytes(4))),
        wire.field(1, example) * 2 + wire.field(2, example),
        wire.field(3, wire.field(4, example)) + wire.varint(4 << 3 | 3) + number + wire.varint(4 << 3 | 4),
        wire.sequence_example([(b"c", wire.feature("float", [1.5]))], [(b"s", [wire.feature("int64", [1])])]),
    ]
    tensors = [data[1:] for data in some_tensors()]
    files = [content for content, _ in OTHER_FILES.values() if len(content) <= MOST]
    return [*texts, *messages, *tensors, *files, *(data[1:] for data in stored("parse"))]


def programs():
    rng = random.Random(0)
    return [bytes(rng.choice([0, 1, 2, 3, rng.randrange(256)]) for _ in range(size)) for size in (20, 60, 200, 600)]


KEYS = [wire.field(1, b"a"), wire.field(1, b"b"), b"\x0a\x01", b"\x12\x05", b"\x1a\x03", b"\x0a\xff\xff\xff\xff\x0f"]
JSON = [
    b"null",
    b"-1",
    b"[]",
    b"{}",
    b'""',
    b"1e400",
    b"true",
    b"[[[",
    b'"a"',
    str(2**63).encode(),
    str(2**64).encode(),
]

CHUNKS = (b"IHDR", b"IDAT", b"PLTE", b"tRNS", b"IEND", b"gAMA")
TARGETS = {
    "parse": Target(parse, lambda: stored("parse"), tuple(KEYS)),
    "kinds": Target(kinds, some_kinds, tuple(KEYS)),
    "encode": Target(encode, programs),
    "arrow": Target(arrow, programs),
    "files": Target(files, some_files, repair=reframed),
    "paths": Target(files_by_path, some_files, repair=reframed),
    "index": Target(index, lambda: [INDEX, b"", b"0 16\n"], (b"\n", b" ", b"-", b"\t", b"9" * 19, b"16", b"0 ")),
    "state": Target(state, some_states, tuple(JSON)),
    "tensor": Target(tensor, some_tensors),
    "images": Target(images, some_images, CHUNKS, with_crcs),
    "image_features": Target(image_features, some_image_features, CHUNKS, lambda data: with_crcs(data, CHOICES)),
}
