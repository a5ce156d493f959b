"""The pipelines as a user of the plain package writes them: batches first, then functions of columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS = 2
Batches = Iterable[Any]


def batches(files: list[str], buffer: int, size: int, parse: Callable[[Any], Any], drop_remainder: bool) -> Batches:
    """Shuffled records, batched, then parsed."""
    import tfrecord_fast as tf

    records = tf.data.TFRecordDataset(files).shuffle(buffer).batch(size, drop_remainder)
    parsed: Batches = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)
    return parsed


def one_hot(labels: NDArray[Any], depth: int) -> NDArray[np.float32]:
    return (labels[:, None] == np.arange(depth)).astype(np.float32)


def pixels(data: bytes, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
    """Decode an image and resize it."""
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    return np.asarray(image if size is None else image.resize(size, Image.Resampling.BILINEAR))


def pictures(pool: ThreadPoolExecutor, images: Any, size: tuple[int, int] | None = None) -> NDArray[np.float32]:
    """Decode a batch of images to floats from 0 to 1."""
    decoded = np.stack(list(pool.map(lambda image: pixels(image, size), images)))
    return decoded * np.float32(1 / 255)


def jpeg_augment(files: list[str], buffer: int = 512) -> Batches:
    import tfrecord_fast as tf

    features = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)}
    pool, rng = ThreadPoolExecutor(THREADS), np.random.default_rng()

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        images = pictures(pool, columns["image"], (224, 224))
        mirrored = rng.random(len(images)) < 0.5
        images[mirrored] = images[mirrored, :, ::-1]
        return images, columns["class"].astype(np.int32)

    return batches(files, buffer, 32, parse, drop_remainder=False)


def jpeg_onehot(files: list[str], buffer: int = 512) -> Batches:
    import tfrecord_fast as tf

    features = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)}
    pool = ThreadPoolExecutor(THREADS)

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        return pictures(pool, columns["image"]), one_hot(columns["class"], 104)

    return batches(files, buffer, 64, parse, drop_remainder=False)


def detection(files: list[str], buffer: int = 256) -> Batches:
    import tfrecord_fast as tf

    corners = [f"image/object/bbox/{name}" for name in ("xmin", "ymin", "xmax", "ymax")]
    features = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        **{name: tf.io.VarLenFeature(tf.float32) for name in corners},
        "image/object/class/label": tf.io.VarLenFeature(tf.int64),
    }
    pool = ThreadPoolExecutor(THREADS)

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        images = pictures(pool, columns["image/encoded"], (256, 256))
        boxes = np.stack([tf.sparse.to_dense(columns[name], np.float32(1e-8)) for name in corners], axis=2)
        labels = tf.sparse.to_dense(columns["image/object/class/label"], -1)
        return images, boxes, labels.astype(np.int32)

    return batches(files, buffer, 16, parse, drop_remainder=False)


def bert_outside(files: list[str], buffer: int = 1000) -> Batches:
    import tfrecord_fast as tf

    features = bert_features()

    def parse(records: Any) -> Any:
        return {name: column.astype(np.int32) for name, column in tf.io.parse_example(records, features).items()}

    return batches(files, buffer, 32, parse, drop_remainder=True)


def bert_inside(files: list[str], buffer: int = 1000) -> Batches:
    import tfrecord_fast as tf

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, bert_features())
        x = {
            "input_word_ids": columns["input_ids"].astype(np.int32),
            "input_mask": columns["input_mask"].astype(np.int32),
            "input_type_ids": columns["segment_ids"].astype(np.int32),
        }
        return x, columns["label_ids"].astype(np.int32)

    return batches(files, buffer, 32, parse, drop_remainder=False)


def bert_features() -> dict[str, Any]:
    import tfrecord_fast as tf

    lists = {name: tf.io.FixedLenFeature([128], tf.int64) for name in ("input_ids", "input_mask", "segment_ids")}
    return lists | {"label_ids": tf.io.FixedLenFeature([], tf.int64)}


def tokens(files: list[str], buffer: int = 1000) -> Batches:
    import tfrecord_fast as tf

    features = {"input_token_ids": tf.io.VarLenFeature(tf.int64)}

    def parse(records: Any) -> Any:
        column = tf.io.parse_example(records, features)["input_token_ids"]
        dense = tf.sparse.to_dense(column).astype(np.int32)
        x, y = dense[:, :-1].copy(), dense[:, 1:]
        lengths = np.diff(column.row_splits)
        shorter = np.flatnonzero(lengths < dense.shape[1])
        x[shorter, lengths[shorter] - 1] = 0  # a row's last token is not part of the input
        return x, y

    return batches(files, buffer, 16, parse, drop_remainder=False)


def ctr_40(files: list[str], buffer: int = 4096) -> Batches:
    import tfrecord_fast as tf

    numbers, categories = [f"I{i}" for i in range(1, 14)], [f"C{i}" for i in range(1, 27)]
    features = {
        **{name: tf.io.FixedLenFeature([], tf.float32) for name in numbers},
        **{name: tf.io.FixedLenFeature([], tf.int64) for name in categories},
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        dense = np.log(np.maximum(np.stack([columns[name] for name in numbers], axis=1), 0) + np.float32(1))
        sparse = np.stack([columns[name] for name in categories], axis=1)
        return {"dense": dense, "sparse": sparse}, columns["label"].astype(np.float32)

    return batches(files, buffer, 256, parse, drop_remainder=False)


def speech(files: list[str], buffer: int = 256) -> Batches:
    import tfrecord_fast as tf

    features = {"audio": tf.io.FixedLenFeature([16_384], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        return columns["audio"][:, :, None], one_hot(columns["label"], 35)

    return batches(files, buffer, 32, parse, drop_remainder=False)


def patches(files: list[str], buffer: int = 16) -> Batches:
    import tfrecord_fast as tf

    names = ["B2", "B3", "B4", "impervious"]
    features = {name: tf.io.FixedLenFeature([256, 256], tf.float32) for name in names}

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        stacked = np.stack([columns[name] for name in names], axis=3)
        return stacked[..., :3], stacked[..., 3:]

    return batches(files, buffer, 8, parse, drop_remainder=False)


def sequences(files: list[str], buffer: int = 1000) -> Batches:
    import tfrecord_fast as tf

    context = {"user_id": tf.io.FixedLenFeature([], tf.int64), "score": tf.io.FixedLenFeature([], tf.float32)}
    lists = {
        "items": tf.io.FixedLenSequenceFeature([], tf.int64),
        "frames": tf.io.FixedLenSequenceFeature([8], tf.float32),
    }

    def parse(records: Any) -> Any:
        columns, steps, lengths = tf.io.parse_sequence_example(records, context, lists)
        x = {
            "items": steps["items"].astype(np.int32),
            "length": lengths["items"].astype(np.int32),
            "frames": steps["frames"],
        }
        return x, columns["score"]

    return batches(files, buffer, 32, parse, drop_remainder=False)


def filter(files: list[str], buffer: int = 2000) -> Batches:
    """The records of half of the labels, which are cut anew into batches of one size."""
    import tfrecord_fast as tf

    features = {"features": tf.io.FixedLenFeature([32], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        wanted = columns["label"] < 5
        return np.maximum(columns["features"][wanted], 0), one_hot(columns["label"][wanted], 5)

    class Rebatched:
        def __iter__(self) -> Iterator[Any]:
            x, y = np.empty((0, 32), np.float32), np.empty((0, 5), np.float32)
            for more_x, more_y in batches(files, buffer, 1024, parse, drop_remainder=False):
                x, y = np.concatenate([x, more_x]), np.concatenate([y, more_y])
                whole = len(x) // 64 * 64
                yield from ((x[i : i + 64], y[i : i + 64]) for i in range(0, whole, 64))
                x, y = x[whole:], y[whole:]
            if len(x):
                yield x, y

    return Rebatched()


def cond(files: list[str], buffer: int = 1000) -> Batches:
    import tfrecord_fast as tf

    features = {"tokens": tf.io.VarLenFeature(tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        dense = tf.sparse.to_dense(columns["tokens"])[:, :128]
        x = np.zeros((len(dense), 128), np.int32)
        x[:, : dense.shape[1]] = dense
        return x, columns["label"].astype(np.int32)

    return batches(files, buffer, 32, parse, drop_remainder=False)


def python_if(files: list[str], buffer: int = 1000) -> Batches:
    import tfrecord_fast as tf

    features = {
        "signal": tf.io.FixedLenFeature([256], tf.float32),
        "backwards": tf.io.FixedLenFeature([], tf.int64),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(records: Any) -> Any:
        columns = tf.io.parse_example(records, features)
        signal = np.where(columns["backwards"][:, None] == 1, columns["signal"][:, ::-1], columns["signal"])
        return (signal - signal.mean(1, keepdims=True)) * np.float32(0.5), columns["label"]

    return batches(files, buffer, 64, parse, drop_remainder=False)
