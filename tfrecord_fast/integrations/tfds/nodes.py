"""Conversion of stored values to the values of features: a tree of nodes, like that of the features."""

from __future__ import annotations

import math
import operator
import zlib
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as SequenceABC
from typing import Any, NoReturn

import numpy as np

from ...errors import InvalidArgumentError
from ...images.decoding import decode_image
from ...values.columns.ragged import RaggedTensor
from .collating import stacked
from .features import Audio, Dataset, Feature, FeaturesDict, Image, Sequence, Shape, Tensor, Unknown
from .stored import Columns, Raw, Stored, flat_of, raw_slice, with_flat

_MOST_VALUES = 1 << 48  # of one value
_MOST_DEFAULTS = 1 << 20  # values of one default; real features have fewer

Rows = Callable[[int], Raw]
Decode = Callable[[Any, Any], Any]
Fail = Callable[[str], NoReturn]
Each = Callable[[Callable[[int, Fail], Any]], list[Any]]


class SkipDecoding:
    """Marker for `decoders`: return stored values without decoding, such as the bytes of an image."""

    def __repr__(self) -> str:
        return "SkipDecoding()"


class Leaf:
    """A feature to read, without features of its own. The other nodes have the same methods."""

    def __init__(self, feature: Tensor | Image, lengths: Shape, decode: Decode | SkipDecoding | None) -> None:
        self.feature = feature
        self._stored = _stored_lists(feature, lengths)
        self._rank = len(lengths)
        self._decode = _decoder_of(feature) if decode is None else decode
        self._is_custom = callable(self._decode) and decode is not None
        if math.prod(length or 1 for length in feature.shape) >= _MOST_VALUES:
            raise InvalidArgumentError(f"feature {feature.name!r}: too many values: {feature.shape}")
        for stored in self._stored.values():
            stored.check()

    def is_costly(self) -> bool:
        """Return True if decoding takes longer than reading."""
        return callable(self._decode)

    def stored(self) -> Iterator[Stored]:
        """Yield the lists to read from the Example."""
        yield from self._stored.values()

    def rows(self, columns: Columns) -> Rows:
        """Return a function that takes the number of a row in a batch, and returns the stored values."""
        rows = {name: _naming(self.feature.name, stored.rows(columns)) for name, stored in self._stored.items()}
        if "" in rows:
            return rows[""]
        return lambda row: {name: of_row(row) for name, of_row in rows.items()}

    def batch(self, columns: Columns, each: Each) -> Any:
        """Return the values of a batch. `each(function)` calls a function with each row and its `fail`."""
        stored = self._stored.get("")
        if stored is not None and stored.is_fixed and not callable(self._decode):
            return stored.column(columns)
        rows = self.rows(columns)
        return stacked(each(lambda row, fail: self.decode(rows(row))), self.feature.name)

    def decode(self, raw: Raw, fail: Fail | None = None, inside: int = 0) -> Any:
        """Decode a value, or the values of the sequences around it, without the outermost `inside` sequences.

        Values that are decoded later call `fail` to raise an error that names the record.
        """
        if not callable(self._decode):
            return raw
        try:
            return self._decoded(raw, self._rank - inside)
        except (ValueError, TypeError, zlib.error) as error:
            if self._is_custom:
                raise
            raise InvalidArgumentError(f"feature {self.feature.name!r}: {error}") from None

    def _decoded(self, raw: Raw, rank: int) -> Any:
        assert callable(self._decode)
        if rank == 0:
            return self._decode(raw, self.feature)
        if rank == 1:
            return self._stacked([self._decode(raw_slice(raw, i), self.feature) for i in range(_length(raw))])
        flat = {name: flat_of(values) for name, values in raw.items()} if isinstance(raw, dict) else flat_of(raw)
        return with_flat(_first(raw), self._decoded(flat, 1))

    def _stacked(self, values: list[Any]) -> Any:
        if not values:
            shape = [length or 0 for length in self.feature.shape]
            return np.empty((0, *shape), self.feature.dtype)
        if len({np.shape(value) for value in values}) > 1:
            shapes = sorted({np.shape(value) for value in values})
            raise InvalidArgumentError(
                f"values of the shapes {shapes} don't fit in one array; SkipDecoding() returns the stored values"
            )
        if isinstance(values[0], bytes):
            return np.array([*values, None], dtype=object)[:-1]
        return np.stack(values)


