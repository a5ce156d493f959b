"""The feature classes of tf.io, and ImageFeature, as named tuples. TensorFlow's own classes are also accepted."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from ..dtypes import DType, as_dtype, float32, int32, int64, uint8
from ..errors import InvalidArgumentError
from ..typing import DTypeLike, Key, Shape
from ..values.text import did_you_mean


class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in each record.

    Args:
      shape: the shape of one record's values; `[]` for a scalar.
      dtype: int64, float32 or string. Other integer types and bool are read from an int64 list, where a value out of
        range is an error; float16, bfloat16 and float64 from a float list. uint8 is read from one bytes value, too.
      default_value: the values of that shape for records without the feature. None makes such a record an error.

    Parsed to an ndarray `[n, *shape]`; strings to a BytesArray of that shape.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"a": [1, None, 3]})
    >>> tf.parse_example(records, {"a": FixedLenFeature([], tf.int64, default_value=0)})["a"].tolist()
    [1, 0, 3]
    """

    shape: Shape
    dtype: DTypeLike
    default_value: Any = None


class RawFeature(FixedLenFeature):
    """A numeric array of a fixed shape, stored as the little-endian bytes of one bytes value.

    Arguments and results are those of FixedLenFeature. A wrong number of bytes is an error. A record may hold the
    numbers themselves instead, as for FixedLenFeature.

    >>> import tfrecord_fast as tf
    >>> import numpy as np
    >>> records = tf.encode_examples({"a": [np.arange(4, dtype=np.int16).tobytes()]})
    >>> tf.parse_example(records, {"a": RawFeature([2, 2], "int16")})["a"].tolist()
    [[[0, 1], [2, 3]]]
    """

    __slots__ = ()


class VarLenFeature(NamedTuple):
    """A feature with any number of values; parsed to a SparseTensor `[n, longest]`.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"a": [[1, 2], [], [3]]})
    >>> tf.parse_example(records, {"a": VarLenFeature(tf.int64)})["a"].values.tolist()
    [1, 2, 3]
    """

    dtype: DTypeLike


