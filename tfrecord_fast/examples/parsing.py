"""Serialized Examples and SequenceExamples to NumPy columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from .. import _core
from ..base.threads import thread_count
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..values.bytes_array import BytesArray
from ..values.conversion import encoded, plain
from .plans import example_plan, sequence_plan

__all__ = [
    "decode_raw",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]

Features = Mapping[Any, Any]
Result = TypeVar("Result")


def parse_example(
    serialized: Any,
    features: Features,
    example_names: Any = None,
    name: str | None = None,
    *,
    num_threads: int | None = None,
) -> dict[Any, Any]:
    """Parses a batch of serialized Examples.

    Args:
      serialized: a RecordBatch, or a sequence or array of n bytes-like objects; or one bytes-like object, which is
        parsed as by `parse_single_example`.
      features: dict of keys to FixedLenFeature, VarLenFeature, SparseFeature, RaggedFeature and
        FixedLenSequenceFeature (with allow_missing=True), ours or TensorFlow's. Compiled once for each dict.
      example_names: one for each record, or none: an error tells the record's.
      name: TensorFlow's; without effect.
      num_threads: None: as many as the batch is worth.

    Returns:
      dict of keys to columns, in TensorFlow's order: an ndarray `[n, *shape]` or a BytesArray for FixedLenFeature,
      `[n, longest, *shape]` for FixedLenSequenceFeature, a SparseTensor for VarLenFeature and SparseFeature, a
      RaggedTensor for RaggedFeature.

    Raises:
      ValueError: features that cannot be parsed.
      errors.InvalidArgumentError: a record does not fit the features; names the record, its file where known, and
        the feature.
      TypeError: what is not bytes-like among the records.

    Semantics: tf.io.parse_example, but for "Differences from TensorFlow" in the README.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    plan = example_plan(features)
    serialized = plain(serialized)
    if _is_scalar(serialized):
        return _parsed_one(plan.single, _scalar(serialized), example_names)
    return _parsed(plan.batch, _vector(serialized), example_names, thread_count(num_threads))


def parse_single_example(
    serialized: Any, features: Features, example_names: Any = None, name: str | None = None
) -> dict[Any, Any]:
    """Parses one serialized Example.

    Args:
      serialized: bytes-like.
      features: as of `parse_example`.

    Returns:
      dict of keys to values: a NumPy scalar or bytes for a FixedLenFeature of shape [], else an ndarray or
      BytesArray of that shape; `[steps, *shape]` for FixedLenSequenceFeature; a SparseTensor of one dimension for
      VarLenFeature; a 1-D array, or with partitions a RaggedTensor, for RaggedFeature.

    Raises: as `parse_example`.
    """
    if not features:
        what = "None" if features is None else "empty"
        raise ValueError(f"Invalid argument: features cannot be {what}.")
    if type(serialized) is not bytes:
        serialized = plain(serialized)
        if not _is_scalar(serialized):
            raise ValueError("Input serialized must be a scalar")
        serialized = _scalar(serialized)
    if example_names is None:
        return example_plan(features).single(serialized)
    return _parsed_one(example_plan(features).single, serialized, example_names)


