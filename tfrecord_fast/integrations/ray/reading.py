"""TFRecord files as a Ray dataset, whose tasks read byte ranges of files."""

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
from ...files.naming.keywords import respelled
from ...files.naming.numbers import at_least
from ...files.reading.tables import TableSource
from ...files.reading.task_splits import PLAN_OPTIONS, Split, plan_splits
from ...files.stores.cache import settings_of
from ...typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack
from .tensors import as_tensors, tensor_schema

# Bytes of a task, if neither the user nor Ray chooses the number of tasks. A task costs Ray tens of milliseconds, in
# which a core reads 50 MB or more; but every core should have tasks, and none should work much longer than the others.
_LARGEST, _SMALLEST = 512 << 20, 16 << 20
_TASKS_PER_CORE = 4
_BATCH_BYTES = 32 << 20  # each batch costs Ray about a millisecond; it joins them to blocks
_LEAST_REQUESTED = 1 << 20  # bytes of a task, if Ray chooses the number of tasks
_EVERYTHING = 1 << 62
_REFUSED = {  # reader options without a meaning here, and why
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
    """Return files of Examples or SequenceExamples as a dataset with one column per feature.

    Args:
      paths: paths, URLs, patterns, folders, or lists of them. All workers must reach them.
      features, columns, infer_records: as for `tfrecord_fast.read_table`; the driver infers once for all tasks.
      shuffle: "files": the order of the tasks is drawn by `seed`; without a seed, each dataset has another order. See
        also `shuffle_buffer`, which shuffles within a task.
      split_bytes: the approximate number of bytes that a task reads. None: four tasks, of 16 to 512 MiB, for each core
        of the cluster or, if Ray has not been started, of this machine.
      override_num_blocks, concurrency: as for Ray's own readers; `override_num_blocks` is the number of tasks.
      ray_remote_args: arguments of `ray.remote` for the tasks that read, such as `num_cpus`, `memory`, `resources`.
      reader_options: those of ShardReader: `compression`, `verify_crc`, `on_corrupt`, `storage_options`,
        `shuffle_buffer`, `num_threads` (by default one per task) and others.

    Returns:
      A ray.data.Dataset. Its types are those of `read_table`; FixedLenFeatures of a shape, if `features` has them, are
      Ray's tensors. Uncompressed files are divided among tasks at records; one task reads a compressed file.

    Raises:
      FileNotFoundError, OSError, errors.InvalidArgumentError: here; or when the dataset runs, inside Ray's error, with
        the file's name. OSError (ESTALE): a file has changed since.
      TypeError: an option that Ray replaces, such as `shard`.
    """
    if shuffle not in (None, "files"):
        raise ValueError(f'shuffle must be None or "files", got {shuffle!r}')
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
        # Otherwise Ray requests 200 blocks or more, and cuts the output of tasks to get them.
        override_num_blocks = max(1, source.number_of_tasks())
    named, unnamed = _by_name(ray_remote_args or {})
    if unnamed:
        named["ray_remote_args"] = unnamed
    dataset: ray.data.Dataset = ray.data.read_datasource(
        source, override_num_blocks=override_num_blocks, concurrency=concurrency, **named
    )
    return dataset


def _by_name(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide arguments into those of `read_datasource`, which depend on the version of Ray, and the others."""
    names = inspect.signature(ray.data.read_datasource).parameters.keys() - {"datasource"}
    named = {name: value for name, value in arguments.items() if name in names}
    return named, {name: value for name, value in arguments.items() if name not in names}


class TFRecordDatasource(Datasource):
    """The Datasource of `read_tfrecords`.

    Args:
      paths, features, columns, infer_records, split_bytes, reader_options: as for `read_tfrecords`.
      order_seed: draws the order of the tasks; None: the order of the files.
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
            raise ValueError("deterministic=False is not supported: a task that runs again must read the same rows")
        self._order_seed = order_seed
        self._split_bytes = None if split_bytes is None else at_least(1, "split_bytes", split_bytes)
        self._settings = settings_of(reader_options)
        self._options = {"num_threads": 1, **respelled(reader_options)}
        if self._options.get("shuffle_buffer") and self._options.get("seed") is None:
            # If a worker is lost, Ray runs its task again, and takes only the missing blocks from it.
            self._options["seed"] = random.getrandbits(63)
        self._whole = plan_splits(paths, split_bytes=_EVERYTHING, settings=self._settings, on_corrupt="keep")
        self._files = [file for split in self._whole for file in split.parts]
        self._stored_bytes = sum(file.part_bytes for file in self._files)
        self._planned: tuple[int, list[Split]] | None = None
        self._default_splits: list[Split] = []
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
        self._schema = tensor_schema(source.schema, _tensor_columns(features, source.schema))

    def get_name(self) -> str:
        return "TFRecord"

    def estimate_inmemory_data_size(self) -> int:
        """Estimate the bytes of the uncompressed records."""
        return sum(split.bytes for split in self._whole)

    def number_of_tasks(self) -> int:
        """Return the number of tasks to use if Ray doesn't choose it."""
        resources = ray.cluster_resources() if ray.is_initialized() else {}  # type: ignore[no-untyped-call]
        cores = int(resources.get("CPU", 0))
        share = self._stored_bytes // (_TASKS_PER_CORE * (cores or available_cpus()))
        self._default_splits = self._splits(min(max(share, _SMALLEST), _LARGEST))
        return len(self._default_splits)

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: object | None = None
    ) -> list[ReadTask]:
        """Return approximately `parallelism` tasks."""
        share = min(max(-(-self._stored_bytes // max(parallelism, 1)), _LEAST_REQUESTED), _LARGEST)
        splits = self._default_splits if len(self._default_splits) == parallelism else self._splits(share)
        if self._order_seed is not None:
            splits = random.Random(self._order_seed).sample(splits, len(splits))
        return [self._task(split, per_task_row_limit) for split in splits]

    def _splits(self, share: int) -> list[Split]:
        """Divide the files into splits of about `share` bytes, or of the user's `split_bytes`."""
        share = self._split_bytes or share
        if self._planned is None or self._planned[0] != share:
            options = {name: self._options[name] for name in PLAN_OPTIONS & self._options.keys()}
            self._planned = share, plan_splits(self._files, split_bytes=share, settings=self._settings, **options)
        return self._planned[1]

    def _task(self, split: Split, row_limit: int | None) -> ReadTask:
        rows = split.records if row_limit is None or split.records is None else min(split.records, row_limit)
        metadata = BlockMetadata(
            num_rows=rows,
            size_bytes=split.bytes,
            input_files=tuple(map(str, split.parts)),
            exec_stats=None,
        )
        read = _read_function(self._source.over(list(split.parts)), self._schema, row_limit)
        return ReadTask(read, metadata, schema=self._schema, per_task_row_limit=row_limit)


def _read_function(
    source: TableSource, schema: pyarrow.Schema, row_limit: int | None
) -> Callable[[], Iterator[pyarrow.Table]]:
    def read_tfrecords() -> Iterator[pyarrow.Table]:
        left = row_limit
        for batch in source:
            if left is not None:
                batch = batch.slice(0, left)
                left -= batch.num_rows
            yield as_tensors(batch, schema)
            if left == 0:
                return

    return read_tfrecords


def _tensor_columns(features: Any, schema: pyarrow.Schema) -> frozenset[str]:
    """Return the numeric columns that the user's features define as arrays of one shape, never missing."""
    if isinstance(features, str):
        return frozenset()
    context = features[0] if isinstance(features, (tuple, list)) else features
    shaped = {
        key.decode() if isinstance(key, bytes) else key
        for key, feature in (context or {}).items()
        if isinstance(feature, FixedLenFeature)
    }
    return frozenset(
        field.name
        for field in schema
        if field.name in shaped and pyarrow.types.is_fixed_size_list(field.type) and _is_numeric(field.type)
    )


def _is_numeric(arrow_type: pyarrow.DataType) -> bool:
    while pyarrow.types.is_fixed_size_list(arrow_type):
        arrow_type = arrow_type.value_type
    return bool(pyarrow.types.is_primitive(arrow_type))
