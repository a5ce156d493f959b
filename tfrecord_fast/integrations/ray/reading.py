"""TFRecord files as a Ray dataset, whose tasks read parts of files."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import pyarrow
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from ...base.threads import available_cpus
from ...examples.features import FixedLenFeature
from ...examples.infer import DEFAULT_MAX_RECORDS
from ...files.naming.numbers import at_least
from ...files.reading.byte_ranges import Split, plan_splits
from ...files.reading.tables import TableSource
from ...files.stores.cache import store_settings
from ...typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack
from .tensors import as_tensors, tensor_schema

__all__ = ["TFRecordDatasource", "read_tfrecords"]

# Bytes of a task where nobody says how many there are. Ray spends tens of milliseconds on a task, in which a core reads
# 50 MB and more; but all cores should have some, and none should be waited for.
_LARGEST, _SMALLEST = 512 << 20, 16 << 20
_TASKS_PER_CORE = 4
# Of records, in a batch: each costs Ray about a millisecond, and is only a part of a block.
_BATCH_BYTES = 32 << 20
_LEAST_ASKED_FOR = 1 << 20  # bytes of a task where Ray says how many it wants
_REFUSED = {  # options of readers that have no meaning where others divide the work, and why
    "shard": "Ray divides the files",
    "shard_by": "Ray divides the files",
    "equal_shards": "Dataset.split(equal=True) and streaming_split do that",
    "drop_remainder": "it would drop rows of each task",
    "num_epochs": "iterate again for another epoch",
    "global_shuffle": "Dataset.random_shuffle does that",
    "shuffle_files": 'shuffle="files" does that',
    "cycle_length": "tasks read side by side",
    "block_length": "tasks read side by side",
    "index_cache": "nothing is counted",
}


def read_tfrecords(
    paths: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    shuffle: Literal["files"] | None = None,
    split_bytes: int | None = None,
    override_num_blocks: int | None = None,
    concurrency: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
    **reader_options: Unpack[ReaderOptions],
) -> ray.data.Dataset:
    """Files of Examples or SequenceExamples as a dataset with one column per feature.

    Args:
      paths: paths, URLs, patterns, folders, or lists of them. All workers must reach them.
      features, columns, infer_records: as for `tfrecord_fast.read_table`; the driver infers, once for all.
      shuffle: "files": tasks come in an order that `seed` draws; without one, each dataset in another. See also
        `shuffle_buffer`, within a task.
      split_bytes: about how many bytes a task reads. None: four tasks for each core of the cluster, of 16 to 512 MiB;
        of this machine, if Ray has not been started.
      override_num_blocks, concurrency: as for Ray's own readers; the former is the number of tasks.
      ray_remote_args: arguments of `ray.remote` for the tasks that read, such as `num_cpus`, `memory`, `resources`.
      reader_options: those of ShardReader: `compression_type`, `verify_crc`, `on_corrupt`, `storage_options`,
        `shuffle_buffer`, `num_threads` (by default one per task) and others.

    Returns:
      A ray.data.Dataset. Its types are those of `read_table`, with FixedLenFeatures of a shape, if they are given, as
      Ray's tensors. Uncompressed files are divided among tasks at records; compressed ones are read by one task each.

    Raises:
      FileNotFoundError, OSError, errors.InvalidArgumentError: here; or when the dataset runs, inside Ray's error, with
        the file's name. A file that has changed since is an OSError (ESTALE).
      TypeError: an option that makes no sense here.
    """
    if shuffle not in (None, "files"):
        raise ValueError(f'shuffle is None or "files", got {shuffle!r}')
    seed = reader_options.get("seed")
    source = TFRecordDatasource(
        paths,
        features,
        columns=columns,
        infer_records=infer_records,
        order_seed=None if shuffle is None else (random.getrandbits(63) if seed is None else seed),
        split_bytes=split_bytes,
        **reader_options,
    )
    if override_num_blocks is None:
        # Ray would ask for 200 blocks or more, and cut what a task gives to have them.
        override_num_blocks = max(1, source.number_of_tasks())
    named, unnamed = _by_name(ray_remote_args or {})
    if unnamed:
        named["ray_remote_args"] = unnamed
    dataset: ray.data.Dataset = ray.data.read_datasource(
        source, override_num_blocks=override_num_blocks, concurrency=concurrency, **named
    )
    return dataset


def _by_name(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those that Ray's readers take by name, and the others. Which they are differs from version to version."""
    names = inspect.signature(ray.data.read_datasource).parameters.keys() - {"datasource"}
    named = {name: value for name, value in arguments.items() if name in names}
    return named, {name: value for name, value in arguments.items() if name not in names}