class DictNode:
    """Features by key, in a dict."""

    def __init__(self, children: dict[str, Node]) -> None:
        self.children = children

    def stored(self) -> Iterator[Stored]:
        for child in self.children.values():
            yield from child.stored()

    def rows(self, columns: Columns) -> Rows:
        rows = {key: child.rows(columns) for key, child in self.children.items()}
        return lambda row: {key: of_row(row) for key, of_row in rows.items()}

    def decode(self, raw: Raw, fail: Fail | None = None, inside: int = 0) -> dict[str, Any]:
        return {key: child.decode(raw[key], fail, inside) for key, child in self.children.items()}

    def batch(self, columns: Columns, each: Each) -> dict[str, Any]:
        return {key: child.batch(columns, each) for key, child in self.children.items()}

    def is_costly(self) -> bool:
        return any(child.is_costly() for child in self.children.values())


class StepsNode:
    """A dataset in an example."""

    def __init__(self, feature: Dataset, child: Node) -> None:
        self._feature = feature
        self._child = child

    def stored(self) -> Iterator[Stored]:
        return self._child.stored()

    def rows(self, columns: Columns) -> Rows:
        return self._child.rows(columns)

    def decode(self, raw: Raw, fail: Fail | None = None, inside: int = 0) -> Steps:
        return Steps(self._feature.name, self._child, raw, fail, inside + 1)

    def batch(self, columns: Columns, each: Each) -> list[Any]:
        rows = self.rows(columns)
        return each(lambda row, fail: self.decode(rows(row), fail))

    def is_costly(self) -> bool:
        return False  # elements are decoded on access


Node = Leaf | DictNode | StepsNode


class Steps(SequenceABC[Any]):
    """The elements of a dataset in an example, such as the steps of an episode, decoded on access.

    `len(steps)`, `steps[i]`, `steps[a:b]`, iteration.
    """

    def __init__(self, name: str, node: Node, raw: Raw, fail: Fail | None, inside: int) -> None:
        lengths = set(_lengths(raw))
        if len(lengths) > 1:
            raise InvalidArgumentError(f"feature {name!r}: its features have {sorted(lengths)} elements")
        self._name, self._node, self._raw, self._fail, self._inside = name, node, raw, fail, inside
        self._length = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise ValueError("steps can only be sliced with a step of 1")
            return Steps(self._name, self._node, raw_slice(self._raw, key), self._fail, self._inside)
        number = operator.index(key)
        if not -self._length <= number < self._length:
            raise IndexError(f"element {key} of {self._length}")
        try:
            return self._node.decode(raw_slice(self._raw, number % self._length), self._fail, self._inside)
        except InvalidArgumentError as error:
            if self._fail is None:
                raise
            text = f"element {number} of {self._name!r}: {error}"
        self._fail(text)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_fail": None}  # `fail` holds the record

    def __repr__(self) -> str:
        return f"<Steps of {self._name!r}: {self._length}>"


def node_of(feature: Feature, decoders: Any, lengths: Shape = (), wanted: Any = None) -> Node:
    """Return the node that reads a feature.

    Args:
      decoders: SkipDecoding(), or a function of a stored value and the feature; for a dict of features, a dict by key.
      lengths: those of the sequences around the feature.
      wanted: the features to read in it, as nested dicts; None for all.
    """
    if isinstance(feature, FeaturesDict):
        chosen = dict.fromkeys(feature, decoders) if isinstance(decoders, SkipDecoding) else decoders or {}
        if not isinstance(chosen, Mapping) or not chosen.keys() <= feature.keys():
            raise InvalidArgumentError(
                f"decoders for {feature.name or 'the dataset'!r}: expected a dict with some of the keys "
                f"{sorted(feature)}, got {chosen!r}"
            )
        parts = dict.fromkeys(feature) if wanted is None else wanted
        return DictNode({key: node_of(feature[key], chosen.get(key), lengths, part) for key, part in parts.items()})
    if isinstance(feature, Sequence):
        child = node_of(feature.feature, decoders, (*lengths, feature.length), wanted)
        if isinstance(feature, Dataset) and not isinstance(decoders, SkipDecoding):
            return StepsNode(feature, child)
        if isinstance(child, StepsNode):
            raise InvalidArgumentError(f"feature {feature.name!r}: a sequence of datasets can't be read")
        return child  # it decodes the sequences around it
    if isinstance(decoders, SkipDecoding) or decoders is None or callable(decoders):
        if isinstance(feature, Audio) and feature.is_file and decoders is None:
            file_format = feature.file_format or "of any format"
            raise InvalidArgumentError(
                f"feature {feature.name!r}: audio files ({file_format}) are not decoded here: read it with "
                "SkipDecoding() or a function in decoders, or leave it out of columns"
            )
        if isinstance(feature, Tensor | Image):
            return Leaf(feature, lengths, decoders)
        assert isinstance(feature, Unknown)
        raise InvalidArgumentError(f"feature {feature.name!r}: {feature.why}; choose other features with columns=…")
    raise InvalidArgumentError(
        f"decoders for {feature.name!r}: expected SkipDecoding() or a function, got {type(decoders).__name__}"
    )


