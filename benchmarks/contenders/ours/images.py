"""tfrecord_fast makes batches of images on the threads that read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.contenders import CannotError, Job, Setting, cores
from benchmarks.contenders.kit.imaging import ANTIALIAS, BILINEAR, Photos, step_of
from benchmarks.data.photos import DECODE, EVALUATE, RATIO, SCALE, SHORTER_SIDE, SIZE

ONE_THREAD = ("decode, 1 thread", "antialias, 1 thread")
INEXACT = "exact=False"


def images(job: Job) -> list[Setting]:
    """Raises CannotError for a package that has no ImageFeature."""
    import tfrecord_fast as tf

    if not hasattr(tf, "ImageFeature"):
        raise CannotError("has no ImageFeature")
    step = step_of(job)
    if step == DECODE:
        return [setting(job, DECODE, {}), *one_thread(job, {}, ONE_THREAD[0])]
    if step == EVALUATE:
        centre = {"size": SIZE, "crop": "center", "shorter_side": SHORTER_SIDE}
        return [setting(job, ANTIALIAS, centre), *one_thread(job, centre, ONE_THREAD[1])]
    random = {"size": SIZE, "crop": "random", "scale": SCALE, "ratio": RATIO, "flip": True}
    return [
        setting(job, ANTIALIAS, random),
        setting(job, BILINEAR, random | {"antialias": False}),
        *one_thread(job, random, ONE_THREAD[1]),
        setting(job, INEXACT, random | {"exact": False}),
    ]


def one_thread(job: Job, options: Mapping[str, Any], row: str) -> list[Setting]:
    return [setting(job, row, options, 1)] if cores() > 1 else []


def setting(job: Job, row: str, options: Mapping[str, Any], threads: int | None = None) -> Setting:
    import tfrecord_fast as tf

    features = {"image": tf.ImageFeature(**options), "label": tf.io.FixedLenFeature([], tf.int64)}
    reader = tf.ShardReader(job.dataset.files, features, batch_size=job.dataset.batch, num_threads=threads)
    return Photos(
        job,
        f"ShardReader, num_threads={threads}",
        reader,
        lambda batch: zip(batch["label"], batch["image"], strict=True),
        lambda batch: len(batch["label"]),
        row,
    )
