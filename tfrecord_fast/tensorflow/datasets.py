"""`tf.data` of the face: the package's datasets, whose elements are tensors, as are the arguments of functions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import Iteration
from ..data.dataset import Dataset as PlainDataset
from ..data.handle import node_of
from ..data.nodes.node import Node
from ..data.other_files import FixedLengthRecordDataset as PlainFixed
from ..data.other_files import TextLineDataset as PlainLines
from ..data.records import TFRecordDataset as PlainRecords
from ..errors import OutOfRangeError
from ..values.elements.nests import kind_of, map_leaves, normalize
from . import border
from .border import lowered, raised
from .describing import name_of_dataset, spec_shown
from .optional import Optional
from .specs import spec_of
from .training import teach_keras

__all__ = [
    "Dataset",
    "Elements",
    "FixedLengthRecordDataset",
    "TFRecordDataset",
    "TextLineDataset",
    "function_of",
    "plain_of",
]


def function_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """A script's function, which takes and gives tensors, as one of the package's values."""
    if not callable(function):
        raise TypeError(f"expected a function, got {function!r}")

    def of_values(*args: Any) -> Any:
        made = function(*map(raised, args))
        return lowered(tuple(made) if type(made) is list else made)  # there, a list at the top is a tuple

    of_values.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return of_values


def _predicate_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `function_of`; what the function gives has to be one bool. One that forgets its `return` is no filter."""
    of_values = function_of(function)

    @functools.wraps(of_values)
    def tested(*args: Any) -> Any:
        made = of_values(*args)
        if made is True or made is False:
            return made
        if getattr(made, "dtype", None) != np.bool_ or made.shape != ():
            raise ValueError(f"`predicate` must return a `tf.bool` scalar tensor, but it returned {made!r}")
        return made

    return tested


def _scan_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `function_of`; the next state has to be like the state."""
    of_values = function_of(function)

    @functools.wraps(of_values)
    def scanned(state: Any, element: Any) -> Any:
        made = of_values(state, element)
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(f"`scan_func` must return a pair of a state and a result, got {made!r}")
        return _like_state(state, made[0]), made[1]

    return scanned


def _like_state(state: Any, made: Any) -> Any:
    made = normalize(made)
    kinds = kind_of(state), kind_of(made)
    if kinds[0] != kinds[1]:
        raise TypeError(f"the state must stay of its structure and dtypes: it was {kinds[0]}, the next is {kinds[1]}")
    return made


def plain_of(dataset: Dataset) -> PlainDataset[Any]:
    """The same dataset, of the package's values."""
    return PlainDataset(node_of(dataset))


class Elements(Iteration):  # type: ignore[type-arg]
    """An iterator over tensors; after an error, `next()` continues with the next element."""

    _dataset: Dataset

    def __new__(cls, dataset: Dataset, elements: Iterator[Any]) -> Elements:
        """Over the tensors of these elements of the package."""
        made = super().__new__(cls, map(raised, elements))
        made._dataset = dataset
        return made

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle an iterator over a dataset")

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Raises:
          errors.OutOfRangeError: there is none.
        """
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self) -> Any:
        """The next element, or nothing."""
        try:
            return Optional(next(self), element_spec=self.element_spec)
        except StopIteration:
            return Optional(element_spec=self.element_spec)

    @property
    def element_spec(self) -> Any:
        """As of the dataset."""
        return self._dataset.element_spec

    @property
    def initializer(self) -> None:
        """Nothing to run: the iterator stands at the beginning."""
        return None


class Dataset(PlainDataset[Any]):
    """Elements that can be iterated any number of times: structures of tensors.

    The methods are those of `tfrecord_fast.data.Dataset`. Functions that they are given take and give tensors.
    """

    def __init__(self, node: Node | None = None) -> None:
        super().__init__(node)
        if "keras" in sys.modules:
            teach_keras(Dataset, plain_of)

    def _same(self, node: Node) -> Dataset:
        return Dataset(node)

    @staticmethod
    def _other(node: Node) -> Dataset:
        return Dataset(node)

    def _shown(self, elements: Iterator[Any]) -> Any:
        return Elements(self, elements)

    if TYPE_CHECKING:

        def __iter__(self) -> Elements: ...

    def as_numpy_iterator(self) -> Iterator[Any]:
        return plain_of(self).as_numpy_iterator()

    @property
    def element_spec(self) -> Any:
        return spec_of(plain_of(self).element_spec)

    def __repr__(self) -> str:
        return f"<{name_of_dataset(self)} element_spec={spec_shown(self)}>"

    @property
    def output_shapes(self) -> Any:
        """The shapes of the components, as in TensorFlow 1."""
        return map_leaves(lambda spec: spec.shape, self.element_spec)

    @property
    def output_types(self) -> Any:
        """The dtypes of the components, as in TensorFlow 1."""
        return map_leaves(lambda spec: spec.dtype, self.element_spec)

    @property
    def output_classes(self) -> Any:
        """The types of the components, as in TensorFlow 1."""
        return map_leaves(lambda spec: spec.value_type, self.element_spec)

    def cardinality(self) -> Any:
        return raised_number(super().cardinality())

    def __len__(self) -> int:
        return len(plain_of(self))

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        return Dataset(node_of(plain_of(self).with_options(options)))

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        of_values = function_of(reduce_func)

        def reduced(state: Any, element: Any) -> Any:
            return _like_state(state, of_values(state, element))

        return raised(plain_of(self).reduce(lowered(initial_state), reduced))

    def get_single_element(self, name: str | None = None) -> Any:
        return raised(plain_of(self).get_single_element())

    def group_by_window(
        self,
        key_func: Any,
        reduce_func: Any,
        window_size: Any = None,
        window_size_func: Any = None,
        name: str | None = None,
    ) -> Dataset:
        size_of = None if window_size_func is None else function_of(window_size_func)

        def reduce(key: Any, group: Any) -> Any:
            return reduce_func(raised(key), group)

        made = PlainDataset.group_by_window(self, function_of(key_func), reduce, lowered(window_size), size_of)
        return Dataset(node_of(made))

    def bucket_by_sequence_length(self, element_length_func: Any, *args: Any, **kwargs: Any) -> Dataset:
        plain: Any = plain_of(self)
        given = {name: lowered(value) for name, value in kwargs.items()}
        made = plain.bucket_by_sequence_length(function_of(element_length_func), *map(lowered, args), **given)
        return Dataset(node_of(made))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        return Dataset(node_of(PlainDataset.list_files(lowered(file_pattern), lowered(shuffle), lowered(seed))))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        def elements(*arguments: Any) -> Iterator[Any]:
            given = [raised(argument).numpy() for argument in arguments]
            return map(lowered, generator(*given))  # a map: an error is not the end

        elements.__qualname__ = getattr(generator, "__qualname__", type(generator).__name__)
        given = None if args is None else tuple(map(normalize, map(lowered, args)))
        source: Any = elements if callable(generator) else generator
        made = PlainDataset.from_generator(source, output_types, output_shapes, given, output_signature)
        return Dataset(node_of(made))


def raised_number(number: int) -> Any:
    """An int64 tensor of a number of Python's."""
    return raised(np.int64(number))