# ---- Stored lists ----


def _stored_lists(feature: Tensor | Image, lengths: Shape) -> dict[str, Stored]:
    """Return the stored lists: "", or "shape" and "value" if values are stored with their shapes."""
    key = feature.name
    if isinstance(feature, Image) or (isinstance(feature, Audio) and feature.is_file):
        return {"": Stored(key, lengths, (), np.dtype(object))}
    encoded = feature.encoding != "none"
    shape, dtype = ((), np.dtype(object)) if encoded else (feature.shape, feature.dtype)
    if not feature.has_own_shape:
        default = _default(feature) if feature.optional and not encoded and not lengths else None
        return {"": Stored(key, lengths, shape, dtype, default)}
    if not encoded:
        raise InvalidArgumentError(f"feature {key!r}: values of the shape {shape} can't be separated")
    own = Stored(f"{key}/shape", lengths, (len(feature.shape),), np.dtype(np.int32))
    return {"shape": own, "value": Stored(f"{key}/value", lengths, shape, dtype)}


def _default(feature: Tensor) -> Any:
    """Return TFDS' default for a missing optional value: the smallest number, False, or an empty string."""
    if None in feature.shape:
        return None
    dtype = feature.dtype
    if dtype.hasobject:
        least: Any = b""
    elif dtype.kind == "b":
        least = False
    else:
        least = np.iinfo(dtype).min if dtype.kind in "iu" else np.finfo(dtype).min
    known = [length or 0 for length in feature.shape]
    if math.prod(known) > _MOST_DEFAULTS:
        return None
    return np.full(known, least, dtype).tolist() if known else least


# ---- Decoding one value ----


def _decoder_of(feature: Tensor | Image) -> Decode | SkipDecoding:
    if isinstance(feature, Image):
        return _decode_image
    return SkipDecoding() if feature.encoding == "none" else _decode_bytes


def _decode_image(stored: bytes, feature: Image) -> Any:
    channels = feature.shape[-1]
    is_float = feature.dtype == np.float32
    image = decode_image(stored, 4 if is_float else channels, "uint8" if is_float else feature.dtype.name)
    if is_float:  # a float per pixel, stored as four channels
        image = np.ascontiguousarray(image).view(np.float32)
    _check_shape(image.shape, feature.shape)
    return image if image.flags.writeable else image.copy()


def _decode_bytes(stored: Any, feature: Tensor) -> Any:
    shape = feature.shape
    if isinstance(stored, dict):
        own = stored["shape"].tolist()
        _check_shape(tuple(own), shape)
        shape, stored = tuple(own), stored["value"]
    if feature.encoding == "zlib":
        stored = _inflated(stored, None if None in shape else _count(shape) * feature.dtype.itemsize)
    if feature.dtype.kind == "b" and not set(stored) <= {0, 1}:
        raise InvalidArgumentError("a bool is stored as a number other than 0 and 1")
    values = np.frombuffer(stored, feature.dtype.newbyteorder("<")).astype(feature.dtype)
    _check_shape(values.shape, (None,) if None in shape else (_count(shape),))
    return values.reshape([-1 if length is None else length for length in shape])


def _count(shape: Shape) -> int:
    return math.prod(length or 0 for length in shape)


def _inflated(stored: bytes, expected: int | None) -> bytes:
    """Decompress `expected` bytes. Fail early if there are more, without decompressing them."""
    if expected is None:
        return zlib.decompress(stored)
    inflater = zlib.decompressobj()
    data = inflater.decompress(stored, expected + 1)
    if len(data) != expected or not inflater.eof:
        raise InvalidArgumentError(f"expected {expected} bytes, compressed")
    return data


def _check_shape(actual: tuple[int, ...], expected: Shape) -> None:
    fits = len(actual) == len(expected) and all(
        want in (None, have) for have, want in zip(actual, expected, strict=True)
    )
    if not fits:
        raise InvalidArgumentError(f"expected the shape {expected}, got {actual}")


# ---- Raw values ----


def _naming(name: str, of_row: Rows) -> Rows:
    def named(row: int) -> Raw:
        try:
            return of_row(row)
        except ValueError as error:
            raise InvalidArgumentError(f"feature {name!r}: {error}") from None

    return named


def _first(raw: Raw) -> RaggedTensor:
    first: RaggedTensor = next(iter(raw.values())) if isinstance(raw, dict) else raw
    return first


def _length(raw: Raw) -> int:
    return len(_first(raw))


def _lengths(raw: Raw) -> Iterator[int]:
    if isinstance(raw, dict):
        for values in raw.values():
            yield from _lengths(values)
    else:
        yield len(raw)
