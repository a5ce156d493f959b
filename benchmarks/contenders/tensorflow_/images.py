"""TensorFlow makes batches of images, as its guides and models do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.contenders import Job, Setting
from benchmarks.contenders.kit.imaging import ANTIALIAS, BILINEAR, Photos, count_of, of_arrays, step_of
from benchmarks.data.photos import DECODE, EVALUATE, RATIO, SCALE, SHORTER_SIDE, SIZE, TRAIN


def images(job: Job) -> list[Setting]:
    """Images are what `tf.image.resize` returns, float32, or cast to uint8; the faster counts."""
    step = step_of(job)
    if step == DECODE:
        return [setting(job, "decode_jpeg", decoded, "")]
    rows = [ANTIALIAS] if step == EVALUATE else [BILINEAR, ANTIALIAS]
    compute = {EVALUATE: evaluated, TRAIN: cropped}[step]
    return [
        setting(job, f"AUTOTUNE, {dtype}", lambda data, row=row, dtype=dtype: of_dtype(compute(data, row), dtype), row)
        for row in rows
        for dtype in ("float32", "uint8")
    ]


def setting(job: Job, label: str, image_of: Callable[[Any], Any], row: str) -> Setting:
    import tensorflow as tf

    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def labelled(record: Any) -> Any:
        example = tf.io.parse_single_example(record, features)
        return image_of(example["image"]), example["label"]

    records = tf.data.TFRecordDataset(job.dataset.files)
    data = records.map(labelled, num_parallel_calls=tf.data.AUTOTUNE)
    if not row:  # photographs of several sizes, which make no batch

        def single() -> Iterator[Any]:
            for image, name in data.prefetch(tf.data.AUTOTUNE):
                yield [image], [name]

        return Photos(job, label, single, of_arrays, count_of, row)
    return Photos(job, label, data.batch(job.dataset.batch).prefetch(tf.data.AUTOTUNE), of_arrays, count_of, row)


def decoded(data: Any) -> Any:
    import tensorflow as tf

    return tf.io.decode_jpeg(data, channels=3)


def evaluated(data: Any, row: str) -> Any:
    import tensorflow as tf

    image = tf.io.decode_jpeg(data, channels=3)
    shape = tf.shape(image)[:2]
    size = SHORTER_SIDE * shape // tf.reduce_min(shape)
    image = tf.image.resize(image, size, antialias=row == ANTIALIAS)
    top, left = (size[0] - SIZE) // 2, (size[1] - SIZE) // 2
    return tf.image.crop_to_bounding_box(image, top, left, SIZE, SIZE)


def cropped(data: Any, row: str) -> Any:
    import tensorflow as tf

    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(data),
        bounding_boxes=tf.constant([0.0, 0.0, 1.0, 1.0], shape=[1, 1, 4]),
        min_object_covered=0.0,
        aspect_ratio_range=RATIO,
        area_range=SCALE,
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.io.decode_and_crop_jpeg(data, window, channels=3)
    image = tf.image.resize(image, [SIZE, SIZE], antialias=row == ANTIALIAS)
    return tf.image.random_flip_left_right(image)


def of_dtype(image: Any, dtype: str) -> Any:
    import tensorflow as tf

    return tf.cast(tf.round(image), tf.uint8) if dtype == "uint8" else image
