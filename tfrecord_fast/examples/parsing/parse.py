"""Serialized Examples and SequenceExamples to NumPy columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from .plans import ExamplePlan, SequencePlan, example_plan, sequence_plan
from .sample_records import example_like, sequence_example_like

_Names = Sequence[Key] | npt.NDArray[Any] | Tensor


def parse_example(
    serialized: Records | Record,
    features: Features,
    example_names: _Names | None = None,
    name: str | None = None,
    *,
    num_threads: int | None = None,
    groups: Groups | None = None,
) -> Columns:
    """Parse a batch of serialized Examples.

    Args:
      serialized: n records; or one record, parsed as by `parse_single_example`.
      features: feature classes of this package or of TensorFlow, by key; FixedLenSequenceFeature with
        allow_missing=True. Features are compiled once; a dict of the same features made anew costs nothing.
      example_names: a name for each record, for errors.
      name: ignored, as in TensorFlow.
      num_threads: None for as many as pay off for the batch.
      groups: dict of names to lists of keys. The features of a group are FixedLenFeatures of shape [] and one numeric
        dtype. Their k columns are replaced by one column `[n, k]` under the name of the group, without a copy.

    Returns:
      dict of keys to columns, in TensorFlow's order: an ndarray `[n, *shape]` or a BytesArray for FixedLenFeature,
      `[n, longest, *shape]` for FixedLenSequenceFeature, a SparseTensor for VarLenFeature and SparseFeature, a
      RaggedTensor for RaggedFeature. Groups come after the FixedLenFeatures.

    Raises:
      ValueError: features or groups that cannot be parsed.
      errors.InvalidArgumentError: a record does not fit the features. The error names the feature, the record, and
        its file where known.
      TypeError: a record is not bytes-like.

    Semantics are those of tf.io.parse_example, except as listed in docs/differences.md.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"id": [1, 2], "name": ["a", "b"]})
    >>> features = {"id": tf.FixedLenFeature([], tf.int64), "name": tf.FixedLenFeature([], tf.string)}
    >>> columns = parse_example(records, features)
    >>> columns["id"].tolist(), columns["name"].tolist()
    ([1, 2], [b'a', b'b'])
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    plan = example_plan(features, () if groups is None else frozen_groups(groups))
    columns: Columns = _parse(plan, serialized, example_names, num_threads, example_like, features)
    return columns


def parse_single_example(
    serialized: Record,
    features: Features,
    example_names: Key | None = None,
    name: str | None = None,
    *,
    groups: Groups | None = None,
) -> Columns:
    """Parse one serialized Example.

    Args:
      features, groups: as for `parse_example`.

    Returns:
      dict of keys to values: a NumPy scalar or bytes for a FixedLenFeature of shape [], else an ndarray or
      BytesArray of that shape; `[steps, *shape]` for FixedLenSequenceFeature; a SparseTensor of one dimension for
      VarLenFeature; a 1-D array, or with partitions a RaggedTensor, for RaggedFeature; an ndarray `[k]` for a group.

    Raises: as `parse_example`.

    >>> import tfrecord_fast as tf
    >>> record = tf.train.example({"id": 7}).SerializeToString()
    >>> int(parse_single_example(record, {"id": tf.FixedLenFeature([], tf.int64)})["id"])
    7
    """
    if not features:
        raise ValueError(f"Invalid argument: features cannot be {'None' if features is None else 'empty'}.")
    if not isinstance(serialized, bytes):
        serialized = plain(serialized)
        if not is_one(serialized):
            raise ValueError("Input serialized must be a scalar; parse_example parses a batch")
    single = example_plan(features, () if groups is None else frozen_groups(groups)).single
    try:
        return single(serialized) if example_names is None else _parse_named(single, serialized, example_names)
    except InvalidArgumentError:
        length = sample_length()
        if length is None:
            raise
        return single(example_like(features, length))


