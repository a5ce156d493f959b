"""Files as datasets of Hugging Face's `datasets`; the way back is `encode_examples(dataset)`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ..base.optional import extra_named
from ..errors import InvalidArgumentError
from ..examples.infer import DEFAULT_MAX_RECORDS
from ..files.naming.file_part import FilePart
from ..files.naming.location import shown_name
from ..files.reading.tables import TableSource, read_table
from ..files.streams.core_files import File
from ..files.system.drafts import complete_file, local_name
from ..typing import Features, Files, Key, PathLike, ReaderOptions, SequenceFeatures, Unpack

with extra_named("huggingface"):
    import datasets
    import pyarrow
    from datasets.iterable_dataset import ArrowExamplesIterable
    from datasets.table import InMemoryTable

__all__ = ["from_tfrecord"]

# Options replaced by methods of a streamed dataset: shuffle, shard, repeat, batch.
_NOT_STREAMED = (
    "block_length",
    "cycle_length",
    "deterministic",
    "drop_remainder",
    "equal_shards",
    "global_shuffle",
    "num_epochs",
    "seed",
    "shard",
    "shard_by",
    "shuffle_buffer",
    "shuffle_files",
)


def from_tfrecord(
    files: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    streaming: bool = False,
    cache_file: PathLike | None = None,
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    **reader_options: Unpack[ReaderOptions],
) -> datasets.Dataset | datasets.IterableDataset:
    """Return files of Examples or SequenceExamples as a dataset.

    Args:
      files, features, columns, infer_records, reader_options: as for `tfrecord_fast.read_table`.
      streaming: return an IterableDataset, which reads during iteration. Its shards are the files, so nodes and workers
        divide the files among them. Use the dataset's methods (`shuffle`, `shard`, `repeat`) instead of options.
      cache_file: the path of an Arrow file that the table is written to; the Dataset is memory-mapped from there. None
        keeps the table in memory.

    Returns:
      A Dataset, or an IterableDataset. Strings are bytes: `cast_column("image", datasets.Image())` converts them to
      images, and `cast_column("text", datasets.Value("string"))` to text.

    Raises:
      Exception: as `read_table`.
      errors.InvalidArgumentError: an option or a file that can't be streamed.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.ExampleWriter(path) as writer:
    ...     writer.write({"id": [1, 2, 3], "tags": [["a"], [], ["b", "c"]]})
    >>> from_tfrecord(path)[2]
    {'id': 3, 'tags': [b'b', b'c']}
    """
    if streaming:
        options = reader_options if cache_file is None else {**reader_options, "cache_file": cache_file}
        refused = [name for name in (*_NOT_STREAMED, "cache_file") if name in options]
        if refused:
            raise InvalidArgumentError(f"streaming=True excludes {refused}: use the methods of the dataset")
        source = TableSource(files, features, columns=columns, infer_records=infer_records, **reader_options)
        info = datasets.DatasetInfo(features=datasets.Features.from_arrow_schema(source.schema))
        # Lists in these arguments are divided among workers.
        arguments = {"files": source.each_file(), "source": source}
        return datasets.IterableDataset(ArrowExamplesIterable(_tables, arguments), info=info)
    if cache_file is None:
        table = read_table(files, features, columns=columns, infer_records=infer_records, **reader_options)
        return datasets.Dataset(InMemoryTable(table))
    source = TableSource(files, features, columns=columns, infer_records=infer_records, **reader_options)
    path = local_name(cache_file)
    try:
        _save(source, path)
    except InvalidArgumentError:
        complete = source.inferred_from_all()
        if complete is None:
            raise
        _save(complete, path)
    return datasets.Dataset.from_file(path)


def _save(source: TableSource, path: str) -> None:
    with complete_file(path) as name, pyarrow.OSFile(name, "wb") as sink:
        with pyarrow.ipc.new_stream(sink, source.schema) as writer:
            for batch in source:
                writer.write_batch(batch)


def _tables(files: list[File], source: TableSource) -> Iterator[tuple[str, Any]]:
    for file in files:
        # Errors and logs may contain this name, so it must not have credentials.
        name = os.path.basename(str(file) if isinstance(file, FilePart) else os.fsdecode(shown_name(file)))
        for number, batch in enumerate(source.over([file])):
            yield f"{name}:{number}", pyarrow.Table.from_batches([batch])
