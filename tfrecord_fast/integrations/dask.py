"""TFRecord files as a Dask dataframe, whose partitions are byte ranges of files."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from typing import Any, Literal

from ..base.optional import extra_named
from ..errors import InvalidArgumentError
from ..examples.infer import DEFAULT_MAX_RECORDS
from ..files.naming.keywords import respelled
from ..files.reading.tables import TableSource
from ..files.reading.task_splits import PLAN_OPTIONS, SPLIT_BYTES, Split, plan_splits
from ..files.stores.cache import settings_of
from ..typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack

with extra_named("dask"):
    import dask.dataframe
    import pandas

__all__ = ["read_tfrecords"]

_REFUSED = {"drop_remainder", "shard", "shard_by", "equal_shards", "num_epochs", "global_shuffle", "shuffle_files"}


def read_tfrecords(
    paths: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    split_bytes: int = SPLIT_BYTES,
    **reader_options: Unpack[ReaderOptions],
) -> dask.dataframe.DataFrame:
    """Return files of Examples or SequenceExamples as a dataframe with one column per feature.

    Args:
      paths: paths, URLs, patterns, folders, or lists of them. All workers must reach them.
      features, columns, infer_records: as for `tfrecord_fast.read_table`. Columns that the computation
        does not use are not parsed.
      split_bytes: the approximate number of bytes of files in a partition.
      reader_options: those of ShardReader about reading a file.

    Returns:
      A dask.dataframe.DataFrame with the Arrow types of `read_table` (`pandas.ArrowDtype`). A column has the same type
      in each partition, even where it lacks values. The index counts from 0 in each partition. Uncompressed files are
      divided at records.

    Raises:
      FileNotFoundError, OSError, errors.DataLossError, errors.InvalidArgumentError: here, or when it is computed.
      TypeError: an option that Dask replaces, such as `shard`.
    """
    for name in sorted(_REFUSED & reader_options.keys()):
        raise TypeError(f"read_tfrecords has no {name}: Dask divides the files")
    if not reader_options.get("deterministic", True):
        raise ValueError("deterministic=False is not supported: a task that runs again must read the same rows")
    options: dict[str, Any] = {"num_threads": 1, **respelled(reader_options)}
    if options.get("shuffle_buffer") and options.get("seed") is None:
        # Dask may read a partition twice, with different columns, and join the rows by position.
        options["seed"] = random.getrandbits(63)
    plan_options = {name: options[name] for name in PLAN_OPTIONS & options.keys()}
    splits = plan_splits(paths, split_bytes=split_bytes, settings=settings_of(options), **plan_options)
    if not splits:
        raise InvalidArgumentError("there are no files, and a Dask dataframe needs at least one partition")
    files = [file_part for split in splits for file_part in split.parts]
    source = TableSource(files, features, columns=columns, infer_records=infer_records, **options)
    source.check_options()
    empty = source.schema.empty_table().to_pandas(types_mapper=pandas.ArrowDtype)
    from_map: Any = dask.dataframe.from_map  # without types
    fileless = source.over([])  # sent to every task, so the list of all files is left out
    pickles = [pickle.dumps(split) for split in splits]  # quick for Dask to hash
    frame: dask.dataframe.DataFrame = from_map(_partition, pickles, source=fileless, meta=empty, label="tfrecords")
    return frame


def _partition(pickled: bytes, source: TableSource, columns: list[str] | None = None) -> pandas.DataFrame:
    split: Split = pickle.loads(pickled)
    selected = source if columns is None else source.select(columns)
    return selected.over(list(split.parts)).reader().read_all().to_pandas(types_mapper=pandas.ArrowDtype)
