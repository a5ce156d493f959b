"""TensorFlow: `tf.data.TFRecordDataset` and `tf.io.TFRecordWriter`, in the settings of its performance guide
(https://www.tensorflow.org/guide/data_performance)."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Contender, Importing, Job, Parsing, Reading, Setting, Writing


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


def features_of(job: Job, ragged: bool = False) -> tuple[Any, Any]:
    import tensorflow as tf

    from benchmarks.workloads import feature_objects

    data = job.dataset
    return feature_objects(data.features, tf, ragged), feature_objects(data.sequences, tf, ragged)


def parser_of(job: Job, ragged: bool = False) -> Any:
    import tensorflow as tf

    context, sequences = features_of(job, ragged)
    if sequences:
        return lambda batch: tf.io.parse_sequence_example(batch, context, sequences)
    return lambda batch: tf.io.parse_example(batch, context)


def columns_of(item: Any) -> Any:
    """Of what `parse_example` or `parse_sequence_example` gives, in the plain form of columns.py."""
    import numpy as np
    import tensorflow as tf

    from benchmarks.columns import Column, fixed, padded, ragged, step_name

    def column(value: Any, lengths: Any = None) -> Column:
        if isinstance(value, tf.RaggedTensor):
            return ragged(flat(value.values), value.row_splits.numpy())
        if isinstance(value, tf.SparseTensor):
            rows = value.indices.numpy()[:, 0]
            return Column(flat(value.values), np.bincount(rows, minlength=int(value.dense_shape[0])))
        return fixed(value.numpy()) if lengths is None else padded(value.numpy(), lengths.numpy())

    context, sequences, lengths = item if isinstance(item, tuple) else (item, {}, {})
    columns = {name: column(value) for name, value in context.items()}
    return columns | {step_name(name): column(value, lengths.get(name)) for name, value in sequences.items()}


def flat(values: Any) -> Any:
    array = values.numpy()
    return array.tolist() if array.dtype == object else array


def count_of(item: Any) -> int:
    context, _, lengths = item if isinstance(item, tuple) else (item, {}, {})
    first = next(iter((context or lengths).values()))
    return int(first.nrows() if hasattr(first, "nrows") else first.shape[0])


def kinds(job: Job) -> list[tuple[str, Any]]:
    """A parser with SparseTensors for lists of any length, and one with RaggedTensors, which are quicker to make."""
    varies = any(kind == "varlen" for kind, _, _ in job.dataset.features.values())
    return [("", parser_of(job)), *([(", ragged", parser_of(job, ragged=True))] if varies else [])]


def parse(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tensorflow as tf

    files, n = files or job.dataset.files, job.dataset.batch
    auto = tf.data.AUTOTUNE

    def read(names: Any, parallel: int | None = None) -> Any:
        return tf.data.TFRecordDataset(names, compression, 8 << 20, num_parallel_reads=parallel).batch(n)

    def interleaved(of_file: Any) -> Any:
        return tf.data.Dataset.from_tensor_slices(files).interleave(
            of_file, cycle_length=2, num_parallel_calls=auto, deterministic=False
        )

    def settings(name: str, parser: Any) -> list[Setting]:
        made = [
            (f"batch({n}).map(parse)", "file", read(files).map(parser)),
            (f"batch({n}).map(parse, AUTOTUNE).prefetch", "file", read(files).map(parser, auto)),
            (f"num_parallel_reads=2, batch({n}).map(parse, AUTOTUNE).prefetch", "any",
             read(files, 2).map(parser, auto)),
            (f"interleave(batch({n}), 2).map(parse, AUTOTUNE).prefetch", "any",
             interleaved(read).map(parser, auto, deterministic=False)),
            (f"interleave(batch({n}).map(parse), 2).prefetch", "any",
             interleaved(lambda file: read(file).map(parser))),
        ]  # fmt: skip
        return [
            Parsing(label + name, data.prefetch(auto) if "prefetch" in label else data, columns_of, count_of,
                    order=order)
            for label, order, data in made
        ]  # fmt: skip

    return [setting for name, parser in kinds(job) for setting in settings(name, parser)]


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, job.dataset.gzip_files, "GZIP")


def parse_memory(job: Job) -> list[Setting]:
    import tensorflow as tf

    batches = [tf.constant(batch) for batch in job.batches()]
    return [
        Parsing(label + name, lambda call=call: map(call, batches), columns_of, count_of)
        for name, parser in kinds(job)
        for label, call in (("eager", parser), ("tf.function", tf.function(parser)))
    ]


def parse_single(job: Job) -> list[Setting]:
    import numpy as np
    import tensorflow as tf

    from benchmarks.columns import Column, step_name

    context, sequences = features_of(job)
    records = [tf.constant(record) for part in job.loaded() for record in part]
    if sequences:
        one = lambda record: tf.io.parse_single_sequence_example(record, context, sequences)  # noqa: E731
    else:
        one = lambda record: tf.io.parse_single_example(record, context)  # noqa: E731

    def column(value: Any, steps: bool = False) -> Column:
        dense = value.values if isinstance(value, tf.SparseTensor) else value
        array = np.asarray(dense.numpy(), object if dense.dtype == tf.string else None)
        array = array if steps else array.ravel()
        return Column(array.tolist() if array.dtype == object else array, np.array([len(array)]))

    def columns(item: Any) -> Any:
        found, lists = item if isinstance(item, tuple) else (item, {})
        made = {name: column(value) for name, value in found.items()}
        return made | {step_name(name): column(value, steps=True) for name, value in lists.items()}

    return [
        Parsing(label, lambda call=call: map(call, records), columns, lambda _: 1)
        for label, call in (("eager", one), ("tf.function", tf.function(one)))
    ]


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
    tasks={
        "raw": raw,
        "raw-gzip": raw_gzip,
        "parse": parse,
        "parse-gzip": parse_gzip,
        "parse-memory": parse_memory,
        "parse-single": parse_single,
        "loop": loop,
        "write": write,
        "import": importing,
    },
    environment={"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""},
)
