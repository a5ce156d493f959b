"""TensorFlow: `tf.data.TFRecordDataset` and `tf.io.TFRecordWriter`, in the settings of its performance guide
(https://www.tensorflow.org/guide/data_performance)."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import (
    CannotError,
    Contender,
    Importing,
    Job,
    Parsing,
    Reading,
    Setting,
    Tallying,
    Writing,
    shards_of,
)

PACKED = ("GZIP", "ZLIB")


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
    return raw(job, *job.packed(*PACKED))


def memory(job: Job) -> list[Setting]:
    import tensorflow as tf

    n = job.dataset.batch
    dataset = tf.data.TFRecordDataset(job.dataset.files, "", 8 << 20).batch(n).prefetch(tf.data.AUTOTUNE)
    return [Tallying(f"buffer 8 MiB, batch({n}).prefetch", dataset, lambda batch: batch.numpy(),
                     lambda batch: int(batch.shape[0]))]  # fmt: skip


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


def shards(job: Job) -> list[Setting]:
    """From the files that all else is read from, and from the most shards."""
    found = []
    for files in (job.dataset.files, job.dataset.shardings[-1]):
        for setting in parse(job, files):
            setting.row = shards_of(files)
            found.append(setting)
    return found


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, *job.packed(*PACKED))


def parse_memory(job: Job) -> list[Setting]:
    import tensorflow as tf

    batches = [tf.constant(batch) for batch in job.batches()]
    return [
        Parsing(label + name, lambda call=call: map(call, batches), columns_of, count_of, row=label)
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


def epoch(job: Job) -> list[Setting]:
    """Records are shuffled before they are batched, and parsed by the batch."""
    import tensorflow as tf

    from benchmarks.tasks import SHUFFLE

    files, compression = job.sources(*PACKED)
    n, auto = job.dataset.batch, tf.data.AUTOTUNE
    parsers = kinds(job) if job.dataset.features or job.dataset.sequences else [("", None)]

    def setting(label: str, records: Any, name: str, parser: Any) -> Setting:
        batches = records.shuffle(SHUFFLE).batch(n)
        if parser is None:
            return Reading(f"{label}.shuffle.batch({n}).prefetch", batches.prefetch(auto), lambda batch: batch.numpy(),
                           lambda batch: int(batch.shape[0]), order="shuffled")  # fmt: skip
        return Parsing(f"{label}.shuffle.batch({n}).map(parse, AUTOTUNE).prefetch{name}",
                       batches.map(parser, auto).prefetch(auto), columns_of, count_of, order="shuffled")  # fmt: skip

    def read(names: Any, parallel: int | None = None) -> Any:
        return tf.data.TFRecordDataset(names, compression, 8 << 20, num_parallel_reads=parallel)

    interleaved = tf.data.Dataset.from_tensor_slices(files).interleave(
        read, cycle_length=2, block_length=16, num_parallel_calls=auto, deterministic=False
    )
    sources = {"TFRecordDataset": read(files), "num_parallel_reads=2": read(files, 2), "interleave(2)": interleaved}
    return [setting(label, records, name, parser) for name, parser in parsers for label, records in sources.items()]


def map_single(job: Job) -> list[Setting]:
    import tensorflow as tf

    from benchmarks.columns import fixed

    context, sequences = features_of(job)
    if sequences:
        raise CannotError("not measured: SequenceExamples")
    auto = tf.data.AUTOTUNE
    records = tf.data.TFRecordDataset(job.dataset.files, "", 8 << 20)

    def column(value: Any) -> Any:
        dense = value.values if hasattr(value, "dense_shape") else value
        return fixed([dense.numpy() if hasattr(dense, "numpy") else dense])

    def columns(item: Any) -> Any:
        return {name: column(value) for name, value in item.items()}

    made = []
    for label, calls in (("", None), (", AUTOTUNE", auto)):
        data = records.map(lambda one: tf.io.parse_single_example(one, context), calls).prefetch(auto)
        label = f"map(parse_single_example{label}).prefetch"
        made.append(Parsing(label, data, columns, lambda _: 1))
        # Of a SparseTensor, as_numpy_iterator makes an array by asking it for item after item, without end.
        if all(isinstance(spec, tf.TensorSpec) for spec in data.element_spec.values()):
            made.append(Parsing(f"{label}.as_numpy_iterator", data.as_numpy_iterator, columns, lambda _: 1))
    return made


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


def write_columns(job: Job) -> list[Setting]:
    """A protobuf of each row, made in Python, as there is no other way: by constructors, as its tutorial has it
    (https://www.tensorflow.org/tutorials/load_data/tfrecord), or by filling in the lists of an empty one, which is
    faster; from rows of NumPy arrays, or of lists."""
    import numpy as np
    import tensorflow as tf

    from benchmarks.columns import lists_of

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")
    train = tf.train
    kinds = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}
    fields = {name: kinds[dtype] for name, (_, dtype, _) in job.dataset.features.items()}
    lists = {"int64_list": train.Int64List, "float_list": train.FloatList, "bytes_list": train.BytesList}

    parts = job.columns()

    def arrays(column: Any) -> Any:
        if isinstance(column.values, list):
            return lists_of(column)
        return np.split(column.values, np.cumsum(column.lengths)[:-1])

    def constructed(names: list[str], row: Any) -> Any:
        features = {
            name: train.Feature(**{fields[name]: lists[fields[name]](value=values)})
            for name, values in zip(names, row, strict=True)
        }
        return train.Example(features=train.Features(feature=features))

    def filled(names: list[str], row: Any) -> Any:
        example = train.Example()
        features = example.features.feature
        for name, values in zip(names, row, strict=True):
            getattr(features[name], fields[name]).value.extend(values)
        return example

    def setting(row: str, make: Any, label: str, cut: Any) -> Setting:
        def put(path: str, columns: Any) -> None:
            names = list(columns)
            with tf.io.TFRecordWriter(path) as writer:
                for values in zip(*(cut(columns[name]) for name in names), strict=True):
                    writer.write(make(names, values).SerializeToString())

        return Writing(label, job, put, parts, row=row)

    return [
        setting(row, make, label, cut)
        for row, make in (("Example(features=…)", constructed), ("Example.features.feature[…]", filled))
        for label, cut in (("rows of lists", lists_of), ("rows of arrays", arrays))
    ]


def write_gzip(job: Job) -> list[Setting]:
    import tensorflow as tf

    loaded = job.loaded()

    def setting(row: str, level: int | None) -> Setting:
        options = tf.io.TFRecordOptions("GZIP", compression_level=level)

        def put(path: str, records: list[bytes]) -> None:
            with tf.io.TFRecordWriter(path, options) as writer:
                for record in records:
                    writer.write(record)

        return Writing("write(bytes)", job, put, loaded, row=row, suffix=".gz")

    if job.task == "write-gzip":
        return [setting("", None)]
    return [setting("level 1", 1), setting("default level", None)]


def importing(job: Job) -> list[Setting]:
    return [Importing("tensorflow", "tensorflow_cpu")]


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
        "shards": shards,
        "parse-memory": parse_memory,
        "parse-single": parse_single,
        "epoch": epoch,
        "map-single": map_single,
        "loop": loop,
        "memory": memory,
        "write": write,
        "write-columns": write_columns,
        "write-gzip": write_gzip,
        "write-gzip-1": write_gzip,
        "import": importing,
    },
    environment={"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""},
)
