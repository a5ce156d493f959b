"""Methods of Dataset that create datasets of values, numbers and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ..._core import RecordBatch
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...values.columns.bytes_array import BytesArray
from ...values.columns.conversion import as_array
from ...values.elements.nests import leaves, map_leaves, normalize, spec_of
from ...values.elements.owned import copied, renewed, snapshot
from ...values.elements.specs import TensorSpec
from ..fits import fitted, is_composite, known, lengths_of
from ..functions import guarded, name_of
from ..handle import Handle, OtherDataset, SameDataset, T
from ..nodes.base.node import Node
from ..nodes.base.turns import InTurn
from ..nodes.blocks.iterators import RangeBlocks
from ..nodes.sources.values import Generated, Specified, slices
from ..numbers import INFINITE


class Sources(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> OtherDataset:
        """Return a dataset of the rows of arrays.

        Args:
          tensors: a structure (tuples, dicts) of arrays, lists, BytesArray, RecordBatch, SparseTensor, RaggedTensor,
            all of one length. Arrays are copied, so that later changes don't show; read-only ones, such as a
            read-only mapping of a file, are not. Rows are read-only.

        Raises:
          errors.InvalidArgumentError: lengths differ, or a component is a scalar.

        >>> import tfrecord_fast as tf
        >>> rows = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})
        >>> [(int(row["a"]), row["b"]) for row in rows]
        [(1, b'x'), (2, b'y')]
        """
        return cls._other(slices(normalize(tensors), "from_tensor_slices()"))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> OtherDataset:
        """Return a dataset of one element, whose arrays are read-only, and copied as by `from_tensor_slices`."""
        make = partial(map, renewed, [snapshot(normalize(tensors))])
        return cls._other(Generated(make, "from_tensors()", 1, seen_again=True, shareable=True))

    @classmethod
    def range(cls, *args: int, output_type: Any = None, name: str | None = None) -> OtherDataset:
        """Return the numbers of Python's range, int64 by default.

        Raises:
          errors.InvalidArgumentError: not 1 to 3 arguments, an argument is not a scalar, the step is 0, or output_type
            is not a type of numbers.
        """
        if not 1 <= len(args) <= 3:
            raise InvalidArgumentError(f"range() takes 1 to 3 numbers, got {len(args)}")
        arrays = [as_array(arg, np.int64, "range()") for arg in args]
        if any(array.ndim for array in arrays):
            raise InvalidArgumentError(f"range() takes scalars, got {args!r:.200}")
        if len(arrays) == 3 and not arrays[2]:
            raise InvalidArgumentError("range(): the step must be a non-zero integer")
        numbers = range(*map(int, arrays))
        dtype: Any = np.int64 if output_type is None else as_dtype(output_type).as_numpy_dtype
        if dtype in (np.object_, np.bool_):
            raise InvalidArgumentError(f"range() has numbers, so output_type can't be {as_dtype(output_type).name}")
        label = f"range({', '.join(str(arg) for arg in args)})"
        make, spec = partial(map, dtype, numbers), spec_of(dtype(0))
        make_blocks = partial(RangeBlocks, numbers, dtype)
        return cls._other(Generated(make, label, len(numbers), shareable=True, spec=spec, make_blocks=make_blocks))

    @classmethod
    def counter(cls, start: int = 0, step: int = 1, dtype: Any = None, name: str | None = None) -> OtherDataset:
        """Return endless numbers, int64 by default."""
        scalar: Any = np.int64 if dtype is None else as_dtype(dtype).as_numpy_dtype
        label = f"counter({start}, {step})"
        return cls._other(Generated(lambda: map(scalar, count(start, step)), label, INFINITE, shareable=True))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> OtherDataset:
        """Return the elements of `generator(*args)`, which is called for each iteration.

        Args:
          output_types: a structure of dtypes, to which elements are cast.
          output_signature: a structure of TensorSpec, or anything else with a dtype. Without either, elements keep
            their dtypes.
          output_shapes: a structure of shapes that elements must have; None for any length, or any shape.

        Raises:
          errors.InvalidArgumentError: when iterated: an element has another shape, or can't be cast to its dtype.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        arguments = () if args is None else tuple(copied(normalize(arg)) for arg in args)  # later changes don't show
        dtypes, shapes = output_types, output_shapes
        label = f"from_generator({name_of(generator)})"
        if output_signature is not None:
            signature = tuple(output_signature) if isinstance(output_signature, list) else output_signature
            dtypes = map_leaves(lambda spec: spec.dtype, signature)
            shapes = map_leaves(lambda spec: getattr(spec, "shape", None), signature)
            are_plain = all(type(known(spec)) is TensorSpec for spec in leaves(signature))
        if dtypes is not None:
            shapes = map_leaves(lambda _, shape=None: lengths_of(shape), dtypes, *([] if shapes is None else [shapes]))

        def converted(element: Any) -> Any:
            if dtypes is None:
                return copied(normalize(element))
            checked = map_leaves(_checked, dtypes, shapes, element)
            if output_signature is None or (are_plain and not any(map(is_composite, leaves(checked)))):
                return checked
            return fitted(signature, label, checked)

        def elements() -> Iterator[Any]:  # a map, because a generator would end at an error
            return map(guarded(converted), InTurn(iter(guarded(generator)(*map(copied, arguments)))))

        node: Node = Generated(elements, label, calls_functions=True, shareable=True)
        if output_signature is not None:
            node = specified(node, signature)
        elif dtypes is not None:
            specs = map_leaves(_spec, dtypes, shapes)
            node = node if None in leaves(specs) else Specified(node, specs)
        return cls._other(node)


