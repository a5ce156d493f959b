"""The native core, which is private. tests/house/test_stub.py compares this stub with the extension."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol, SupportsIndex, TypeGuard, TypeVar, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer, Self

_Column = Any  # an array or BytesArray, or a tuple of values and how they are cut into rows
_Records = object  # records of any kind that TypeError does not name
_Capsule = object  # Python has no type for a PyCapsule
_Strings = TypeVar("_Strings", bound="BytesArrayBase")
_T = TypeVar("_T")

class _File(Protocol):  # files.streams.core_files.CoreFile
    @property
    def name(self) -> bytes: ...
    @property
    def opener(self) -> Callable[[], object] | None: ...
    @property
    def object(self) -> _Object | None: ...
    @property
    def part(self) -> tuple[int, int, int] | None: ...  # offset and number of the first record, offset of the end
    @property
    def stamp(self) -> tuple[int, int] | None: ...  # bytes, and nanoseconds of the last change

class _Object(Protocol):  # files.streams.core_files.CoreObject
    @property
    def number(self) -> int: ...
    @property
    def size(self) -> int | None: ...

compiler: str
sanitizers: str

class Codec(NamedTuple):
    name: str
    extension: str
    appends: bool
    libraries: dict[str, str]

def codecs() -> list[Codec]: ...

@final
class RecordBatch:
    @property
    def nbytes(self) -> int: ...
    @property
    def sizes(self) -> npt.NDArray[np.int64]: ...
    def view(self, i: SupportsIndex, /) -> memoryview: ...
    def tolist(self) -> list[bytes]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> bytes: ...
    @overload
    def __getitem__(self, key: slice, /) -> RecordBatch: ...
    def __iter__(self) -> Iterator[bytes]: ...
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

class BytesArrayBase:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def view(self, i: SupportsIndex, /) -> memoryview: ...
    def tolist(self) -> list[Any]: ...  # bytes, nested as deep as there are axes
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...  # bytes, or a BytesArray of the axes that are left
    def __iter__(self) -> Iterator[Any]: ...

class FeatureSpec:
    def __init__(
        self,
        *,
        key: bytes,
        type: str,  # a name of an element type: csrc/base/element_type.h
        layout: str,  # "fixed", "padded" or "list"
        shape: Sequence[int] = ...,
        default: bytes | list[bytes] | None = None,  # of numbers, of strings
        may_be_absent: bool = False,
        note: str = "",
        presence: bool = False,
        image: ImageSpec | None = None,  # of bytes with the "fixed" layout
        takes_raw_bytes: bool = False,
    ) -> None: ...

class ImageSpec:  # examples/features.py has the arguments of ImageFeature
    def __init__(
        self,
        *,
        size: tuple[int, int],  # (0, 0): each image has its own
        channels: int,
        float_results: bool,
        resize: str,
        crop: str,  # "none", "center" or "random"
        shorter_side: int,  # 0: none
        scale: tuple[float, float],
        ratio: tuple[float, float],
        flip: bool,
        antialias: bool,
        exact: bool,
        channels_first: bool,
        on_error: str,
        seed: int | None,
        max_pixels: int,
    ) -> None: ...

class FixedColumn(NamedTuple):
    values: Any
    present: npt.NDArray[np.uint8]

class ListColumn(NamedTuple):
    values: Any
    splits: npt.NDArray[np.int64]
    longest: int
    present: npt.NDArray[np.uint8] | None

class ListSteps(NamedTuple):
    values: Any
    splits: npt.NDArray[np.int64]
    row_steps: npt.NDArray[np.int64]
    longest: int
    longest_row: int
    present: npt.NDArray[np.uint8] | None

class PaddedSteps(NamedTuple):
    values: Any
    lengths: npt.NDArray[np.int64]
    present: npt.NDArray[np.uint8] | None

class ExamplePlan:  # `groups` has the places of specs; their columns come after those of the other specs
    def __init__(
        self, specs: list[FeatureSpec], *, only_these: str = "", groups: Sequence[Sequence[int]] = ...
    ) -> None: ...
    def parse(self, records: _Records, num_threads: int = 0) -> list[_Column]: ...
    def parse_images(
        self,
        records: _Records,
        num_threads: int,
        *,
        seed: int,
        epochs: list[int] | None = None,  # of the records; None: those of the batch
        lost: list[tuple[str, int, int, str]] | None = None,  # receives path, offset, bytes, reason
    ) -> list[_Column]: ...
    def parse_one(self, record: object) -> list[_Column]: ...

class SequencePlan:
    def __init__(self, context: list[FeatureSpec], lists: list[FeatureSpec], *, only_these: str = "") -> None: ...
    def parse(self, records: _Records, num_threads: int = 0) -> tuple[list[_Column], list[_Column]]: ...

@final
class EncodeColumn:
    def __new__(
        cls,
        *,
        key: str,
        type: str,
        values: npt.NDArray[Any] | RecordBatch,
        count: int = 1,
        splits: npt.NDArray[np.int64] | None = None,
        valid: npt.NDArray[np.uint8] | None = None,
        steps: npt.NDArray[np.int64] | None = None,
        row_valid: npt.NDArray[np.uint8] | None = None,
    ) -> Self: ...

class ArrowNode(NamedTuple):  # csrc/bindings/arrow.cc lists the fields of each kind
    kind: str
    rows: int
    valid: npt.NDArray[np.uint8] | None
    type: Any
    values: Any
    splits: Any
    size: int
    child: Any
    fields: Any

class KeySummary(NamedTuple):
    key: bytes
    kind: str
    records: int
    fewest: int
    most: int
    unset: int

class WriteTarget(NamedTuple):
    path: bytes
    draft: bytes | None

class FeatureSurvey:
    def __init__(self) -> None: ...
    def add(self, records: _Records) -> None: ...
    def features(self) -> list[KeySummary]: ...
    def lists(self) -> list[KeySummary]: ...
    @property
    def records(self) -> int: ...
    @property
    def has_lists(self) -> bool: ...

class NumberFigures(NamedTuple):
    values: int
    nans: int
    positive_infinities: int
    negative_infinities: int
    zeros: int
    minimum: int | float | None
    maximum: int | float | None
    mean: float | None
    std: float | None
    exact: bool
    distinct: float
    count_error: int
    frequent: list[tuple[int | float, int]]
    points: npt.NDArray[np.int64] | npt.NDArray[np.float32]
    weights: npt.NDArray[np.int64]

class TextFigures(NamedTuple):
    exact: bool
    distinct: float
    count_error: int
    frequent: list[tuple[bytes, int, int]]
    sizes: NumberFigures

class FeatureFigures(NamedTuple):
    key: bytes
    is_list: bool
    present: int
    unset: int
    int64_features: int
    float_features: int
    bytes_features: int
    unset_features: int
    lengths: NumberFigures
    steps: NumberFigures | None
    int64: NumberFigures | None
    floats: NumberFigures | None
    texts: TextFigures | None

class RepeatFigures(NamedTuple):
    halvings: int
    different: int
    repeated: int
    copies: int
    most: int
    pairs: list[tuple[int, int, int, int]]

DISTINCT_ERROR: float
MOST_FEATURES: int

class StatsHints:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...  # TypeError: StatsCollector.hints makes them

class StatsCollector:
    def __init__(self, file: int, first_record: int, columns: list[bytes], hints: StatsHints | None = None) -> None: ...
    def hints(self) -> StatsHints: ...
    def add(self, records: _Records) -> None: ...
    def merge(self, other: StatsCollector) -> None: ...
    def features(self) -> list[FeatureFigures]: ...
    def others(self) -> list[tuple[str, int, int, int]]: ...
    def sample(self) -> list[tuple[int, int, bytes]]: ...
    def repeated(self) -> RepeatFigures: ...
    def sizes(self) -> NumberFigures: ...
    @property
    def passed_over(self) -> int: ...
    @property
    def examples(self) -> int: ...
    @property
    def sequences(self) -> int: ...
    @property
    def empty(self) -> int: ...
    @property
    def entries_left_out(self) -> int: ...

class RandomReader:
    def __init__(
        self,
        paths: Sequence[bytes],
        indexes: Sequence[RecordIndex],
        *,
        verify_crc: bool,
        num_threads: int,
        max_open_files: int = 128,
        map_files: bool = True,
        max_record_bytes: int | None = None,
        max_idle_bytes: int = 16777216,
        objects: Sequence[_Object | None] = (),
        fetches: FetchQueue | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def record(self, key: SupportsIndex) -> bytes: ...
    def take(self, numbers: npt.NDArray[np.int64]) -> RecordBatch: ...

class Permutation:
    def __init__(self, size: int, keys: Sequence[int]) -> None: ...
    def at(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...

class IndexOrigin:
    def __init__(self, *, path: bytes, index_path: bytes | None = None, object: _Object | None = None) -> None: ...

class RecordIndex:
    def __init__(self, offsets: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> None: ...
    @staticmethod
    def build(path: bytes, max_record_bytes: int | None = None, spacing: int = ...) -> RecordIndex: ...
    @staticmethod
    def load(path: bytes) -> RecordIndex: ...
    @staticmethod
    def parse(text: bytes) -> RecordIndex: ...
    def pack(self) -> bytes: ...
    def checkpoint_before(self, offset: int) -> bytes: ...
    def checkpoints(self) -> int: ...
    def file_bytes(self) -> int: ...
    def end(self) -> int: ...
    def save(self, path: bytes) -> None: ...
    def offsets(self) -> npt.NDArray[np.int64]: ...
    def sizes(self) -> npt.NDArray[np.int64]: ...
    def equals(self, other: RecordIndex) -> bool: ...
    def __len__(self) -> int: ...

class Wanted(NamedTuple):
    number: int
    object: int
    start: int
    end: int
    opens: bool
    more: bool

class FetchQueue:
    def __init__(self, *, bytes: int, block_bytes: int, requests: int) -> None: ...
    def take(self) -> Wanted | None: ...
    def deliver(self, number: int, data: Buffer, object_size: int | None = None) -> None: ...
    def fail(self, number: int, error_number: int, message: str) -> None: ...
    def close(self) -> None: ...

class RecordStream:
    def __init__(
        self,
        files: Sequence[str] | Sequence[_File],
        state: dict[str, Any] | None = None,
        plan: ExamplePlan | SequencePlan | None = None,
        *,
        keep_batches: bool = False,
        **options: Any,  # by the names in csrc/bindings/stream.cc, OptionsOf
    ) -> None: ...
    def records(self) -> RecordIterator: ...
    def batches(self) -> Iterator[RecordBatch]: ...
    def columns(self) -> Iterator[Any]: ...  # what the plan's parse() gives, with the records if keep_batches
    def state(self) -> dict[str, Any]: ...
    def take_skipped(self) -> list[SkippedStretch]: ...

class RecordIterator(Iterator[bytes]):  # RecordStream.records makes them
    def __iter__(self) -> Self: ...
    def __next__(self) -> bytes: ...

class Iteration(Iterator[_T]):
    def __new__(cls, elements: Iterator[_T], most: int = -1, /) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> _T: ...

class SkippedStretch(NamedTuple):
    path: str
    offset: int
    bytes: int | None
    reason: str

class RecordWriter:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    @property
    def closed(self) -> bool: ...
    @property
    def records_written(self) -> int: ...
    def __del__(self) -> None: ...
    def write(self, record: object, /) -> None: ...  # of any kind that TypeError does not name
    def write_batch(self, records: _Records, /) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...

def are_plain_paths(files: Sequence[object]) -> TypeGuard[list[str]]: ...
def as_bytes(value: object, what: str = "the value") -> bytes: ...
def arrow_array(schema: _Capsule, array: _Capsule) -> ArrowNode: ...
def arrow_stream(stream: _Capsule) -> list[ArrowNode]: ...
def write_columns(
    writers: Sequence[RecordWriter], columns: list[EncodeColumn], rows: int, first: int, num_threads: int
) -> None: ...
def crc32c(data: object, crc: int = 0) -> int: ...
def crc32c_backend() -> str: ...
def crc32c_backends() -> list[str]: ...
def gather_rows(
    arrays: Sequence[npt.NDArray[np.uint8]], sources: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]: ...
def join_rows(
    flat: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    item_bytes: int,
    longest: int = -1,
    filling: bytes = b"",
) -> npt.NDArray[np.uint8]: ...
def room(rows: int, row_bytes: int) -> npt.NDArray[np.uint8]: ...
def detect_compression(head: bytes) -> str: ...
def find(entries: tuple[tuple[Any, ...], ...], /, *parts: object) -> Any: ...
def fail_at(records: _Records, row: int, message: str) -> NoReturn: ...  # in the form of an error of parsing
def set_tensorflow_words(on: bool) -> bool: ...  # first in errors of parsing; returns the earlier setting
def encode_one(example: Mapping[str, object], allow_rounding: bool = True) -> bytes | None: ...
def encode_examples(columns: list[EncodeColumn], rows: int, num_threads: int) -> RecordBatch: ...
def encode_sequence_examples(
    context: list[EncodeColumn], lists: list[EncodeColumn], rows: int, num_threads: int
) -> RecordBatch: ...
def open_indexes(
    origins: Sequence[IndexOrigin],
    num_threads: int,
    max_record_bytes: int | None = None,
    fetches: FetchQueue | None = None,
    *,
    inflate: bool = True,
) -> list[RecordIndex]: ...
def open_writer(
    writer: RecordWriter,
    target: object,
    compression: str,
    options: dict[str, int],  # by the names of TFRecordOptions
    close_file: bool,
    append: bool,
    num_threads: int,
) -> None: ...
def record_batch(records: _Records, /) -> RecordBatch: ...
def restore_record_batch(data: bytes, sizes: bytes, /) -> RecordBatch: ...
def set_crc32c_backend(name: str, /) -> None: ...
def find_target(path: bytes) -> WriteTarget: ...
def looks_like(record: bytes) -> str: ...
def unknown_fields(records: _Records) -> tuple[int, int, int]: ...
def remove_abandoned_drafts(paths: Sequence[bytes]) -> None: ...
def bytes_to_detect(head: bytes) -> int: ...
def concatenate(batches: Sequence[RecordBatch]) -> RecordBatch: ...
def take_rows(batch: RecordBatch, rows: npt.NDArray[np.int64]) -> RecordBatch: ...
def count_varints(data: Buffer) -> int: ...
def decode_one_varint(data: Buffer, start: int, size: int) -> int | None: ...
def decode_varints(data: Buffer) -> npt.NDArray[np.int64]: ...
def decode_varints_into(data: Buffer, out: npt.NDArray[np.int64]) -> tuple[int, int]: ...

class DecodeOptions:
    def __init__(
        self,
        *,
        channels: int = 0,
        sixteen_bits: bool = False,
        max_pixels: int = ...,
        ratio: int = 1,
        fancy_upsampling: bool = True,
        fast_dct: bool = True,
        recover_truncated: bool = False,
        acceptable_fraction: float = 1.0,
    ) -> None: ...

def image_header(contents: object) -> tuple[str, int, int, int, int]: ...  # format, height, width, channels, bits
def decode_image(
    contents: object, options: DecodeOptions = ..., region: tuple[int, int, int, int] | None = None
) -> npt.NDArray[Any]: ...
def decode_images(
    contents: list[bytes],
    options: DecodeOptions = ...,
    region: tuple[int, int, int, int] | None = None,
    num_threads: int = 0,
) -> npt.NDArray[Any] | list[npt.NDArray[Any]]: ...
def encode_jpeg(
    pixels: npt.NDArray[Any],
    *,
    quality: int,
    progressive: bool,
    optimize: bool,
    chroma_downsampling: bool,
    density_per_cm: bool,
    x_density: int,
    y_density: int,
    xmp: str | bytes,
) -> bytes: ...
def encode_images(images: Sequence[npt.NDArray[Any]], *, quality: int | None, num_threads: int) -> list[bytes]: ...
def encode_png(pixels: npt.NDArray[Any], level: int) -> bytes: ...
def draw_images(
    images: Sequence[npt.NDArray[Any]],
    out: npt.NDArray[Any],
    method: int,
    alignment: int,
    antialias: bool,
    flips: bytes,
    before: Sequence[tuple[int, Sequence[float]]],
    after: Sequence[tuple[int, Sequence[float]]],
    channels_first: bool = False,
    window: tuple[int, int, int, int] | None = None,
    part: tuple[float, float, float, float] | None = None,
) -> None: ...
def draw_nearest(images: Sequence[npt.NDArray[Any]], out: npt.NDArray[Any], alignment: int, flips: bytes) -> None: ...
def resize_backend() -> str: ...
def resize_backends() -> list[str]: ...
def set_resize_backend(name: str, /) -> None: ...
def encode_varints(values: npt.NDArray[np.int64]) -> bytes: ...
def encode_varints_into(values: npt.NDArray[np.int64], out: Buffer) -> int: ...
def set_varint_backend(name: str, /) -> None: ...
def varint_backend() -> str: ...
def varint_backends() -> list[str]: ...
def arrow_export(
    values: npt.NDArray[Any] | BytesArrayBase, offsets: list[npt.NDArray[Any]], *, strings: str
) -> tuple[_Capsule, _Capsule]: ...
def arrow_requested_format(schema: _Capsule) -> str: ...
def bytes_copy(array: _Strings) -> _Strings: ...
def bytes_copy_rows(array: BytesArrayBase, rows: npt.NDArray[np.uint8], *, exact: bool) -> int: ...
def bytes_from_list(values: Sequence[Buffer], shape: Sequence[int]) -> Any: ...  # of the registered type
def bytes_joined(array: BytesArrayBase) -> bytes: ...
def bytes_lengths(array: BytesArrayBase) -> npt.NDArray[np.int64]: ...
def bytes_reshape(array: _Strings, shape: Sequence[int]) -> _Strings: ...
def bytes_take(array: _Strings, index: npt.NDArray[np.int64]) -> _Strings: ...
def register_bytes_array(type: type[BytesArrayBase]) -> None: ...
def views_of_fixed(array: npt.NDArray[Any]) -> RecordBatch: ...
def views_of_objects(objects: Sequence[object]) -> tuple[RecordBatch, npt.NDArray[np.uint8] | None]: ...