class SparseFeature(NamedTuple):
    """A sparse tensor kept as two or more features: the values, and their index in each dimension.

    Args:
      index_key: the key of the int64 feature with the indices, or a list of keys, one per dimension.
      value_key: the key of the feature with the values.
      dtype: the dtype of the values.
      size: the size of the dimension, or a list of sizes, one per dimension. An index must lie in [0, size).
      already_sorted: do not sort by index.

    Parsed to a SparseTensor `[n, *size]`.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"place": [[0, 3]], "value": [[1.5, 2.5]]})
    >>> sparse = tf.parse_example(records, {"a": SparseFeature("place", "value", tf.float32, 4)})["a"]
    >>> sparse.indices.tolist(), sparse.values.tolist()
    ([[0, 0], [0, 3]], [1.5, 2.5])
    """

    index_key: Key | Sequence[Key]
    value_key: Key
    dtype: DTypeLike
    size: int | Sequence[int]
    already_sorted: bool = False


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of steps of a fixed shape.

    Args:
      shape: the shape of a step; must not contain 0.
      dtype: the dtype of the values.
      allow_missing: must be True in `parse_example`. In a feature list, it allows the list to be absent.
      default_value: one value to pad shorter records with; 0 or b"" when None. Not for feature lists.

    Parsed to an ndarray or BytesArray `[n, longest, *shape]`.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"a": [[1, 2], [3]]})
    >>> features = {"a": FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)}
    >>> tf.parse_example(records, features)["a"].tolist()
    [[1, 2], [3, -1]]
    """

    shape: Shape
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: Any = None


class _RaggedFields(NamedTuple):
    dtype: DType
    value_key: str | None
    partitions: tuple[Partition, ...]
    row_splits_dtype: DType
    validate: bool


class RaggedFeature(_RaggedFields):
    """A feature with any number of values, which other features may partition into inner rows.

    Args:
      dtype: the dtype of the values.
      value_key: the key of the values; None for the key of this feature in the dict.
      partitions: the partitions of the values, from the outermost to the innermost: RaggedFeature.RowSplits(key),
        RowLengths(key), RowStarts(key), RowLimits(key), ValueRowIds(key), or UniformRowLength(length).
      row_splits_dtype: int32 or int64.
      validate: as in TensorFlow. A partition that does not fit the values of its record is always an error.

    Parsed to a RaggedTensor `[n, …]`.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"a": [[1, 2], [], [3]]})
    >>> tf.parse_example(records, {"a": RaggedFeature(tf.int64)})["a"].to_list()
    [[1, 2], [], [3]]
    """

    __slots__ = ()

    class RowSplits(NamedTuple):
        key: str

    class RowLengths(NamedTuple):
        key: str

    class RowStarts(NamedTuple):
        key: str

    class RowLimits(NamedTuple):
        key: str

    class ValueRowIds(NamedTuple):
        key: str

    class UniformRowLength(NamedTuple):
        length: int

    def __new__(
        cls,
        dtype: DTypeLike,
        value_key: str | None = None,
        partitions: Sequence[Partition] = (),
        row_splits_dtype: DTypeLike = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        if value_key is not None:
            if not isinstance(value_key, str):
                raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
            if not value_key:
                raise ValueError("Argument `value_key` must not be empty")
        dtype = as_dtype(dtype)
        row_splits_dtype = as_dtype(row_splits_dtype)
        if row_splits_dtype not in (int32, int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {row_splits_dtype!r}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(f"Argument `partitions` must be a list or tuple; got {partitions!r}")
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        own = tuple(_own_partition(partition) for partition in partitions)
        return super().__new__(cls, dtype, value_key, own, row_splits_dtype, validate)


class _ImageFields(NamedTuple):
    size: tuple[int, int] | None
    channels: int
    dtype: DType
    resize: str
    crop: str | None
    shorter_side: int | None
    scale: tuple[float, float]
    ratio: tuple[float, float]
    flip: bool
    antialias: bool
    exact: bool
    channels_first: bool
    on_error: str
    seed: int | None
    max_pixels: int


class ImageFeature(_ImageFields):
    """A feature with one encoded JPEG or PNG, decoded, cropped, resized and flipped on the threads that read.

    Args:
      size: height and width of the images, or one number for both. None: each image has its own size.
      channels: 3 for RGB, 1 for gray. Alpha is dropped, and palettes and CMYK become RGB.
      dtype: uint8, rounded and clipped, or float32 from 0 to 255.
      resize: the method of `image.resize`: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5",
        "gaussian" or "mitchellcubic".
      crop: None resizes the whole image to `size`, whatever its aspect ratio. "center" takes the largest centred window
        with the aspect ratio of `size`. "random" draws a window, as torchvision's RandomResizedCrop does.
      shorter_side: for crop="center": resize the shorter side to this and take the centre, `size`, as torchvision's
        Resize and CenterCrop do.
      scale: for crop="random": the smallest and the largest share of the image's area.
      ratio: for crop="random": the smallest and the largest width divided by height, drawn log-uniformly.
      flip: True mirrors images left and right with probability 1/2.
      antialias: as in `image.resize`: smooth when scaling down.
      exact: False may decode a JPEG at 1/2, 1/4 or 1/8 of its size where that is still as large as `size`. This is much
        faster for large photos; how far pixels may differ: docs/guide/images.md.
      channels_first: True for `[n, channels, height, width]`.
      on_error: for an image that can't be decoded, or is missing. "raise"; "skip" drops the record, so that its batch
        is smaller; "zeros" makes all pixels 0. Readers list the records in `skipped`.
      seed: for crop="random" and flip. None takes the reader's; `parse_example` needs one.
      max_pixels: an image that claims more is an error, before memory is taken.

    Parsed to an ndarray `[n, height, width, channels]`; with size=None, to a list of n arrays. For Examples only.

    Random crops and flips depend on the seed, the epoch, and the record: its number in its file, and its bytes. So they
    are the same with any number of threads, workers and ranks, after resuming, and with any batch size. Features of one
    record draw the same numbers: an image and its mask stay aligned.

    >>> ImageFeature(224, crop="random", flip=True).size
    (224, 224)
    """

    __slots__ = ()

    def __new__(
        cls,
        size: int | Sequence[int] | None = None,
        channels: int = 3,
        dtype: DTypeLike = uint8,
        resize: str = "bilinear",
        crop: Literal["center", "random"] | None = None,
        shorter_side: int | None = None,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        flip: bool = False,
        antialias: bool = True,
        exact: bool = True,
        channels_first: bool = False,
        on_error: Literal["raise", "skip", "zeros"] = "raise",
        seed: int | None = None,
        max_pixels: int = (1 << 29) // 3,
    ) -> ImageFeature:
        dtype = as_dtype(dtype)
        if dtype not in (uint8, float32):
            raise ValueError(f"Argument `dtype` must be uint8 or float32; got {dtype!r}")
        _check_choice("channels", channels, (1, 3))
        _check_choice("resize", resize, RESIZE_METHODS)
        _check_choice("crop", crop, (None, "center", "random"))
        _check_choice("on_error", on_error, ("raise", "skip", "zeros"))
        flags = {"flip": flip, "antialias": antialias, "exact": exact, "channels_first": channels_first}
        for name, flag in flags.items():
            if not isinstance(flag, bool):
                raise TypeError(f"Argument `{name}` must be a bool; got {flag!r}")
        sides = _sides(size)
        if crop is not None and sides is None:
            raise ValueError(f"Argument `crop` needs a `size`; got crop={crop!r} and size=None")
        if shorter_side is not None:
            shorter_side = operator.index(shorter_side)
            if crop != "center":
                raise ValueError(f'Argument `shorter_side` needs crop="center"; got crop={crop!r}')
            if sides is None or shorter_side < max(sides):
                raise ValueError(f"Argument `shorter_side` must be at least {sides}, the size; got {shorter_side}")
        scale, ratio = _interval("scale", scale), _interval("ratio", ratio)
        if scale[1] > 1:
            raise ValueError(f"Argument `scale` must be at most 1, the whole image; got {scale}")
        if seed is not None:
            seed = operator.index(seed) & (1 << 64) - 1
        max_pixels = operator.index(max_pixels)
        if max_pixels < 1:
            raise ValueError(f"Argument `max_pixels` must be at least 1; got {max_pixels}")
        crops = (crop, shorter_side, scale, ratio, flip)
        return super().__new__(
            cls, sides, channels, dtype, resize, *crops, antialias, exact, channels_first, on_error, seed, max_pixels
        )

    @property
    def is_random(self) -> bool:
        """True if images depend on a seed."""
        return self.flip or self.crop == "random"


RESIZE_METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
_MOST_SIDE = 1 << 16  # of the results; their pixels then fit into 32 bits


def _check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"Argument `{name}` must be one of {list(choices)}; got {value!r}")


def _sides(size: int | Sequence[int] | None) -> tuple[int, int] | None:
    if size is None:
        return None
    height, width = size if isinstance(size, Sequence) and len(size) == 2 else (size, size)
    try:
        sides = operator.index(height), operator.index(width)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"Argument `size` must be an int, or a height and a width; got {size!r}") from None
    if not all(1 <= side < _MOST_SIDE for side in sides):
        raise ValueError(f"Argument `size` must be from 1 to {_MOST_SIDE - 1}; got {size!r}")
    return sides


def _interval(name: str, limits: Sequence[float]) -> tuple[float, float]:
    try:
        least, most = map(float, limits)
    except (TypeError, ValueError):
        raise TypeError(f"Argument `{name}` must be two numbers; got {limits!r}") from None
    if not 0 < least <= most < math.inf:
        raise ValueError(f"Argument `{name}` must be two positive numbers, the smaller first; got {limits!r}")
    return least, most


KeyedPartition: TypeAlias = (
    RaggedFeature.RowSplits
    | RaggedFeature.RowLengths
    | RaggedFeature.RowStarts
    | RaggedFeature.RowLimits
    | RaggedFeature.ValueRowIds
)
Partition: TypeAlias = KeyedPartition | RaggedFeature.UniformRowLength
OwnFeature: TypeAlias = (
    FixedLenFeature | VarLenFeature | SparseFeature | FixedLenSequenceFeature | RaggedFeature | ImageFeature
)

_PARTITIONS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        RaggedFeature.RowSplits,
        RaggedFeature.RowLengths,
        RaggedFeature.RowStarts,
        RaggedFeature.RowLimits,
        RaggedFeature.ValueRowIds,
        RaggedFeature.UniformRowLength,
    )
}

_FEATURES: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        FixedLenFeature,
        RawFeature,
        VarLenFeature,
        SparseFeature,
        FixedLenSequenceFeature,
        RaggedFeature,
        ImageFeature,
    )
}
AS_IN = "as in {'id': tf.io.FixedLenFeature([], tf.int64)}"


def _own_partition(partition: object) -> Partition:
    cls = _PARTITIONS.get(type(partition).__name__)
    if cls is None or not hasattr(partition, cls._fields[0]):
        raise TypeError(f"Argument `partitions` must be a list of partition objects; got {partition!r}")
    own: Partition = partition if isinstance(partition, cls) else cls(*partition)  # type: ignore[misc]
    return own


def normalize(feature: Any) -> OwnFeature:
    """Return `feature` as one of the classes above. TensorFlow's are recognised by name and fields."""
    cls = type(feature)
    if isinstance(feature, OwnFeature) and cls in _FEATURES.values():
        return feature
    own = _FEATURES.get(cls.__name__)
    if own is None or getattr(feature, "_fields", None) != own._fields:
        raise ValueError(f"Unsupported {cls.__name__} {feature}")
    normalized: OwnFeature = own(*feature)
    return normalized


