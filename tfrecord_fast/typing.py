"""The types in the package's signatures, for annotations in your own code.

They are for type checkers and editors. Nothing is checked against them at run time, and functions accept a little more.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Protocol, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from ._core import RecordBatch
from .dtypes import DTypeLike
from .values.columns.bytes_array import BytesArray

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    Unpack = Optional  # Python 3.10 has no Unpack; hints can still be evaluated

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "BytesLike",
    "Column",
    "Columns",
    "DTypeLike",
    "Feature",
    "Features",
    "FileLike",
    "Files",
    "Groups",
    "Integers",
    "Key",
    "PathLike",
    "ReaderOptions",
    "Record",
    "Records",
    "SequenceColumns",
    "SequenceFeatures",
    "Shape",
    "StaticShape",
    "Table",
    "Tensor",
    "WritableFile",
]


class Tensor(Protocol):
    """Another library's tensor, which counts as its NumPy value."""

    def numpy(self) -> Any: ...


class StaticShape(Protocol):
    """Another library's shape, such as TensorFlow's TensorShape."""

    def as_list(self) -> list[int | None]: ...


class FileLike(Protocol):
    """A binary file object that can be read."""

    def read(self, size: int, /) -> bytes: ...


class WritableFile(Protocol):
    """A binary file object that can be written to."""

    def write(self, data: Any, /) -> Any: ...


class ArrowArray(Protocol):
    """An object that exports itself to Arrow as one array; an array of structs is a table."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """An object that exports itself to Arrow as a stream of arrays: a table or data frame."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Feature(Protocol):
    """A feature to parse under one key: a feature class in `tf.io` of TensorFlow or of this package."""

    @property
    def dtype(self) -> Any: ...
    @property
    def _fields(self) -> tuple[str, ...]: ...


# ---- Records ----

# The bytes of one value.
BytesLike: TypeAlias = bytes | bytearray | memoryview | np.bytes_ | npt.NDArray[np.uint8]

# One serialized record; str is encoded as UTF-8.
Record: TypeAlias = BytesLike | str | npt.NDArray[Any] | Tensor

# Several serialized records.
Records: TypeAlias = RecordBatch | BytesArray | Sequence[BytesLike | str] | npt.NDArray[Any] | Tensor

# ---- Features and columns ----

# The name of a feature in an Example.
Key: TypeAlias = str | bytes

# Features by key. They are named tuples; mypy infers a dict of several feature classes as a dict of plain tuples.
Features: TypeAlias = Mapping[str, Feature | tuple[object, ...]] | Mapping[bytes, Feature | tuple[object, ...]]

# Features of SequenceExamples: (context features, sequence features); each may be None.
SequenceFeatures: TypeAlias = tuple[Features | None, Features | None]

# Scalar features of one dtype to parse into one column: the keys of each group in order, by its name.
Groups: TypeAlias = Mapping[str, Sequence[str]] | Mapping[bytes, Sequence[bytes]]

# The values of one feature: an ndarray, BytesArray, SparseTensor or RaggedTensor; of a single record also a NumPy
# scalar or bytes. The type depends on the feature, which type checkers cannot follow, so it is Any.
Column: TypeAlias = Any

# The columns of a batch, by the keys of the features, which are str or bytes.
Columns: TypeAlias = dict[str, Column]

# The columns of SequenceExamples: (context, sequences, lengths), as `parse_sequence_example` returns them.
SequenceColumns: TypeAlias = tuple[Columns, Columns, Columns]

# Columns to write: arrays, lists, BytesArrays, RaggedTensors and others by key; or a data frame or Arrow table.
Table: TypeAlias = Mapping[str, object] | Mapping[bytes, object] | ArrowArray | ArrowStream

# The lengths of an array's axes; None for an unknown length.
Shape: TypeAlias = int | Sequence[int | None] | StaticShape

# Whole numbers: a list or an array.
Integers: TypeAlias = Sequence[int] | npt.NDArray[Any]

# ---- Files ----

# A path, glob pattern or URL.
PathLike: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# Sources of records: paths, patterns, URLs, file objects, contents in memory, and (nested) lists of them.
Files: TypeAlias = PathLike | FileLike | bytearray | memoryview | Collection[Any] | npt.NDArray[Any] | Tensor


class ReaderOptions(TypedDict, total=False):
    """The options of ShardReader that do not influence the type of its batches."""

    batch_size: int
    drop_remainder: bool
    compression: str | None
    compression_type: str | None  # an older spelling
    num_threads: int | None
    deterministic: bool
    cycle_length: int
    block_length: int
    shuffle_files: bool
    shuffle_buffer: int
    global_shuffle: bool
    seed: int | None
    num_epochs: int | None
    shard: tuple[int, int] | Literal["auto"]
    shard_by: Literal["auto", "file", "record"]
    equal_shards: Literal["drop", "pad"] | None
    verify_crc: bool
    max_record_bytes: int | None
    on_corrupt: Literal["raise", "skip", "skip_file"]
    prefetch_bytes: int | None
    index_cache: bool | PathLike
    storage_options: Mapping[str, Any] | None
    max_requests: int
    cache_dir: PathLike | None
    allow_empty: bool
