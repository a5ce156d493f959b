"""Files as Arrow tables: all at once, batch by batch, or as a source that Arrow's consumers read repeatedly."""

from __future__ import annotations

import contextlib
import copy
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ... import _core
from ...base.optional import optional
from ...errors import InvalidArgumentError
from ...examples.features import copied, names_of, select_features
from ...examples.infer import DEFAULT_MAX_RECORDS, features_of, lists_of
from ...examples.parsing.table_plan import TablePlan
from ...typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack
from ...values.columns.arrow import TableStrings
from ...values.columns.arrow_arrays import ArrowArrays
from ..naming.compression import check_compression_type
from ..naming.foreign_formats import explaining
from ..naming.keywords import respelled
from ..naming.numbers import as_flag, as_seed, at_least, max_record_size
from ..stores.cache import settings_of
from ..streams.core_files import CoreFile, File, existing, flatten, resolved, stream_files
from ..streams.fetching import open_stream
from .shard_division import Shard
from .shard_reader import ShardReader

if TYPE_CHECKING:
    from pyarrow import RecordBatchReader, Table
else:
    RecordBatchReader = Table = Any  # pyarrow may be missing; hints can still be evaluated

_BATCH = 1024  # records of a batch, if their size is unknown
_LEAST_RECORDS = 16  # records of a batch
_LEAST_BYTES = 512  # bytes of a record, for the size of batches
_BATCH_BYTES = 8 << 20  # bytes of records in a batch
_SAMPLED = 64  # maximum number of files for a sample, and number of records to estimate their size
_SAMPLE_OPTIONS = ("verify_crc", "max_record_bytes", "on_corrupt")