def parse_sequence_example(
    serialized: Records | Record,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_names: _Names | None = None,
    name: str | None = None,
    *,
    num_threads: int | None = None,
) -> SequenceColumns:
    """Parse a batch of serialized SequenceExamples.

    Args:
      serialized: as for `parse_example`.
      context_features: FixedLenFeature, VarLenFeature and RaggedFeature.
      sequence_features: FixedLenSequenceFeature, VarLenFeature and RaggedFeature.
      example_names, name, num_threads: as for `parse_example`.

    Returns:
      (context, sequences, lengths). The context columns are as from `parse_example`. A feature list is an ndarray or
      BytesArray `[n, longest, *shape]`, padded with 0 or b"", for FixedLenSequenceFeature; a SparseTensor
      `[n, longest, longest step]` for VarLenFeature; a RaggedTensor with two ragged dimensions for RaggedFeature.
      `lengths` has the number of steps, int64 `[n]`, of each FixedLenSequenceFeature.

    Raises as `parse_example`. Semantics are those of tf.io.parse_sequence_example.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_sequence_examples({"id": [1]}, {"steps": [[[1, 2], [3]]]})
    >>> context, lists, lengths = parse_sequence_example(
    ...     records, {"id": tf.FixedLenFeature([], tf.int64)}, {"steps": tf.RaggedFeature(tf.int64)}
    ... )
    >>> context["id"].tolist(), lists["steps"].to_list()
    ([1], [[[1, 2], [3]]])
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    plan = sequence_plan(context_features, sequence_features)
    features = context_features, sequence_features
    columns: SequenceColumns = _parse(plan, serialized, example_names, num_threads, sequence_example_like, *features)
    return columns


def parse_single_sequence_example(
    serialized: Record,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: Key | None = None,
    name: str | None = None,
) -> tuple[Columns, Columns]:
    """Parse one serialized SequenceExample.

    Returns:
      (context, sequences), without the batch dimension of `parse_sequence_example`.

    Raises as `parse_example`.

    >>> import tfrecord_fast as tf
    >>> (record,) = tf.encode_sequence_examples({"id": [1]}, {"steps": [[[1], [3]]]})
    >>> context, lists = parse_single_sequence_example(
    ...     record, {"id": tf.FixedLenFeature([], tf.int64)}, {"steps": tf.FixedLenSequenceFeature([], tf.int64)}
    ... )
    >>> int(context["id"]), lists["steps"].tolist()
    (1, [1, 3])
    """
    if not (context_features or sequence_features):
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    record: Any = plain(serialized)
    if not is_one(record):
        raise ValueError("Input serialized must be a scalar; parse_sequence_example parses a batch")
    plan = sequence_plan(context_features, sequence_features)
    try:
        return (plan.single(record) if example_name is None else _parse_named(plan.single, record, example_name))[:2]
    except InvalidArgumentError:
        length = sample_length()
        if length is None:
            raise
        return plan.single(sequence_example_like(context_features, sequence_features, length))[:2]


def decode_raw(
    input_bytes: Records | Record | BytesArray | Sequence[Any],
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> npt.NDArray[Any]:
    """Reinterpret the bytes of strings as numbers.

    Args:
      input_bytes: bytes, a BytesArray, or a (nested) sequence of bytes, all of the same size.
      out_type: numeric dtype.
      little_endian: the byte order of the strings.
      fixed_length: the number of bytes to take from each string, a multiple of the dtype's size. Longer strings are
        cut, shorter ones padded with zeros. None: all bytes.

    Returns:
      An ndarray `[*shape of input_bytes, number of values]`.

    Raises:
      errors.InvalidArgumentError: the strings differ in size, or the dtype's size does not divide it.
      TypeError: a value that is not bytes-like.

    >>> decode_raw([b"\\x01\\x00\\x02\\x00"], "int16").tolist()
    [[1, 2]]
    """
    dtype = np.dtype(as_dtype(out_type).as_numpy_dtype)
    if dtype.hasobject:
        raise TypeError("decode_raw needs a numeric out_type")
    if fixed_length is not None:
        if fixed_length <= 0:
            raise ValueError(f"`fixed_length` must be greater than 0. Got: {fixed_length}")
        if fixed_length % dtype.itemsize:
            raise InvalidArgumentError(
                f"`fixed_length` ({fixed_length}) must be a multiple of the size of out_type ({dtype.itemsize})"
            )
    input_bytes = plain(input_bytes)
    scalar = is_one(input_bytes)
    if isinstance(input_bytes, bytes) and input_bytes and not (fixed_length or len(input_bytes) % dtype.itemsize):
        decoded: npt.NDArray[Any] = np.frombuffer(input_bytes, dtype).copy()
        return decoded if little_endian else decoded.byteswap()
    if scalar:
        array = BytesArray([input_bytes])
    else:
        array = input_bytes if isinstance(input_bytes, BytesArray) else BytesArray(input_bytes)
    decoded = _decode(array, dtype, fixed_length)
    if not little_endian:
        decoded = decoded.byteswap()
    return decoded[0] if scalar else decoded


def _decode(array: BytesArray, dtype: np.dtype[Any], fixed_length: int | None) -> npt.NDArray[Any]:
    if fixed_length is None:
        return array.decode_raw(dtype)
    rows = np.empty((array.size, fixed_length), dtype=np.uint8)
    _core.bytes_copy_rows(array, rows, exact=False)
    return rows.view(dtype).reshape((*array.shape, fixed_length // dtype.itemsize))


def _parse(
    plan: ExamplePlan | SequencePlan,
    serialized: Any,
    names: Key | _Names | None,
    num_threads: int | None,
    sample: Callable[..., bytes],
    *features: Features | None,
) -> Any:
    """Parse one record or a batch. `sample(*features, length)` replaces made-up records that do not fit."""
    serialized = plain(serialized)
    try:
        if is_one(serialized):
            return plan.single(serialized) if names is None else _parse_named(plan.single, serialized, names)
        records, threads = _vector(serialized), thread_count(num_threads)
        return plan.batch(records, threads) if names is None else _parse_all_named(plan.batch, records, names, threads)
    except InvalidArgumentError:
        length = sample_length()
        if length is None:
            raise
        record = sample(*features, length)
        return plan.single(record) if is_one(serialized) else plan.batch([record] * len(_vector(serialized)), 1)


def _parse_all_named(parse: Callable[[Any, int], Any], records: Any, names: Any, threads: int) -> Any:
    names = list(plain(names))
    if names and len(names) != len(records):
        raise InvalidArgumentError(
            f"Expected names have the same shape as serialized: {len(names)} names for {len(records)} records"
        )
    try:
        return parse(records, threads)
    except InvalidArgumentError as error:
        for row, name in enumerate(names):
            if _fails(parse, records[row : row + 1]):  # the first that fails raised the error
                raise _named(error, name) from None
        raise


def _parse_named(parse: Callable[[Any], Any], record: object, name: Key | _Names) -> Any:
    try:
        return parse(record)
    except InvalidArgumentError as error:
        names = np.asarray(plain(name), dtype=object)
        if names.size != 1 or names.item() is None:
            raise
        raise _named(error, names.item()) from None


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
