"""The types in the package's signatures, under names that can be used in annotations of one's own.

They are for type checkers and editors. Nothing is checked against them at run time, where a little more is accepted.
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
    Unpack = Optional  # Python 3.10 has no other; it lets hints be evaluated, and no more

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
    """Another library's tensor, which is taken by its NumPy value."""

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
    """What exports itself to Arrow as one array; an array of structs is a table."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """What exports itself to Arrow as a stream of arrays: tables and data frames."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Feature(Protocol):
    """What to parse under one key: one of the feature classes in `tf.io`, TensorFlow's or the package's own."""

    @property
    def dtype(self) -> Any: ...
    @property
    def _fields(self) -> tuple[str, ...]: ...


# ---- Records ----

# The bytes of one value.
BytesLike: TypeAlias = bytes | bytearray | memoryview | np.bytes_ | npt.NDArray[np.uint8]

# One serialized record; str is taken as UTF-8.
Record: TypeAlias = BytesLike | str | npt.NDArray[Any] | Tensor

# Several serialized records.
Records: TypeAlias = RecordBatch | BytesArray | Sequence[BytesLike | str] | npt.NDArray[Any] | Tensor

# ---- Features and columns ----

# What a value is stored under in an Example.
Key: TypeAlias = str | bytes

# What to parse: features by key. Features are named tuples, and mypy takes a dict with several kinds of them for one
# of plain tuples.
Features: TypeAlias = Mapping[str, Feature | tuple[object, ...]] | Mapping[bytes, Feature | tuple[object, ...]]

# What to parse of SequenceExamples: (context features, sequence features), either of which may be None.
SequenceFeatures: TypeAlias = tuple[Features | None, Features | None]

# Scalar features of one dtype that are to be one column: of each group the name, and the keys in order.
Groups: TypeAlias = Mapping[str, Sequence[str]] | Mapping[bytes, Sequence[bytes]]

# The values of one feature: an ndarray, BytesArray, SparseTensor or RaggedTensor; of a single record also a NumPy
# scalar or bytes. Which one depends on the feature, and no type checker can tell, so it is Any.
Column: TypeAlias = Any

# The columns of a batch by key. The keys are those of the features, and so are bytes where those are.
Columns: TypeAlias = dict[str, Column]

# Of a batch of SequenceExamples: (context, sequences, lengths), as `parse_sequence_example` returns them.
SequenceColumns: TypeAlias = tuple[Columns, Columns, Columns]

# Columns to write: arrays, lists, BytesArrays, RaggedTensors and others by key; or a data frame or Arrow table.
Table: TypeAlias = Mapping[str, object] | Mapping[bytes, object] | ArrowArray | ArrowStream

# The lengths of an array's axes; None for one that is not known.
Shape: TypeAlias = int | Sequence[int | None] | StaticShape

# Whole numbers: a list or an array.
Integers: TypeAlias = Sequence[int] | npt.NDArray[Any]

# ---- Files ----

# A path, glob pattern or URL.
PathLike: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# What records are read from: paths, patterns, URLs, file objects, contents in memory, and (nested) lists of them.
Files: TypeAlias = PathLike | FileLike | bytearray | memoryview | Collection[Any] | npt.NDArray[Any] | Tensor


class ReaderOptions(TypedDict, total=False):
    """The options of ShardReader that have no influence on the type of its batches."""

    batch_size: int
    drop_remainder: bool
    compression_type: str | None
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