def specified(node: Node, signature: Any) -> Node:
    """Return the node with the specs of its elements, or the node itself if a spec has no shape."""
    specs = map_leaves(known, signature)
    return node if any(spec.shape is None for spec in leaves(specs)) else Specified(node, specs)


def _spec(dtype: Any, shape: tuple[int | None, ...] | None) -> TensorSpec | None:
    return None if shape is None else TensorSpec(shape, as_dtype(dtype))


def _checked(dtype: Any, lengths: tuple[int | None, ...] | None, value: Any) -> Any:
    """Return the value cast to the dtype, after a check of its shape."""
    if is_composite(value):
        return copied(value)
    cast = _cast(dtype, value)
    if cast is value or (isinstance(cast, np.ndarray) and cast.base is not None):
        cast = copied(cast)  # the generator may write to its array again
    if lengths is not None:
        shape = np.shape(cast) if isinstance(cast, bytes) else tuple(cast.shape)
        if len(shape) != len(lengths) or any(
            length not in (None, have) for have, length in zip(shape, lengths, strict=True)
        ):
            raise InvalidArgumentError(
                f"`generator` yielded an element of shape {shape} where an element of shape {lengths} was expected."
            )
    return cast


def _cast(dtype: Any, value: Any) -> Any:
    wanted = as_dtype(dtype).as_numpy_dtype
    actual = type(value)
    if actual is wanted or (actual is bytes and wanted is np.object_):  # shortcuts for the usual cases
        return value
    if actual is int and wanted in (np.int32, np.int64) and -(1 << 31) <= value < 1 << 31:
        return wanted(value)
    if actual is float and wanted in (np.float32, np.float64):
        return wanted(value)
    if actual is np.ndarray and value.ndim and value.dtype.type is wanted is not np.object_:
        return value
    if isinstance(value, BytesArray | RecordBatch) and wanted is np.object_:
        return value
    try:
        array = as_array(normalize(value) if wanted is np.object_ else value, wanted, "the element")
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            "`generator` yielded an element that could not be converted to the expected type. "
            f"The expected type was {as_dtype(dtype).name}, but the yielded element was {value!r:.200}. ({error})"
        ) from None
    return array[()] if array.ndim == 0 else array