def normalized(features: Mapping[Any, Any]) -> dict[Hashable, OwnFeature]:
    """Return a dict of features of the classes above."""
    own = {}
    for key, feature in features.items():
        try:
            own[key] = normalize(feature)
        except ValueError as error:
            raise ValueError(f"{error} for key {key!r}: expected a feature, {AS_IN}") from None
    return own


def copied(features: Any) -> Any:
    """Return a copy of a dict of features, or of a pair of them, which later changes of the dicts do not reach."""
    if isinstance(features, Mapping):
        return dict(features)
    if isinstance(features, tuple | list):
        return tuple(map(copied, features))
    return features


def names_of(columns: Any) -> Any:
    """Return a copy of a list of column names; `select_features` refuses everything else."""
    return list(columns) if isinstance(columns, list | tuple) else columns


def select_features(
    features: Mapping[Any, Any], columns: Sequence[Key], lists: Mapping[Any, Any] | None = None
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Select the features, and feature lists, whose keys are in `columns`."""
    if isinstance(columns, str | bytes):
        raise TypeError(f"columns must be a list of names, got {columns!r}")
    names = list(columns)
    known = [*features, *(lists or {})]
    unknown = [name for name in names if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        raise InvalidArgumentError(f"columns {unknown} are not among the features {sorted(known, key=str)}{hint}")
    if not names or len(set(names)) < len(names):
        raise InvalidArgumentError(f"columns must be one or more names, each once, got {names}")
    return (
        {key: feature for key, feature in features.items() if key in names},
        {key: feature for key, feature in (lists or {}).items() if key in names},
    )


class InferredShape:
    """Makes shapes with a note that they were inferred, for the errors of records that do not fit them."""

    def __init__(self, records: int) -> None:
        self.records = records

    def __call__(self, shape: list[int]) -> list[int]:
        inferred = _Inferred(shape)
        inferred.note = f"the shape was inferred from {self.records} records"
        return inferred


class _Inferred(list[int]):
    note = ""
