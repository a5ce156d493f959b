"""TensorFlow: `tf.data.TFRecordDataset` and `tf.io.TFRecordWriter`, in the settings of its performance guide
(https://www.tensorflow.org/guide/data_performance)."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Contender, Importing, Job, Reading, Setting, Writing


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
            cycle_length=2, num_parallel_calls=auto, deterministic=False,
        )  # fmt: skip

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
    return raw(job, job.dataset.gzip_files, "GZIP")


def loop(job: Job) -> list[Setting]:
    import tensorflow as tf

    files, n = job.dataset.files, job.dataset.batch
    auto = tf.data.AUTOTUNE

    def read(parallel: int | None) -> Any:
        return tf.data.TFRecordDataset(files, num_parallel_reads=parallel)

    def iterator() -> Any:
        for file in files:
            yield from tf.compat.v1.io.tf_record_iterator(file)

    def unbatched() -> Any:
        for batch in read(None).batch(n).prefetch(auto).as_numpy_iterator():
            yield from batch

    return [
        Reading("as_numpy_iterator", read(None).as_numpy_iterator),
        Reading("prefetch, as_numpy_iterator", read(None).prefetch(auto).as_numpy_iterator),
        Reading("num_parallel_reads=2, prefetch, as_numpy_iterator",
                read(2).prefetch(auto).as_numpy_iterator, order="any"),
        Reading("compat.v1.io.tf_record_iterator", iterator),
        Reading(f"batch({n}).prefetch.as_numpy_iterator, then each of the batch", unbatched),
    ]  # fmt: skip


def write(job: Job) -> list[Setting]:
    import tensorflow as tf

    def each(path: str, records: list[bytes]) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)

    return [Writing("write(bytes)", job, each, job.loaded())]


def importing(job: Job) -> list[Setting]:
    return [Importing("tensorflow")]


CONTENDER = Contender(
    "tensorflow",
    "TensorFlow",
    package="tensorflow_cpu",
    module="tensorflow",
    install="pip install tensorflow-cpu",
    tasks={"raw": raw, "loop": loop, "raw-gzip": raw_gzip, "write": write, "import": importing},
    environment={"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""},
)