def _with_function(name: str, wrap: Callable[[Any], Any] = function_of) -> None:
    """Gives the method a function of tensors."""
    method = getattr(PlainDataset, name)

    @functools.wraps(method)
    def of_tensors(self: Dataset, *args: Any, **kwargs: Any) -> Any:
        named = {key: wrap(value) if key in _FUNCTIONS else lowered(value) for key, value in kwargs.items()}
        given = [wrap(value) if callable(value) and not _is_tensor(value) else lowered(value) for value in args]
        return method(self, *given, **named)

    setattr(Dataset, name, of_tensors)


def _with_values(name: str, wrap: Any = None) -> None:
    """Gives the method the package's values for tensors."""
    method = getattr(PlainDataset, name)
    function = getattr(method, "__func__", method)

    @functools.wraps(function)
    def of_tensors(first: Any, *args: Any, **kwargs: Any) -> Any:
        named = {key: lowered(value) for key, value in kwargs.items()}
        return function(first, *map(lowered, args), **named)

    setattr(Dataset, name, of_tensors if wrap is None else wrap(of_tensors))


_FUNCTIONS = {"map_func", "predicate", "scan_func", "reduce_func", "key_func", "window_size_func", "class_func"}


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape")


for _name in ("map", "flat_map", "interleave", "rejection_resample"):
    _with_function(_name)
for _name in ("filter", "take_while"):
    _with_function(_name, _predicate_of)
_with_function("scan", _scan_of)
for _name in ("random", "load"):
    _with_values(_name, classmethod)
_values = (
    "unique save batch padded_batch ragged_batch sparse_batch rebatch shuffle repeat take skip shard prefetch cache "
    "enumerate window"
)
for _name in _values.split():
    _with_values(_name)
for _name in ("from_tensor_slices", "from_tensors", "range", "counter", "zip"):
    _with_values(_name, classmethod)


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as string tensors. The arguments are those of the package's TFRecordDataset."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        given = map(lowered, (filenames, compression_type, buffer_size, num_parallel_reads))
        super().__init__(node_of(PlainRecords(*given, **options)))


class TextLineDataset(Dataset):
    """The lines of text files. The arguments are those of the package's TextLineDataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = {name: lowered(value) for name, value in kwargs.items()}
        super().__init__(node_of(PlainLines(*map(lowered, args), **given)))


class FixedLengthRecordDataset(Dataset):
    """Records of one size. The arguments are those of the package's FixedLengthRecordDataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = {name: lowered(value) for name, value in kwargs.items()}
        super().__init__(node_of(PlainFixed(*map(lowered, args), **given)))


border.on_departure(PlainDataset, lambda dataset: Dataset(node_of(dataset)))
