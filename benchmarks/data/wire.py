"""Encodes Examples to protobuf wire bytes with NumPy, to make benchmark data without protobuf or TensorFlow.

There are two levels. Messages of many scalar features are built for thousands of records at once, as a matrix of bytes
and a mask of those that count (`Rows`). Messages of one long list or string are put together record by record.

Wire format: https://protobuf.dev/programming-guides/encoding/; the messages are
tensorflow/core/example/*.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Tags: field number << 3 | wire type 2 (length-delimited). The list inside a Feature is field 1, packed.
TAG_1, TAG_2 = 0x0A, 0x12
LIST_TAG = {"string": 0x0A, "float32": 0x12, "int64": 0x1A}
MAX_SCALAR_KEY = 100  # keeps every length of a scalar's map entry in one byte


class Rows(NamedTuple):
    """n byte strings side by side: `data` uint8 [n, width], of which row i is `data[i][mask[i]]`."""

    data: NDArray[np.uint8]
    mask: NDArray[np.bool_]

    def split(self) -> list[bytes]:
        return split(self.data[self.mask].tobytes(), np.count_nonzero(self.mask, axis=1))


def split(flat: bytes, lengths: NDArray[np.integer]) -> list[bytes]:
    """Cuts `flat` into pieces of the given lengths."""
    ends = np.cumsum(lengths).tolist()
    return [flat[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def concat(parts: Sequence[Rows]) -> Rows:
    return Rows(np.hstack([part.data for part in parts]), np.hstack([part.mask for part in parts]))


def constant(text: bytes, n: int) -> Rows:
    """The same bytes in each of n rows."""
    data = np.broadcast_to(np.frombuffer(text, np.uint8), (n, len(text)))
    return Rows(data, np.ones(data.shape, bool))


def column(values: NDArray[np.integer]) -> Rows:
    """One byte per row."""
    data = values.astype(np.uint8)[:, None]
    return Rows(data, np.ones(data.shape, bool))


def raw(values: NDArray[np.float32]) -> Rows:
    """The little-endian bytes of values [n, k]."""
    data = np.ascontiguousarray(values, "<f4").view(np.uint8).reshape(len(values), -1)
    return Rows(data, np.ones(data.shape, bool))


def varints(values: NDArray[np.integer]) -> Rows:
    """The varint of each value; negative ones take ten bytes, as the format says."""
    left = values.astype(np.int64).view(np.uint64)
    groups: list[NDArray[np.uint8]] = []
    while not groups or left.any():
        groups.append((left & np.uint64(0x7F)).astype(np.uint8))
        left = left >> np.uint64(7)
    data = np.stack(groups, axis=1)
    # A byte counts if it or any later one is not zero; the first always does. All but the last say "more".
    mask = np.logical_or.accumulate((data != 0)[:, ::-1], axis=1)[:, ::-1].copy()
    mask[:, 0] = True
    data[:, :-1] |= np.where(mask[:, 1:], np.uint8(0x80), np.uint8(0))
    return Rows(data, mask)


def scalar_features(dtype: str, values: NDArray[Any]) -> Rows:
    """Feature messages of one value each, values [n], or of k floats each, values [n, k]."""
    n = len(values)
    body = varints(values) if dtype == "int64" else raw(values.reshape(n, -1))
    size = np.count_nonzero(body.mask, axis=1)
    return concat(
        [constant(bytes([LIST_TAG[dtype]]), n), column(size + 2), constant(bytes([TAG_1]), n), column(size), body]
    )


def scalar_entries(name: str, dtype: str, values: NDArray[Any]) -> Rows:
    """Entries of the `feature` map of Features, tag and length included, for a feature of one value per
    record."""
    key = name.encode()
    assert len(key) <= MAX_SCALAR_KEY
    feature = scalar_features(dtype, values)
    size = np.count_nonzero(feature.mask, axis=1)
    n = len(values)
    before = constant(bytes([TAG_1, len(key)]) + key + bytes([TAG_2]), n)
    return concat([constant(bytes([TAG_1]), n), column(size + len(key) + 4), before, column(size), feature])


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(tag: int, payload: bytes) -> bytes:
    return bytes([tag]) + varint(len(payload)) + payload


def entry(name: str, value: bytes) -> bytes:
    """A map entry, tag and length included, of `Features.feature` or `FeatureLists.feature_list`."""
    return delimited(TAG_1, delimited(TAG_1, name.encode()) + delimited(TAG_2, value))


def list_entry(name: str, dtype: str, packed: bytes) -> bytes:
    """The map entry of a Feature whose list is packed already: varints, little-endian floats, or one string."""
    return entry(name, delimited(LIST_TAG[dtype], delimited(TAG_1, packed)))


def message(*fields: Iterable[bytes]) -> bytes:
    """An Example from its Features (field 1), or a SequenceExample from those and its FeatureLists (field 2)."""
    return b"".join(delimited(TAG_1 + 8 * i, b"".join(parts)) for i, parts in enumerate(fields))
