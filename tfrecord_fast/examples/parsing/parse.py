"""Serialized Examples and SequenceExamples to NumPy columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ... import _core
from ...base.samples import sample_length
from ...base.threads import thread_count
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...typing import Columns, DTypeLike, Features, Groups, Key, Record, Records, SequenceColumns, Tensor
from ...values.columns.bytes_array import BytesArray
from ...values.columns.conversion import plain
from ...values.columns.strings import is_one
from .groups import frozen_groups
from .made_up import example_like, sequence_example_like
from .plans import example_plan, sequence_plan

__all__ = [
    "decode_raw",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]

_Names = Sequence[Key] | npt.NDArray[Any] | Tensor
_Result = TypeVar("_Result")


def parse_example(
    serialized: Records | Record,
    features: Features,
    example_names: _Names | None = None,
    name: str | None = None,
    *,
    num_threads: int | None = None,
    groups: Groups | None = None,
) -> Columns:
    """Parses a batch of serialized Examples.

    Args:
      serialized: n records, or one, which is parsed as by `parse_single_example`.
      features: of any kind, ours or TensorFlow's; FixedLenSequenceFeature with allow_missing=True. Each dict is
        compiled once.
      example_names: one for each record, to be named in errors.
      name: as in TensorFlow; has no effect.
      num_threads: None: as many as pay off for the batch.
      groups: dict of names to lists of keys. Each group of k features, which are FixedLenFeatures of shape [] and one
        numeric dtype, is parsed into one column `[n, k]` under that name, in the order of the list. It replaces the
        columns of these features, and costs no copy.

    Returns:
      dict of keys to columns, in TensorFlow's order: an ndarray `[n, *shape]` or a BytesArray for FixedLenFeature,
      `[n, longest, *shape]` for FixedLenSequenceFeature, a SparseTensor for VarLenFeature and SparseFeature, a
      RaggedTensor for RaggedFeature. Groups come after the FixedLenFeatures.

    Raises:
      ValueError: features or groups that cannot be parsed.
      errors.InvalidArgumentError: a record does not fit the features; names the record, its file where known, and
        the feature.
      TypeError: a record is not bytes-like.

    Semantics: those of tf.io.parse_example, except for what docs/differences.md lists.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    plan = example_plan(features, () if groups is None else frozen_groups(groups))
    serialized = plain(serialized)
    try:
        if is_one(serialized):
            return _parsed_one(plan.single, serialized, example_names)
        return _parsed(plan.batch, _vector(serialized), example_names, thread_count(num_threads))
    except InvalidArgumentError:
        record = _made_up(example_like, features)
        return plan.single(record) if is_one(serialized) else plan.batch([record] * len(_vector(serialized)), 1)


def parse_single_example(
    serialized: Record,
    features: Features,
    example_names: Key | None = None,
    name: str | None = None,
    *,
    groups: Groups | None = None,
) -> Columns:
    """Parses one serialized Example.

    Args:
      features, groups: as for `parse_example`.

    Returns:
      dict of keys to values: a NumPy scalar or bytes for a FixedLenFeature of shape [], else an ndarray or
      BytesArray of that shape; `[steps, *shape]` for FixedLenSequenceFeature; a SparseTensor of one dimension for
      VarLenFeature; a 1-D array, or with partitions a RaggedTensor, for RaggedFeature; an ndarray `[k]` for a group.

    Raises: as `parse_example`.
    """
    if not features:
        what = "None" if features is None else "empty"
        raise ValueError(f"Invalid argument: features cannot be {what}.")
    if not isinstance(serialized, bytes):
        serialized = plain(serialized)
        if not is_one(serialized):
            raise ValueError("Input serialized must be a scalar")
    single = example_plan(features, () if groups is None else frozen_groups(groups)).single
    try:
        return single(serialized) if example_names is None else _parsed_one(single, serialized, example_names)
    except InvalidArgumentError:
        return single(_made_up(example_like, features))


