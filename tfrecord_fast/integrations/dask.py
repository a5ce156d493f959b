"""TFRecord files as a Dask dataframe, whose partitions are parts of files."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from typing import Any, Literal

import dask.dataframe
import pandas

from ..errors import InvalidArgumentError
from ..examples.infer import DEFAULT_MAX_RECORDS
from ..files.reading.byte_ranges import SPLIT_BYTES, Split, plan_splits
from ..files.reading.tables import TableSource
from ..files.stores.cache import store_settings
from ..typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack

__all__ = ["read_tfrecords"]

_OF_STORES = {"storage_options", "max_requests", "cache_dir"}
_OF_PLANS = {"compression_type", "max_record_bytes", "on_corrupt"}
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
    """Files of Examples or SequenceExamples as a dataframe with one column per feature.

    Args:
      paths: paths, URLs, patterns, folders, or lists of them. All workers must reach them.
      features, columns, infer_records: as for `tfrecord_fast.read_table`. Only the columns that are used are parsed.
      split_bytes: about how many bytes of files a partition has.
      reader_options: those of ShardReader that say how a file is read.

    Returns:
      A dask.dataframe.DataFrame, whose types are Arrow's, those of `read_table` (`pandas.ArrowDtype`): a column has the
      same in each partition, whether or not it lacks values there. Its index counts from 0 in each partition.
      Uncompressed files are divided at records.

    Raises:
      FileNotFoundError, OSError, errors.DataLossError, errors.InvalidArgumentError: here, or when it is computed.
      TypeError: an option that makes no sense here.
    """
    for name in sorted(_REFUSED & reader_options.keys()):
        raise TypeError(f"read_tfrecords has no {name}: Dask divides the files")
    if not reader_options.get("deterministic", True):
        raise ValueError("deterministic=False can't be read by tasks: one that runs again has to give the same")
    options: dict[str, Any] = {"num_threads": 1, **reader_options}
    if options.get("shuffle_buffer") and options.get("seed") is None:
        # Dask may read a partition twice, with other columns, and put their rows side by side.
        options["seed"] = random.getrandbits(63)
    settings = store_settings(**{name: options[name] for name in _OF_STORES & options.keys()})
    planned = {name: options[name] for name in _OF_PLANS & options.keys()}
    splits = plan_splits(paths, split_bytes=split_bytes, settings=settings, **planned)
    if not splits:
        raise InvalidArgumentError("there are no files, and no dataframe of Dask is without partitions")
    files = [part for split in splits for part in split.parts]
    source = TableSource(files, features, columns=columns, infer_records=infer_records, **options)
    source.check_options()
    empty = source.schema.empty_table().to_pandas(types_mapper=pandas.ArrowDtype)
    from_map: Any = dask.dataframe.from_map  # without types
    alone = source.over([])  # it goes to every task, and there may be very many files
    pickles = [pickle.dumps(split) for split in splits]  # of which Dask makes hashes quickly
    frame: dask.dataframe.DataFrame = from_map(_partition, pickles, source=alone, meta=empty, label="tfrecords")
    return frame


def _partition(pickled: bytes, source: TableSource, columns: list[str] | None = None) -> pandas.DataFrame:
    split: Split = pickle.loads(pickled)
    chosen = source if columns is None else source.select(columns)
    return chosen.over(list(split.parts)).reader().read_all().to_pandas(types_mapper=pandas.ArrowDtype)