class TFRecordDatasource(Datasource):
    """What `read_tfrecords` gives to Ray.

    Args:
      paths, features, columns, infer_records, split_bytes, reader_options: as there.
      order_seed: draws the order of the tasks; None leaves it.
    """

    def __init__(
        self,
        paths: Files,
        features: Features | SequenceFeatures | Literal["infer"] = "infer",
        *,
        columns: Sequence[Key] | None = None,
        infer_records: int | None = DEFAULT_MAX_RECORDS,
        order_seed: int | None = None,
        split_bytes: int | None = None,
        **reader_options: Any,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        for name in sorted(_REFUSED.keys() & reader_options.keys()):
            raise TypeError(f"read_tfrecords has no {name}: {_REFUSED[name]}")
        if not reader_options.get("deterministic", True):
            raise ValueError("deterministic=False can't be read by tasks: one that runs again has to give the same")
        self._order_seed = order_seed
        self._split_bytes = None if split_bytes is None else at_least(1, "split_bytes", split_bytes)
        self._settings = store_settings(**{name: reader_options[name] for name in _OF_STORES & reader_options.keys()})
        self._options = {"num_threads": 1, **reader_options}
        if self._options.get("shuffle_buffer") and self._options.get("seed") is None:
            # Ray runs a task again if its worker is lost, and takes from it only the blocks that it lacks.
            self._options["seed"] = random.getrandbits(63)
        self._whole = plan_splits(paths, split_bytes=_EVERYTHING, settings=self._settings, on_corrupt="keep")
        self._files = [part for split in self._whole for part in split.parts]
        self._stored = sum(part.part_bytes for part in self._files)
        self._planned: tuple[int, list[Split]] | None = None
        self._chosen: list[Split] = []
        source = TableSource(
            self._files,
            features,
            columns=columns,
            infer_records=infer_records,
            batch_bytes=_BATCH_BYTES,
            **self._options,
        )
        source.check_options()
        self._source = source
        self._schema = tensor_schema(source.schema, _tensors_of(features, source.schema))

    def get_name(self) -> str:
        return "TFRecord"

    def estimate_inmemory_data_size(self) -> int:
        """Bytes, roughly: as many as the records have when they are not compressed."""
        return sum(split.bytes for split in self._whole)

    def number_of_tasks(self) -> int:
        """How many there are if Ray does not ask for a number."""
        resources = ray.cluster_resources() if ray.is_initialized() else {}  # type: ignore[no-untyped-call]
        cores = int(resources.get("CPU", 0))
        share = self._stored // (_TASKS_PER_CORE * (cores or available_cpus()))
        self._chosen = self._splits(min(max(share, _SMALLEST), _LARGEST))
        return len(self._chosen)

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: object | None = None
    ) -> list[ReadTask]:
        """About as many tasks as Ray asks for."""
        share = min(max(-(-self._stored // max(parallelism, 1)), _LEAST_ASKED_FOR), _LARGEST)
        splits = self._chosen if len(self._chosen) == parallelism else self._splits(share)
        if self._order_seed is not None:
            splits = random.Random(self._order_seed).sample(splits, len(splits))
        return [self._task(split, per_task_row_limit) for split in splits]

    def _splits(self, share: int) -> list[Split]:
        """Of about that many bytes, unless the user said how many."""
        share = self._split_bytes or share
        if self._planned is None or self._planned[0] != share:
            chosen = {name: self._options[name] for name in _OF_PLANS & self._options.keys()}
            self._planned = share, plan_splits(self._files, split_bytes=share, settings=self._settings, **chosen)
        return self._planned[1]

    def _task(self, split: Split, most: int | None) -> ReadTask:
        rows = split.records if most is None or split.records is None else min(split.records, most)
        metadata = BlockMetadata(
            num_rows=rows,
            size_bytes=split.bytes,
            input_files=tuple(str(part) for part in split.parts),
            exec_stats=None,
        )
        read = _reading(self._source.over(list(split.parts)), self._schema, most)
        return ReadTask(read, metadata, schema=self._schema, per_task_row_limit=most)


_EVERYTHING = 1 << 62
_OF_STORES = {"storage_options", "max_requests", "cache_dir"}
_OF_PLANS = {"compression_type", "max_record_bytes", "on_corrupt"}


def _reading(source: TableSource, schema: pyarrow.Schema, most: int | None) -> Callable[[], Iterator[pyarrow.Table]]:
    """What a task does."""

    def read_tfrecords() -> Iterator[pyarrow.Table]:
        left = most
        for batch in source:
            if left is not None:
                batch = batch.slice(0, left)
                left -= batch.num_rows
            yield as_tensors(batch, schema)
            if left == 0:
                return

    return read_tfrecords


def _tensors_of(features: Any, schema: pyarrow.Schema) -> frozenset[str]:
    """The columns that are arrays of one shape in every row: given as such, without the chance to be missing."""
    if isinstance(features, str):
        return frozenset()
    parts = features if isinstance(features, (tuple, list)) else (features,)
    shaped = {
        key.decode() if isinstance(key, bytes) else key
        for part in parts[:1]
        for key, feature in (part or {}).items()
        if isinstance(feature, FixedLenFeature)
    }
    return frozenset(
        field.name
        for field in schema
        if field.name in shaped and pyarrow.types.is_fixed_size_list(field.type) and _is_numeric(field.type)
    )


def _is_numeric(kind: pyarrow.DataType) -> bool:
    while pyarrow.types.is_fixed_size_list(kind):
        kind = kind.value_type
    return bool(pyarrow.types.is_primitive(kind))