def parse_sequence_example(
    serialized: Records | Record,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_names: _Names | None = None,
    name: str | None = None,
    *,
    num_threads: int | None = None,
) -> SequenceColumns:
    """Parses a batch of serialized SequenceExamples.

    Args:
      serialized: as for `parse_example`.
      context_features: FixedLenFeature, VarLenFeature and RaggedFeature.
      sequence_features: FixedLenSequenceFeature, VarLenFeature and RaggedFeature.
      example_names: one for each record, to be named in errors.
      name: as in TensorFlow; has no effect.
      num_threads: None: as many as pay off for the batch.

    Returns:
      (context, sequences, lengths): for the contexts, columns as from `parse_example`; for the feature lists, an
      ndarray or BytesArray `[n, longest, *shape]` padded with 0 or b"" for FixedLenSequenceFeature, a SparseTensor
      `[n, longest, longest step]` for VarLenFeature, a RaggedTensor with two ragged dimensions for RaggedFeature;
      and, for the dense ones, the number of steps, int64 `[n]`.

    Raises: as `parse_example`. Semantics: those of tf.io.parse_sequence_example.
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    plan = sequence_plan(context_features, sequence_features)
    serialized = plain(serialized)
    try:
        if is_one(serialized):
            return _parsed_one(plan.single, serialized, example_names)
        return _parsed(plan.batch, _vector(serialized), example_names, thread_count(num_threads))
    except InvalidArgumentError:
        record = _made_up(sequence_example_like, context_features, sequence_features)
        return plan.single(record) if is_one(serialized) else plan.batch([record] * len(_vector(serialized)), 1)


def parse_single_sequence_example(
    serialized: Record,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: Key | None = None,
    name: str | None = None,
) -> tuple[Columns, Columns]:
    """Parses one serialized SequenceExample.

    Returns:
      (context, sequences): without the batch dimension of `parse_sequence_example`.

    Raises: as `parse_example`.
    """
    if not (context_features or sequence_features):
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    serialized = plain(serialized)
    if not is_one(serialized):
        raise ValueError("Input serialized must be a scalar")
    plan = sequence_plan(context_features, sequence_features)
    try:
        return _parsed_one(plan.single, serialized, example_name)[:2]
    except InvalidArgumentError:
        return plan.single(_made_up(sequence_example_like, context_features, sequence_features))[:2]


def decode_raw(
    input_bytes: Records | Record | BytesArray | Sequence[Any],
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> npt.NDArray[Any]:
    """The bytes of strings as numbers.

    Args:
      input_bytes: bytes, a BytesArray, or a (nested) sequence of bytes, all of the same size.
      out_type: numeric dtype.
      little_endian: the byte order of the strings.
      fixed_length: bytes to take from each string, a multiple of the dtype's size: longer strings are cut, shorter
        ones padded with zeros. None: all bytes.

    Returns:
      An ndarray `[*shape of input_bytes, number of values]`.

    Raises:
      errors.InvalidArgumentError: sizes that differ, or that the dtype's size does not divide.
      TypeError: a value that is not bytes-like.
    """
    kind = np.dtype(as_dtype(out_type).as_numpy_dtype)
    if kind.hasobject:
        raise TypeError("decode_raw needs a numeric out_type")
    if fixed_length is not None:
        if fixed_length <= 0:
            raise ValueError(f"`fixed_length` must be greater than 0. Got: {fixed_length}")
        if fixed_length % kind.itemsize:
            raise InvalidArgumentError(
                f"`fixed_length` ({fixed_length}) must be a multiple of the size of out_type ({kind.itemsize})"
            )
    input_bytes = plain(input_bytes)
    scalar = is_one(input_bytes)
    if scalar:
        array = BytesArray([input_bytes])
    else:
        array = input_bytes if isinstance(input_bytes, BytesArray) else BytesArray(input_bytes)
    decoded = _decode(array, kind, fixed_length)
    if not little_endian:
        decoded = decoded.byteswap()
    return decoded[0] if scalar else decoded


def _decode(array: BytesArray, kind: np.dtype[Any], fixed_length: int | None) -> npt.NDArray[Any]:
    if fixed_length is None:
        return array.decode_raw(kind)
    rows = np.empty((array.size, fixed_length), dtype=np.uint8)
    _core.bytes_copy_rows(array, rows, exact=False)
    return rows.view(kind).reshape((*array.shape, fixed_length // kind.itemsize))


def _parsed(parse: Callable[[Any, int], _Result], records: Any, names: _Names | None, threads: int) -> _Result:
    """What `parse` makes of records; an error gives the record's name."""
    given = [] if names is None else list(plain(names))
    if given and len(given) != len(records):
        raise InvalidArgumentError(
            f"Expected names have the same shape as serialized: {len(given)} names for {len(records)} records"
        )
    try:
        return parse(records, threads)
    except InvalidArgumentError as error:
        for number, name in enumerate(given):
            if _fails(parse, records[number : number + 1]):  # the first that fails raised the error
                raise _named(error, name) from None
        raise


def _parsed_one(parse: Callable[[Any], _Result], record: object, name: Key | _Names | None) -> _Result:
    try:
        return parse(record)
    except InvalidArgumentError as error:
        given = np.asarray(plain(name), dtype=object)
        if given.size != 1 or given.item() is None:
            raise
        raise _named(error, given.item()) from None


def _made_up(like: Callable[..., bytes], *features: Features | None) -> bytes:
    """A record that fits the features, if the one that does not is made up; else the error goes on."""
    length = sample_length()
    if length is None:
        raise
    return like(*features, length)


def _fails(parse: Callable[[Any, int], object], records: object) -> bool:
    try:
        parse(records, 1)
    except InvalidArgumentError:
        return True
    return False


def _named(error: Exception, name: object) -> InvalidArgumentError:
    text = name.decode(errors="replace") if isinstance(name, bytes) else name
    return InvalidArgumentError(f"Name: {text}, {error}")


def _vector(serialized: Any) -> Any:
    shape = getattr(serialized, "shape", None)
    nested = isinstance(serialized, list | tuple) and bool(serialized) and isinstance(serialized[0], list | tuple)
    if nested or (shape is not None and len(shape) != 1):
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got {'nested sequences' if nested else f'shape {shape}'}"
        )
    return serialized
