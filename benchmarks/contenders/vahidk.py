"""vahidk/tfrecord: pure Python on protobuf, as its README uses it (https://github.com/vahidk/tfrecord)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.contenders import CannotError, Contender, Importing, Job, Parsing, Reading, Setting, Writing, index_of

KINDS = {"int64": "int", "float32": "float", "string": "byte"}


def loop(job: Job, files: list[str] | None = None, compression: str | None = None) -> list[Setting]:
    from tfrecord import reader

    def records() -> Iterator[Any]:
        for file in files or job.dataset.files:
            yield from reader.tfrecord_iterator(file, compression_type=compression)

    return [Reading("tfrecord_iterator, one at a time", records, row="iterator")]


def loop_gzip(job: Job) -> list[Setting]:
    return loop(job, job.packed("GZIP")[0], "gzip")


def descriptions(job: Job) -> tuple[dict[str, str], dict[str, str] | None]:
    context = {name: KINDS[dtype] for name, (_, dtype, _) in job.dataset.features.items()}
    sequences = {name: KINDS[dtype] for name, (_, dtype, _) in job.dataset.sequences.items()}
    return context, sequences or None


def columns_of(job: Job) -> Any:
    """Makes columns of what the loader gives for a batch of records."""
    from benchmarks.columns import of_lists, step_name
    from benchmarks.reference import column_of_steps

    def columns(batch: list[Any]) -> Any:
        context = [one[0] if isinstance(one, tuple) else one for one in batch]
        found = {
            name: of_lists([[one[name]] if isinstance(one.get(name), bytes) else one.get(name, ()) for one in context],
                           dtype)
            for name, (_, dtype, _) in job.dataset.features.items()
        }
        for name, feature in job.dataset.sequences.items():
            found[step_name(name)] = column_of_steps([list(one[1][name]) for one in batch], feature)
        return found

    return columns


def of_tensors(batch: dict[str, Any]) -> Any:
    """Of what PyTorch's default collation makes of it: a tensor a feature, or a list of bytes."""
    from benchmarks.columns import fixed

    return {name: fixed(value if isinstance(value, list) else value.numpy()) for name, value in batch.items()}


def parse(job: Job, files: list[str] | None = None, compression: str | None = None) -> list[Setting]:
    from tfrecord import reader

    files = files or job.dataset.files
    context, sequences = descriptions(job)
    columns = columns_of(job)

    def records(description: dict[str, str] | None) -> Iterator[Any]:
        for file in files:
            yield from reader.tfrecord_loader(
                file, None, description, sequence_description=sequences, compression_type=compression
            )

    # What a description names has to be in every record.
    described = {"": context, "no description, ": None} if may_lack(job) else {"": context}
    made: list[Setting] = [
        Parsing(f"tfrecord_loader, {label}one at a time", lambda given=given: records(given),
                lambda one: columns([one]), lambda _: 1, "loader")
        for label, given in described.items()
    ]  # fmt: skip
    return made + (loaders(job, columns) if files is job.dataset.files else [])


def may_lack(job: Job) -> bool:
    """Whether there may be records without one of the features."""
    return any(kind == "varlen" for kind, _, _ in job.dataset.features.values())


def loaders(job: Job, columns: Any) -> list[Setting]:
    """With PyTorch, where it is installed: workers share a file by its index. Without workers an index would let the
    reading begin in the middle."""
    try:
        from tfrecord.torch.dataset import TFRecordDataset
        from torch.utils.data import ChainDataset, DataLoader
    except ImportError:
        return []
    context, sequences = descriptions(job)
    dense = not sequences and all(kind == "fixed" for kind, _, _ in job.dataset.features.values())
    numeric = all(dtype != "string" for _, dtype, _ in job.dataset.features.values())
    made: list[Setting] = []
    for workers in (0, 2):
        order = "file" if workers == 0 else "any"
        indexes = [index_of(file, job.scratch) if workers else None for file in job.dataset.files]
        chain = ChainDataset([
            TFRecordDataset(file, index, context, sequence_description=sequences)
            for file, index in zip(job.dataset.files, indexes, strict=True)
        ])  # fmt: skip
        label = f"batch_size={job.dataset.batch}, num_workers={workers}"
        if dense and numeric:
            loader = DataLoader(chain, batch_size=job.dataset.batch, num_workers=workers)
            made.append(Parsing(label, loader, of_tensors, lambda batch: len(next(iter(batch.values()))),
                                "torch DataLoader", order))  # fmt: skip
        else:
            loader = DataLoader(chain, batch_size=job.dataset.batch, num_workers=workers, collate_fn=list)
            made.append(Parsing(f"{label}, collate_fn=list", loader, columns, len, "torch DataLoader", order))
    return made


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, job.packed("GZIP")[0], "gzip")


def epoch(job: Job) -> list[Setting]:
    from tfrecord import iterator_utils, reader

    from benchmarks.tasks import SHUFFLE

    job.needs_features()
    files, compression = job.sources("GZIP")
    context, sequences = descriptions(job)
    columns = columns_of(job)

    def shuffled(description: dict[str, str] | None) -> Iterator[Any]:
        records = (record for file in files
                   for record in reader.tfrecord_loader(file, None, description, sequence_description=sequences,
                                                        compression_type=compression.lower() or None))  # fmt: skip
        return iterator_utils.shuffle_iterator(records, SHUFFLE)

    described = {"": context, "no description, ": None} if may_lack(job) else {"": context}
    return [
        Parsing(f"tfrecord_loader, {label}shuffle_iterator({SHUFFLE}), one at a time",
                lambda given=given: shuffled(given), lambda one: columns([one]), lambda _: 1, "loader", "shuffled")
        for label, given in described.items()
    ]  # fmt: skip


def write(job: Job) -> list[Setting]:
    """Its writer takes values, not records: what it offers for records is the framing below it."""
    from tfrecord.writer import TFRecordWriter

    def put(path: str, records: list[bytes]) -> None:
        writer = TFRecordWriter(path)
        for record in records:
            writer.file.write(framed(record))
        writer.close()

    def framed(record: bytes) -> bytes:
        length = len(record).to_bytes(8, "little")
        return b"".join((length, TFRecordWriter.masked_crc(length), record, TFRecordWriter.masked_crc(record)))

    return [Writing("masked_crc of each, file.write", job, put, job.loaded())]


def write_columns(job: Job) -> list[Setting]:
    from tfrecord.writer import TFRecordWriter

    from benchmarks.columns import lists_of

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")
    kinds = [KINDS[dtype] for _, dtype, _ in job.dataset.features.values()]

    def put(path: str, columns: Any) -> None:
        writer = TFRecordWriter(path)
        for row in zip(*(lists_of(columns[name]) for name in job.dataset.features), strict=True):
            writer.write(dict(zip(columns, zip(row, kinds, strict=True), strict=True)))
        writer.close()

    return [Writing("TFRecordWriter.write(dict of lists)", job, put, job.columns())]


def importing(job: Job) -> list[Setting]:
    return [Importing("tfrecord", "tfrecord")]


CONTENDER = Contender(
    "vahidk",
    "vahidk/tfrecord",
    package="tfrecord",
    module="tfrecord",
    install="pip install tfrecord",
    leaves_out="checks no CRC",
    requirements=("tfrecord==1.14.6", "numpy"),
    tasks={
        "raw": loop,
        "raw-gzip": loop_gzip,
        "loop": loop,
        "parse": parse,
        "parse-gzip": parse_gzip,
        "epoch": epoch,
        "write": write,
        "write-columns": write_columns,
        "import": importing,
    },
)