class TableSource:
    """Files as one table. Each iteration reads them again and yields pyarrow.RecordBatches of one schema.

    The arguments are those of `read_batches`, and two more. `nullable`: a FixedLenFeature without a default may be
    absent, and is then null; None: only if the features are inferred. `batch_bytes`: approximate size of the records in
    a batch, without `batch_size`. Libraries that accept Arrow streams accept it as a table (`__arrow_c_stream__`).

    Attributes:
      schema: the pyarrow.Schema.
    """

    def __init__(
        self,
        files: Files,
        features: Features | SequenceFeatures | Literal["infer"] = "infer",
        *,
        columns: Sequence[Key] | None = None,
        strings: TableStrings = "plain",
        infer_records: int | None = DEFAULT_MAX_RECORDS,
        nullable: bool | None = None,
        batch_bytes: int = _BATCH_BYTES,
        **reader_options: Any,
    ) -> None:
        self._nullable = nullable
        self._batch_bytes = batch_bytes
        self._arrays = ArrowArrays(strings)
        self._settings = settings_of(reader_options)
        self._files = existing(files, as_flag("allow_empty", reader_options.get("allow_empty", False)), self._settings)
        self._options = {**respelled(reader_options), "allow_empty": True}
        if reader_options.get("seed") is None and _is_shuffled(reader_options):  # each pass is over the same table
            self._options["seed"] = as_seed(None)
        _check_options(reader_options)
        if isinstance(features, str) and features != "infer":
            raise InvalidArgumentError(f'features must be a dict, a pair of dicts or "infer", got {features!r}')
        if not isinstance(features, str | Mapping) and not (isinstance(features, tuple | list) and len(features) == 2):
            raise TypeError(f'features must be a dict, a pair of dicts or "infer", got {type(features).__name__}')
        if not isinstance(features, str) and not any(features if isinstance(features, tuple | list) else (features,)):
            raise InvalidArgumentError(f"features must not be empty, got {features!r}: a table has columns")
        if infer_records is not None:
            infer_records = at_least(1, "infer_records", infer_records)
        self._columns = columns = names_of(columns)
        self._is_inferred = isinstance(features, str)
        self._scanned, self._scanned_all = 0, False
        self._batch_size: int | None = reader_options.get("batch_size")
        self._features: Any = self._infer(infer_records) if isinstance(features, str) else copied(features)
        if self._is_inferred and infer_records is not None and self._lacks(columns):
            self._features = self._infer(None)
        if self._batch_size is None and not self._is_inferred:
            self._batch_size = self._fitting_batch_size()
        self._plan = self._make_plan(columns)
        self.schema = self._plan.schema

    def _lacks(self, columns: Sequence[Key] | None) -> bool:
        if columns is None or isinstance(columns, str | bytes):
            return False
        dicts = self._features if isinstance(self._features, tuple) else (self._features,)
        return any(all(key not in features for features in dicts) for key in columns)

    def _make_plan(self, columns: Sequence[Key] | None) -> TablePlan:
        features = self._features
        if columns is not None:
            is_pair = isinstance(features, tuple | list)
            context, lists = (features[0] or {}, features[1]) if is_pair else (features, None)
            chosen = select_features(context, columns, lists)
            features = chosen if is_pair else chosen[0]
        why = ""
        nullable = self._is_inferred if self._nullable is None else self._nullable
        if self._is_inferred and columns is None:
            why = (
                f"none of the {self._scanned} records that the features were inferred from has it; pass "
                "infer_records=None to infer from all records, or columns= or features= to choose"
            )
        return TablePlan(features, self._arrays, nullable=nullable, only_these=why, order=columns)

    def select(self, columns: Sequence[Key]) -> TableSource:
        """Return a table with these columns only, in this order."""
        other = copy.copy(self)
        other._columns = columns = names_of(columns)
        other._plan = self._make_plan(columns)
        other.schema = other._plan.schema
        return other

    def inferred_from_all(self) -> TableSource | None:
        """Return a table with features inferred from all records, or None if that changes nothing."""
        if not self._is_inferred or self._scanned_all:
            return None
        other = copy.copy(self)
        other._features = other._infer(None)
        other._plan = other._make_plan(self._columns)
        other.schema = other._plan.schema
        return other

    @property
    def features(self) -> Any:
        return self._features

    def each_file(self) -> list[File]:
        """Return the files that patterns match, for `over`. URLs are complete, including credentials."""
        return [match for file in self._files for match in resolved(file, self._settings)]

    def check_options(self) -> None:
        """Validate options up front, for callers that read in other processes."""
        if len(self.schema):
            ShardReader([], cast("Any", self._plan), **{**self._options, "batch_size": self._batch_size or _BATCH})

    def over(self, files: Files) -> TableSource:
        other = copy.copy(self)
        other._files = flatten(files)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_plan"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._plan = self._make_plan(self._columns)

    def __iter__(self) -> Iterator[Any]:
        if not len(self.schema) and self._is_inferred:
            return iter(())
        plan: Any = self._plan
        options = {**self._options, "batch_size": self._batch_size or _BATCH}
        return iter(ShardReader(self._files, plan, **options))

    def parse(self, records: _core.RecordBatch) -> Any:
        if not len(self.schema) and self._is_inferred:
            raise InvalidArgumentError("features were inferred from files without records: pass features")
        plan = self._plan
        return plan.finish(plan.core.parse(records, 1), records if plan.checks_rows else None)

    def reader(self) -> Any:
        """Return a pyarrow.RecordBatchReader, which reads the files once."""
        pyarrow = optional("pyarrow", "Arrow tables need pyarrow")
        return pyarrow.RecordBatchReader.from_batches(self.schema, _LazyBatches(self))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    # ---- Sampling records ----

    def _infer(self, limit: int | None) -> Any:
        scanner, size = _core.FeatureSurvey(), 0
        with explaining():
            for batch in self._records(limit):
                scanner.add(batch)
                size += batch.nbytes
        if scanner.records:
            self._batch_size = self._batch_size or self._fitting(size, scanner.records)
        context = features_of(scanner, optional_scalars=True)
        features = (context, lists_of(scanner)) if scanner.has_lists else context
        if scanner.records and not context and not lists_of(scanner):
            if limit is not None:
                return self._infer(None)
            raise InvalidArgumentError(f"no columns: none of the {scanner.records} records has a feature with values")
        self._scanned, self._scanned_all = scanner.records, limit is None
        return features

    def _records(self, limit: int | None) -> Iterator[Any]:
        """Yield batches of all records, or of `limit` records from many files."""
        files: Any = stream_files(self._files, self._settings)
        options = {**self._sampling(), "batch_size": _BATCH}
        if limit is None:
            yield from open_stream(files, self._settings, **options).batches()
            return
        if len(files) > _SAMPLED:
            files = [files[i * len(files) // _SAMPLED] for i in range(_SAMPLED)]
        slots = max(len(files), 1)
        options |= {"cycle_length": slots, "block_length": max(-(-limit // slots), 1)}
        left = limit
        for batch in open_stream(files, self._settings, **options).batches():
            yield batch[:left]
            left -= len(batch)
            if left <= 0:
                return

    def _sampling(self) -> dict[str, Any]:
        options = {name: value for name, value in self._options.items() if name in _SAMPLE_OPTIONS}
        options["compression_type"] = check_compression_type(self._options.get("compression"))
        options["max_record_bytes"] = max_record_size(options.get("max_record_bytes"))
        return {**options, "prefetch_bytes": _BATCH_BYTES}

    def _fitting_batch_size(self) -> int:
        """Choose a batch size by the first records of a regular file or an object; pipes must not be sampled."""
        first: Any = stream_files(self._files, self._settings)[:1]
        if not first or not _is_regular(first[0]):
            return _BATCH
        stream = open_stream(first, self._settings, **self._sampling(), batch_size=_SAMPLED)
        try:
            batch = next(stream.batches(), None)
        except FileNotFoundError:  # raised when the file is read, as for a local file
            return _BATCH
        return _BATCH if batch is None else self._fitting(batch.nbytes, len(batch))

    def _fitting(self, size: int, records: int) -> int:
        """Return a batch size for records of which `records` have `size` bytes."""
        records = min(self._batch_bytes // _LEAST_BYTES, self._batch_bytes * records // max(size, 1))
        return max(_LEAST_RECORDS, records)


def read_table(
    files: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    strings: TableStrings = "plain",
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    **reader_options: Unpack[ReaderOptions],
) -> Table:
    """Read files of Examples or SequenceExamples into an Arrow table.

    Args:
      files: as for ShardReader: paths, globs, URLs, lists of them.
      features: the features to parse, as for ShardReader: a dict, or a pair (context_features, sequence_features); or
        "infer", which samples records of all files first.
      columns: the keys of the features to read, in this order; None: all.
      strings: "plain" for Arrow's binary, which every library supports; "view" for binary_view, whose values are not
        copied: they share, and keep, the buffers of the records. pandas and Spark don't support views inside lists.
        "text" for Arrow's string, if all values are UTF-8.
      infer_records: number of records that `features="infer"` samples. If one of `columns` is missing from them,
        features are inferred from all records. If later records don't fit, or have further keys, features are inferred
        from all records, and the files are read again. None: from all records at once.
      reader_options: those of ShardReader, such as `shuffle_buffer`, `shard`, `compression`, `on_corrupt`. The
        default of `batch_size` depends on the size of records.

    Returns:
      A pyarrow.Table with one column per feature, in their order, nullable. The types of a row:

      - FixedLenFeature: a value, or lists of fixed size, nested like its shape.
      - VarLenFeature, RaggedFeature, FixedLenSequenceFeature: a list; one more level per partition; the steps of a
        shape are lists of fixed size. Nothing is padded.
      - SparseFeature: a list of {index, value}.
      - SequenceExamples: the context as above, and each feature list as a list of steps.

      string becomes binary, bfloat16 becomes float32, and other dtypes stay. A record without the feature has null, or
      the feature's default_value; an empty list stays an empty list. With "infer", a feature with exactly one value in
      each record that has it becomes a column of values, and a feature with varying numbers of values one of lists.

    Raises:
      FileNotFoundError, OSError, errors.DataLossError: as ShardReader.
      errors.InvalidArgumentError: a record does not fit the features, features are empty, one of `columns` is
        missing, `num_epochs` is endless, or two features have the same name.
      ImportError: pyarrow is not installed.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.ExampleWriter(path) as writer:
    ...     writer.write({"id": [1, 2, 3], "tags": [["a"], [], ["b", "c"]]})
    >>> read_table(path).to_pandas()
       id          tags
    0   1        [b'a']
    1   2            []
    2   3  [b'b', b'c']
    """
    if reader_options.get("num_epochs", 1) in (None, -1):
        raise InvalidArgumentError("read_table needs a finite num_epochs; use read_batches for endless reading")
    source = TableSource(
        files, features, columns=columns, strings=strings, infer_records=infer_records, **reader_options
    )
    pyarrow = optional("pyarrow", "Arrow tables need pyarrow")
    try:
        batches = list(source)
    except InvalidArgumentError:
        again = source.inferred_from_all()
        if again is None:
            raise
        source, batches = again, list(again)
    return pyarrow.Table.from_batches(batches, source.schema)


def read_batches(
    files: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    strings: TableStrings = "plain",
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    **reader_options: Unpack[ReaderOptions],
) -> RecordBatchReader:
    """Return a pyarrow.RecordBatchReader over the files, which reads them lazily and once. See `read_table`.

    All batches have the reader's schema. With `features="infer"`, a record that does not fit the inferred features, or
    has another key, raises InvalidArgumentError when its batch is read; `infer_records=None` avoids that.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.ExampleWriter(path) as writer:
    ...     writer.write({"id": [1, 2, 3]})
    >>> [batch.num_rows for batch in read_batches(path, batch_size=2)]
    [2, 1]
    """
    return TableSource(
        files, features, columns=columns, strings=strings, infer_records=infer_records, **reader_options
    ).reader()


class _LazyBatches(Iterator[Any]):
    """A table's batches, for several threads; the files are opened with the first batch."""

    def __init__(self, source: TableSource) -> None:
        self._source = source
        self._batches: Iterator[Any] | None = None
        self._lock = threading.Lock()

    def __next__(self) -> Any:
        if self._batches is None:
            with self._lock:
                self._batches = self._batches or iter(self._source)
        return next(self._batches)


def _is_regular(file: str | CoreFile) -> bool:
    if isinstance(file, str):
        return os.path.isfile(file)
    if file.object is not None or file.stamp is not None:  # an object, or a local file that a listing found regular
        return True
    return file.is_local and os.path.isfile(file.name)


def _is_shuffled(options: Mapping[str, Any]) -> bool:
    """Return True if a seed can be drawn. Shards of one global order need a seed that all processes know."""
    if options.get("global_shuffle"):
        with contextlib.suppress(TypeError, ValueError):  # the reader raises the error
            return Shard(options.get("shard", (0, 1))).rank().total == 1
        return False
    return bool(options.get("shuffle_files") or options.get("shuffle_buffer"))


def _check_options(options: dict[str, Any]) -> None:
    for name in ("label_key", "groups"):
        if name in options:
            raise TypeError(f"{name} is not supported for tables: each feature is a column")
