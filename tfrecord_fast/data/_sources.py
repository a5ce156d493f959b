"""Datasets that are not made of others: the static methods of Dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import RecordBatch
from ..errors import InvalidArgumentError
from ..values.conversion import as_array

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["Sources"]


class Sources:
    """Mixed into Dataset."""

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset[Any]:
        """The rows of arrays.

        Args:
          tensors: a structure (tuples, dicts) of arrays, lists, BytesArray, RecordBatch, SparseTensor, RaggedTensor,
            all of one length.

        Raises:
          errors.InvalidArgumentError: lengths that differ, or a scalar.

        >>> import tfrecord_fast as tf
        >>> rows = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})
        >>> [(int(row["a"]), row["b"]) for row in rows]
        [(1, b'x'), (2, b'y')]
        """
        from ..values.nests import column_length, normalize
        from ._nodes import Slices

        element = normalize(tensors)
        return Slices(element, column_length(element), "from_tensor_slices()")

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset[Any]:
        """One element."""
        from ..values.nests import normalize
        from ._nodes import Generated

        element = normalize(tensors)
        return Generated(partial(iter, [element]), "from_tensors()", 1)

    @staticmethod
    def range(*args: int, output_type: Any = None, name: str | None = None) -> Dataset[Any]:
        """Numbers as of Python's range, int64 by default."""
        from ..dtypes import as_dtype
        from ._nodes import Generated

        numbers = range(*(int(as_array(arg, np.int64, "range()").item()) for arg in args))
        kind: Any = np.int64 if output_type is None else as_dtype(output_type).as_numpy_dtype
        text = ", ".join(str(arg) for arg in args)
        return Generated(partial(map, kind, numbers), f"range({text})", len(numbers))

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = None, name: str | None = None) -> Dataset[Any]:
        """Numbers without end, int64 by default."""
        from itertools import count

        from ..dtypes import as_dtype
        from ._nodes import Generated

        kind: Any = np.int64 if dtype is None else as_dtype(dtype).as_numpy_dtype
        return Generated(lambda: map(kind, count(start, step)), f"counter({start}, {step})", -1)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """What `generator(*args)` yields, called anew for each iteration.

        Args:
          output_types: a structure of dtypes that elements are cast to.
          output_signature: the same, of TensorSpec or anything else with a dtype. Neither: as they come.
          output_shapes: a structure of shapes that elements must have; None for a length, or a shape, of any kind.

        Raises:
          errors.InvalidArgumentError: when iterated: an element that cannot be converted to its dtype, or is of
            another shape.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        from ..values.nests import map_leaves, normalize
        from ._nodes import Generated
        from .functions import name_of

        wanted, shapes = output_types, output_shapes
        if output_signature is not None:
            signature = _as_structure(output_signature)
            wanted = map_leaves(lambda spec: spec.dtype, signature)
            shapes = map_leaves(lambda spec: getattr(spec, "shape", None), signature)
        if wanted is not None:
            shapes = map_leaves(lambda _: None, wanted) if shapes is None else map_leaves(_lengths, wanted, shapes)

        def elements() -> Iterator[Any]:
            for element in generator(*(args or ())):
                if wanted is None:
                    yield normalize(element)
                else:
                    yield map_leaves(_checked, wanted, shapes, element)

        return Generated(elements, f"from_generator({name_of(generator)})", -2)

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset[bytes]:
        """The names of the files that match.

        Args:
          file_pattern: a glob pattern, or a list of them.
          shuffle: True or None: in a random order, another each time; False: sorted.
          seed: makes the order repeatable.

        Raises:
          errors.InvalidArgumentError: no file matches.
        """
        from ..files.file_system import glob
        from ..values.nests import normalize
        from ._nodes import Generated

        patterns = normalize(file_pattern)
        found = glob([patterns] if isinstance(patterns, bytes) else list(patterns))
        if not found:
            raise InvalidArgumentError(f"No files matched pattern: {file_pattern}")
        names = [name.encode() if isinstance(name, str) else name for name in sorted(found)]
        dataset = Generated(partial(iter, names), f"list_files({len(names)} files)", len(names))
        dataset.of_paths = True
        return dataset if shuffle is False else dataset.shuffle(len(names), seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset[Any]:
        """Elements of several datasets side by side, up to the end of the shortest.

        Args:
          *args: datasets, or one structure (tuples, dicts) of them; `datasets` is the same by name.

        >>> import tfrecord_fast as tf
        >>> pairs = tf.data.Dataset.zip(tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12))
        >>> [(int(a), int(b)) for a, b in pairs]
        [(0, 10), (1, 11)]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        from ._joins import Zip

        return Zip(datasets if datasets is not None else args[0] if len(args) == 1 else args)

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Dataset[Any]:
        """The next element of the dataset whose number comes next in `choice_dataset`.

        Args:
          stop_on_empty_dataset: ends where a dataset that is chosen has no more elements; else it is passed over.
        """
        from ._nodes import Generated

        def elements() -> Iterator[Any]:
            iterators = [iter(dataset) for dataset in datasets]
            for choice in choice_dataset:
                try:
                    yield next(iterators[int(choice)])
                except StopIteration:
                    if stop_on_empty_dataset:
                        return

        return Generated(elements, f"choose_from_datasets({len(datasets)})", -2)

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset[Any]:
        """Elements of datasets drawn at random, by `weights` (equal ones by default)."""
        import random

        from ._nodes import Generated

        chances = [1.0] * len(datasets) if weights is None else [float(weight) for weight in weights]
        if len(chances) != len(datasets):
            raise InvalidArgumentError(f"{len(chances)} weights for {len(datasets)} datasets")

        def elements() -> Iterator[Any]:
            draw = random.Random(seed)
            left = {number: iter(dataset) for number, dataset in enumerate(datasets) if chances[number] > 0}
            while left:
                [number] = draw.choices(list(left), [chances[number] for number in left])
                try:
                    yield next(left[number])
                except StopIteration:
                    if stop_on_empty_dataset:
                        return
                    del left[number]

        return Generated(elements, f"sample_from_datasets({len(datasets)})", -2)


