"""vahidk/tfrecord: pure Python on protobuf, as its README uses it (https://github.com/vahidk/tfrecord)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.contenders import CannotError, Contender, Importing, Job, Reading, Setting, Writing, index_of
from benchmarks.contenders.kit.feeding import Feeding, buffer_of, needs
from benchmarks.contenders.kit.feeding import of_tensors as fed
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.data.columns import Batch, fixed, lists_of, of_lists, step_name
from benchmarks.data.reference import column_of_steps, columns_by_file
from benchmarks.data.tasks import SHUFFLE

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


def columns_of(job: Job) -> Callable[[list[Any]], Batch]:
    """A function that makes columns of what the loader returns for a batch of records."""

    def columns(batch: list[Any]) -> Batch:
        context = [one[0] if isinstance(one, tuple) else one for one in batch]
        found = {
            name: of_lists(
                [[one[name]] if isinstance(one.get(name), bytes) else one.get(name, ()) for one in context], dtype
            )
            for name, (_, dtype, _) in job.dataset.features.items()
        }
        for name, feature in job.dataset.sequences.items():
            found[step_name(name)] = column_of_steps([list(one[1][name]) for one in batch], feature)
        return found

    return columns


def of_tensors(batch: dict[str, Any]) -> Batch:
    """The columns of what PyTorch's default collation makes of a batch: one tensor, or list of bytes, per feature."""
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

    # Every record must have the features that a description names.
    described = {"": context, "no description, ": None} if may_lack(job) else {"": context}
    settings: list[Setting] = [
        Parsing(
            f"tfrecord_loader, {label}one at a time",
            partial(records, description),
            lambda record: columns([record]),
            lambda _: 1,
            "loader",
        )
        for label, description in described.items()
    ]
    return settings + (loaders(job, columns) if files is job.dataset.files else [])


def may_lack(job: Job) -> bool:
    """Return True if records may lack a feature."""
    return any(kind == "varlen" for kind, _, _ in job.dataset.features.values())


def loaders(job: Job, columns: Callable[[list[Any]], Batch]) -> list[Setting]:
    """With PyTorch, if it is installed. Workers share a file by its index; without workers an index would make reading
    begin in the middle."""
    try:
        from tfrecord.torch.dataset import TFRecordDataset
        from torch.utils.data import ChainDataset, DataLoader
    except ImportError:
        return []
    context, sequences = descriptions(job)
    dense = not sequences and all(kind == "fixed" for kind, _, _ in job.dataset.features.values())
    numeric = all(dtype != "string" for _, dtype, _ in job.dataset.features.values())
    settings: list[Setting] = []
    for workers in (0, 2):
        order = "file" if workers == 0 else "any"
        indexes = [index_of(file, job.scratch) if workers else None for file in job.dataset.files]
        chain = ChainDataset(
            [
                TFRecordDataset(file, index, context, sequence_description=sequences)
                for file, index in zip(job.dataset.files, indexes, strict=True)
            ]
        )
        label = f"batch_size={job.dataset.batch}, num_workers={workers}"
        if dense and numeric:
            loader = DataLoader(chain, batch_size=job.dataset.batch, num_workers=workers)
            settings.append(
                Parsing(
                    label, loader, of_tensors, lambda batch: len(next(iter(batch.values()))), "torch DataLoader", order
                )
            )
        else:
            loader = DataLoader(chain, batch_size=job.dataset.batch, num_workers=workers, collate_fn=list)
            settings.append(Parsing(f"{label}, collate_fn=list", loader, columns, len, "torch DataLoader", order))
    return settings


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, job.packed("GZIP")[0], "gzip")


def epoch(job: Job) -> list[Setting]:
    from tfrecord import iterator_utils, reader

    job.needs_features()
    files, compression = job.sources("GZIP")
    context, sequences = descriptions(job)
    columns = columns_of(job)

    def shuffled(description: dict[str, str] | None) -> Iterator[Any]:
        records = (
            record
            for file in files
            for record in reader.tfrecord_loader(
                file, None, description, sequence_description=sequences, compression_type=compression.lower() or None
            )
        )
        shuffling: Iterator[Any] = iterator_utils.shuffle_iterator(records, SHUFFLE)
        return shuffling

    described = {"": context, "no description, ": None} if may_lack(job) else {"": context}
    return [
        Parsing(
            f"tfrecord_loader, {label}shuffle_iterator({SHUFFLE}), one at a time",
            partial(shuffled, description),
            lambda record: columns([record]),
            lambda _: 1,
            "loader",
            "shuffled",
        )
        for label, description in described.items()
    ]


def train_feed(job: Job) -> list[Setting]:
    """Without workers an index would make reading begin in the middle; workers share a file by it."""
    needs("torch")
    from tfrecord.torch.dataset import TFRecordDataset
    from torch.utils.data import ChainDataset, DataLoader

    job.needs_features()
    (context, sequences), buffer = descriptions(job), buffer_of(job)
    if sequences:
        raise CannotError("not measured: SequenceExamples")
    settings: list[Setting] = []
    for workers in (0, 2):
        indexes = [index_of(file, job.scratch) if workers else None for file in job.dataset.files]
        datasets = [
            TFRecordDataset(file, index, context, shuffle_queue_size=buffer)
            for file, index in zip(job.dataset.files, indexes, strict=True)
        ]
        loader: Any = DataLoader(
            ChainDataset(datasets),
            batch_size=job.dataset.batch,
            num_workers=workers,
            persistent_workers=workers > 0,
        )
        row = f"DataLoader, {workers} workers" if workers else "DataLoader"
        settings.append(Feeding(f"TFRecordDataset, shuffle_queue_size={buffer}", loader, fed, row))
    return settings


def write(job: Job) -> list[Setting]:
    """Its writer takes values, not records; what it has for records is the framing below."""
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

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")
    kinds = [KINDS[dtype] for _, dtype, _ in job.dataset.features.values()]

    def put(path: str, columns: Any) -> None:
        writer = TFRecordWriter(path)
        for row in zip(*(lists_of(columns[name]) for name in job.dataset.features), strict=True):
            writer.write(dict(zip(columns, zip(row, kinds, strict=True), strict=True)))
        writer.close()

    return [Writing("TFRecordWriter.write(dict of lists)", job, put, columns_by_file(job.dataset))]


def importing(job: Job) -> list[Setting]:
    return [Importing("tfrecord", "tfrecord")]


CONTENDER = Contender(
    "vahidk",
    "vahidk/tfrecord",
    package="tfrecord",
    module="tfrecord",
    install="pip install tfrecord",
    leaves_out="checks no CRC",
    checks=False,
    requirements=("tfrecord==1.14.6", "numpy", "torch==2.13.0"),
    tasks={
        "raw": loop,
        "raw-gzip": loop_gzip,
        "loop": loop,
        "parse": parse,
        "parse-gzip": parse_gzip,
        "epoch": epoch,
        "train-feed": train_feed,
        "write": write,
        "write-columns": write_columns,
        "import": importing,
    },
)