def parse_sequence_example(
    serialized: Any,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_names: Any = None,
    name: str | None = None,
    *,
    num_threads: int | None = None,
) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, Any]]:
    """Parses a batch of serialized SequenceExamples.

    Args:
      serialized: as of `parse_example`.
      context_features: dict of keys to FixedLenFeature, VarLenFeature and RaggedFeature.
      sequence_features: dict of keys to FixedLenSequenceFeature, VarLenFeature and RaggedFeature.
      example_names: one for each record, or none: an error tells the record's.
      name: TensorFlow's; without effect.
      num_threads: None: as many as the batch is worth.

    Returns:
      (context, sequences, lengths): the columns of the contexts as of `parse_example`; of the feature lists an
      ndarray or BytesArray `[n, longest, *shape]` padded with 0 or b"" for FixedLenSequenceFeature, a SparseTensor
      `[n, longest, longest step]` for VarLenFeature, a RaggedTensor with two ragged dimensions for RaggedFeature;
      and for the dense ones the number of steps, int64 `[n]`.

    Raises: as `parse_example`. Semantics: tf.io.parse_sequence_example.
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    plan = sequence_plan(context_features, sequence_features)
    serialized = plain(serialized)
    if _is_scalar(serialized):
        return _parsed_one(plan.single, _scalar(serialized), example_names)
    return _parsed(plan.batch, _vector(serialized), example_names, thread_count(num_threads))


def parse_single_sequence_example(
    serialized: Any,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Parses one serialized SequenceExample.

    Returns:
      (context, sequences): without the batch dimension of `parse_sequence_example`.

    Raises: as `parse_example`.
    """
    if not (context_features or sequence_features):
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    serialized = plain(serialized)
    if not _is_scalar(serialized):
        raise ValueError("Input serialized must be a scalar")
    plan = sequence_plan(context_features, sequence_features)
    return _parsed_one(plan.single, _scalar(serialized), example_name)[:2]


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> np.ndarray[Any, Any]:
    """The bytes of strings as numbers.

    Args:
      input_bytes: bytes, a BytesArray, or a (nested) sequence of bytes, all of one size.
      out_type: numeric dtype.
      little_endian: the byte order of the strings.
      fixed_length: bytes taken of each string: longer ones are cut, shorter ones padded with zeros; a multiple of
        the dtype's size. None: all of them.

    Returns:
      An ndarray `[*shape of input_bytes, number of values]`.

    Raises:
      errors.InvalidArgumentError: sizes that differ, or do not divide by the dtype's size.
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
    scalar = _is_scalar(input_bytes)
    if scalar:
        array = BytesArray([_scalar(input_bytes)])
    else:
        array = input_bytes if isinstance(input_bytes, BytesArray) else BytesArray(input_bytes)
    decoded = _decode(array, kind, fixed_length)
    if not little_endian:
        decoded = decoded.byteswap()
    return decoded[0] if scalar else decoded


def _decode(array: BytesArray, kind: np.dtype[Any], fixed_length: int | None) -> np.ndarray[Any, Any]:
    if fixed_length is None:
        return array.decode_raw(kind)
    rows = np.empty((array.size, fixed_length), dtype=np.uint8)
    _core._bytes_copy_rows(array, rows, exact=False)
    return rows.view(kind).reshape((*array.shape, fixed_length // kind.itemsize))


def _parsed(parse: Callable[[Any, int], Result], records: Any, names: Any, threads: int) -> Result:
    """What `parse` makes of records, with str among them as UTF-8; an error tells the record's name."""
    names = [] if names is None else list(plain(names))
    if names and len(names) != len(records):
        raise InvalidArgumentError(
            f"Expected names have the same shape as serialized: {len(names)} names for {len(records)} records"
        )
    try:
        return parse(records, threads)
    except TypeError:
        texts = encoded(records)
        if texts is None:
            raise
        return _parsed(parse, texts, names, threads)
    except InvalidArgumentError as error:
        for number, name in enumerate(names):
            if _fails(parse, records[number : number + 1]):  # the first that does is the error's
                raise _named(error, name) from None
        raise


def _parsed_one(parse: Callable[[Any], Result], record: Any, name: Any) -> Result:
    try:
        return parse(record)
    except InvalidArgumentError as error:
        given = np.asarray(plain(name), dtype=object)
        if given.size != 1 or given.item() is None:
            raise
        raise _named(error, given.item()) from None


def _fails(parse: Callable[[Any, int], Any], records: Any) -> bool:
    try:
        parse(records, 1)
    except InvalidArgumentError:
        return True
    return False


def _named(error: Exception, name: Any) -> InvalidArgumentError:
    text = name.decode(errors="replace") if isinstance(name, bytes) else name
    return InvalidArgumentError(f"Name: {text}, {error}")


def _is_scalar(serialized: Any) -> bool:
    if isinstance(serialized, bytes | str | bytearray | memoryview):
        return True
    return isinstance(serialized, np.ndarray) and serialized.ndim == 0


def _scalar(serialized: Any) -> Any:
    if isinstance(serialized, np.ndarray):
        serialized = serialized.item()
    return serialized.encode() if isinstance(serialized, str) else serialized


def _vector(serialized: Any) -> Any:
    shape = getattr(serialized, "shape", None)
    nested = isinstance(serialized, list | tuple) and bool(serialized) and isinstance(serialized[0], list | tuple)
    if nested or (shape is not None and len(shape) != 1):
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got {'nested sequences' if nested else f'shape {shape}'}"
        )
    if isinstance(serialized, np.ndarray) and serialized.dtype.kind == "U":  # whose buffer is UTF-32
        return encoded(serialized)
    return serialized