def _as_structure(signature: Any) -> Any:
    return tuple(signature) if isinstance(signature, list) else signature


def _lengths(_: Any, shape: Any) -> tuple[int | None, ...] | None:
    """A shape as a tuple; None where its rank is not known."""
    if shape is None or getattr(shape, "rank", 0) is None:
        return None
    given = shape.as_list() if hasattr(shape, "as_list") else shape
    if not isinstance(given, Iterable):
        return None
    return tuple(None if length is None or length == -1 else int(length) for length in given)


def _checked(dtype: Any, lengths: tuple[int | None, ...] | None, value: Any) -> Any:
    """The value as that dtype, of that shape."""
    if hasattr(value, "row_splits"):
        return value
    made = _cast(dtype, value)
    if lengths is not None:
        shape = np.shape(made) if isinstance(made, bytes) else tuple(made.shape)
        if len(shape) != len(lengths) or any(
            length not in (None, have) for have, length in zip(shape, lengths, strict=True)
        ):
            raise InvalidArgumentError(
                f"`generator` yielded an element of shape {shape} where an element of shape {lengths} was expected."
            )
    return made


def _cast(dtype: Any, value: Any) -> Any:
    from ..dtypes import as_dtype
    from ..values.bytes_array import BytesArray
    from ..values.nests import normalize

    wanted = as_dtype(dtype).as_numpy_dtype
    kind = type(value)
    if kind is wanted or (kind is bytes and wanted is np.object_):  # quick ways for what is usual
        return value
    if kind is int and wanted in (np.int32, np.int64) and -(1 << 31) <= value < 1 << 31:
        return wanted(value)
    if kind is float and wanted in (np.float32, np.float64):
        return wanted(value)
    if kind is np.ndarray and value.ndim and value.dtype.type is wanted is not np.object_:
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
