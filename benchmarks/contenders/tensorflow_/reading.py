"""TensorFlow reads records: in batches, and one by one."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Job, Reading, Setting, Tallying
from benchmarks.contenders.tensorflow_.features import COMPRESSIONS


def raw(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tensorflow as tf

    files = files or job.dataset.files
    n = job.dataset.batch
    auto = tf.data.AUTOTUNE

    def read(parallel: int | None, buffer: int | None = None) -> Any:
        return tf.data.TFRecordDataset(files, compression, buffer, num_parallel_reads=parallel).batch(n)

    def interleaved() -> Any:
        return tf.data.Dataset.from_tensor_slices(files).interleave(
            lambda file: tf.data.TFRecordDataset(file, compression, 8 << 20).batch(n),
            cycle_length=2,
            num_parallel_calls=auto,
            deterministic=False,
        )

    def setting(label: str, dataset: Any, order: str = "any") -> Setting:
        return Reading(label, dataset, lambda batch: batch.numpy(), lambda batch: int(batch.shape[0]), order=order)

    return [
        setting(f"batch({n})", read(None), order="file"),
        setting(f"batch({n}).prefetch", read(None).prefetch(auto), order="file"),
        setting(f"buffer 8 MiB, batch({n}).prefetch", read(None, 8 << 20).prefetch(auto), order="file"),
        setting(f"num_parallel_reads=2, batch({n})", read(2)),
        setting(f"num_parallel_reads=2, batch({n}).prefetch", read(2).prefetch(auto)),
        setting(f"num_parallel_reads=AUTOTUNE, batch({n}).prefetch", read(auto).prefetch(auto)),
        setting(f"interleave(buffer 8 MiB, batch({n}), 2, AUTOTUNE).prefetch", interleaved().prefetch(auto)),
    ]


def raw_gzip(job: Job) -> list[Setting]:
    return raw(job, *job.packed(*COMPRESSIONS))


def memory(job: Job) -> list[Setting]:
    import tensorflow as tf

    n = job.dataset.batch
    dataset = tf.data.TFRecordDataset(job.dataset.files, "", 8 << 20).batch(n).prefetch(tf.data.AUTOTUNE)
    return [
        Tallying(
            f"buffer 8 MiB, batch({n}).prefetch",
            dataset,
            lambda batch: batch.numpy(),
            lambda batch: int(batch.shape[0]),
        )
    ]


def loop(job: Job) -> list[Setting]:
    """Single records, without `prefetch` and `num_parallel_reads`, which made `as_numpy_iterator` no faster."""
    import tensorflow as tf

    files, n = job.dataset.files, job.dataset.batch
    data = tf.data.TFRecordDataset(files)

    def iterator() -> Any:
        for file in files:
            yield from tf.compat.v1.io.tf_record_iterator(file)

    def unbatched() -> Any:
        for batch in data.batch(n).prefetch(tf.data.AUTOTUNE).as_numpy_iterator():
            yield from batch

    return [
        Reading("as_numpy_iterator", data.as_numpy_iterator),
        Reading("compat.v1.io.tf_record_iterator", iterator),
        Reading(f"batch({n}).prefetch.as_numpy_iterator, then each of the batch", unbatched),
    ]
