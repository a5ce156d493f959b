"""Datasets of `tfrecord_fast.data` whose elements are tensors, as are the arguments of their functions."""

from __future__ import annotations

import functools
import sys
from collections import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.dataset import Dataset as PlainDataset
from ...data.files.other_files import FixedLengthRecordDataset as PlainFixed
from ...data.files.other_files import TextLineDataset as PlainLines
from ...data.files.records import TFRecordDataset as PlainRecords
from ...data.handle import DatasetIterator, node_of
from ...data.nodes.base.node import Node, Of
from ...data.nodes.elements.maps import Filter, Map
from ...data.nodes.sources.values import Specified
from ...values.elements.nests import kind_of, map_leaves, normalize
from ..blocks.calls import in_block
from ..blocks.frames import needs_records
from ..blocks.functions import OnBlocks
from ..dataset_methods import teach_keras
from ..tensors.tensor_specs import as_spec
from ..tensors.wrapping import register_wrapper, unwrap, wrap
from .bindings import bound
from .optional import Optional
from .returned import check_tensors


def plain_dataset(dataset: Dataset) -> PlainDataset[Any]:
    """Return the same dataset with plain values for elements."""
    return PlainDataset(node_of(dataset))


class Iterator(DatasetIterator[Any]):
    """An iterator over tensors; after an error, `next()` continues with the next element."""

    _dataset: Dataset

    def __new__(cls, dataset: Dataset, elements: abc.Iterator[Any]) -> Iterator:
        """Iterate over plain elements, as tensors."""
        iterator = super().__new__(cls, map(wrap, elements))
        iterator._dataset = dataset
        return iterator

    def get_next_as_optional(self) -> Optional:
        """Return the next element as an Optional, which has no value at the end."""
        try:
            return Optional(self.element_spec, next(self))
        except StopIteration:
            return Optional.empty(self.element_spec)

    @property
    def element_spec(self) -> Any:
        """The dataset's `element_spec`."""
        return self._dataset.element_spec

    @property
    def initializer(self) -> None:
        """None: an iterator needs no initialization."""
        return None


class Dataset(PlainDataset[Any]):
    """Elements that can be iterated any number of times: structures of tensors.

    The methods are those of `tfrecord_fast.data.Dataset`. The functions that they take are called with tensors.
    """

    def __init__(self, node: Node | None = None) -> None:
        if in_block():
            raise needs_records("a dataset is made for each record")
        super().__init__(node)
        if "keras" in sys.modules:
            teach_keras()

    def _same(self, node: Node) -> Dataset:
        return Dataset(node)

    @staticmethod
    def _other(node: Node) -> Dataset:
        return Dataset(node)

    def _shown(self, elements: abc.Iterator[Any]) -> Any:
        return Iterator(self, elements)

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator: ...

    def as_numpy_iterator(self) -> DatasetIterator[Any]:
        return plain_dataset(self).as_numpy_iterator()

    @property
    def element_spec(self) -> Any:
        return as_spec(plain_dataset(self).element_spec)

    def __repr__(self) -> str:
        reason = _reason_for_records(node_of(self))
        alone = "" if reason is None else f", record by record because of {reason}"
        return f"<{_dataset_name(self)} element_spec={_spec_text(self)}{alone}>"

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
        return wrap(np.int64(super().cardinality()))

    def __len__(self) -> int:
        return len(plain_dataset(self))

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        return Dataset(node_of(plain_dataset(self).with_options(options)))

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        function = _unwrap_function(reduce_func)

        def reduce(state: Any, element: Any) -> Any:
            return _checked_state(state, function(state, element))

        return wrap(plain_dataset(self).reduce(unwrap(initial_state), reduce))

    def get_single_element(self, name: str | None = None) -> Any:
        return wrap(plain_dataset(self).get_single_element())

    def group_by_window(
        self,
        key_func: Any,
        reduce_func: Any,
        window_size: Any = None,
        window_size_func: Any = None,
        name: str | None = None,
    ) -> Dataset:
        size_func = None if window_size_func is None else _unwrap_function(window_size_func)

        def reduce(key: Any, group: Any) -> Any:
            return reduce_func(wrap(key), group)

        groups = PlainDataset.group_by_window(self, _unwrap_function(key_func), reduce, unwrap(window_size), size_func)
        return Dataset(node_of(groups))

    def bucket_by_sequence_length(self, element_length_func: Any, *args: Any, **kwargs: Any) -> Dataset:
        plain: Any = plain_dataset(self)
        function = _unwrap_function(element_length_func)
        batches = plain.bucket_by_sequence_length(function, *map(unwrap, args), **unwrap(kwargs))
        return Dataset(node_of(batches))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        return Dataset(node_of(PlainDataset.list_files(unwrap(file_pattern), unwrap(shuffle), unwrap(seed))))

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
        def elements(*arguments: Any) -> abc.Iterator[Any]:
            arrays = [wrap(argument).numpy() for argument in arguments]
            return map(unwrap, generator(*arrays))  # a map continues after an error

        elements.__qualname__ = getattr(generator, "__qualname__", type(generator).__name__)
        values = None if args is None else tuple(map(normalize, map(unwrap, args)))
        source: Any = elements if callable(generator) else generator
        dataset = PlainDataset.from_generator(source, output_types, output_shapes, values, output_signature)
        return Dataset(node_of(dataset))


# ---- `repr`, as TensorFlow has it ----

# Names by the first word of a dataset's label; other classes are named after that word.
_NAMES = {
    "cache": "CacheDataset",
    "choose_from_datasets": "_DirectedInterleaveDataset",
    "enumerate": "_ZipDataset",
    "from_generator": "_FlatMapDataset",
    "from_tensor_slices": "_TensorSliceDataset",
    "from_tensors": "_TensorDataset",
    "part": "_ShardDataset",
    "ragged_batch": "_BatchDataset",
    "sample_from_datasets": "_DirectedInterleaveDataset",
    "snapshot": "_MapDataset",
    "sparse_batch": "_DenseToSparseBatchDataset",
    "": "_OptionsDataset",
}
_FILES = ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")


def _dataset_name(dataset: Any) -> str:
    """Return the name of TensorFlow's class for such a dataset."""
    if type(dataset).__name__ in _FILES:
        return f"{type(dataset).__name__}V2"
    node = node_of(dataset)
    while isinstance(node, Specified):
        node = node.input
    label = node.label().partition("(")[0]
    if label in _NAMES:
        return _NAMES[label]
    if label in _FILES:
        return f"{label}V2"
    parallel = "Parallel" if isinstance(node, Map) and node.threads else ""
    return f"_{parallel}{''.join(word.capitalize() for word in label.split('_'))}Dataset"


def _reason_for_records(node: Node) -> str | None:
    """Return why a function of the dataset runs record by record; None if each runs on blocks, or has not run."""
    while True:
        if isinstance(node, Map | Filter):
            reason: str | None = getattr(getattr(node.function, "on_blocks", None), "reason", None)
            if reason is not None:
                return reason
        if not isinstance(node, Of):
            return None
        node = node.input


def _spec_text(dataset: Any) -> str:
    """Return the text of a dataset's element_spec, or the class of the error that hides it: `repr` does not raise."""
    try:
        return repr(dataset.element_spec)
    except Exception as error:
        return f"<unknown: {type(error).__name__}>"


# ---- Methods that take functions or values ----


def _unwrap_function(function: Callable[..., Any], is_checked: bool = False) -> Callable[..., Any]:
    """Return a script's function on tensors as a function on plain values; check its first result, or none."""
    if not callable(function):
        raise TypeError(f"expected a function, got {function!r}")
    function = bound(function)

    def call(*args: Any) -> Any:
        nonlocal is_checked
        result = function(*map(wrap, args))
        value = unwrap(tuple(result) if type(result) is list else result)  # a list of components is a tuple here
        if not is_checked:  # later results have the same types
            check_tensors(value, call.__qualname__)
            is_checked = True
        return value

    call.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    check = None if is_checked else functools.partial(check_tensors, function=call.__qualname__)
    call.on_blocks = OnBlocks(function, check)  # type: ignore[attr-defined]
    call.__wrapped__ = function  # type: ignore[attr-defined]  # for fingerprints
    return call


def _unwrap_predicate(function: Callable[..., Any]) -> Callable[..., Any]:
    """Unwrap a function that must return one bool: a predicate that lacks its `return` would drop everything."""
    predicate = _unwrap_function(function, is_checked=True)

    @functools.wraps(predicate)
    def call(*args: Any) -> Any:
        result = predicate(*args)
        if result is True or result is False:
            return result
        if getattr(result, "dtype", None) != np.bool_ or result.shape != ():
            raise ValueError(f"`predicate` must return a `tf.bool` scalar tensor, but it returned {result!r}")
        return result

    return call


def _unwrap_scan(function: Callable[..., Any]) -> Callable[..., Any]:
    """Unwrap a function that must return a state like the one that it gets, and a result."""
    scan = _unwrap_function(function, is_checked=True)

    @functools.wraps(scan)
    def call(state: Any, element: Any) -> Any:
        pair = scan(state, element)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"`scan_func` must return a pair of a state and a result, got {pair!r}")
        return _checked_state(state, pair[0]), pair[1]

    return call


def _checked_state(before: Any, state: Any) -> Any:
    state = normalize(state)
    kinds = kind_of(before), kind_of(state)
    if kinds[0] != kinds[1]:
        raise TypeError(f"the state must keep its structure and dtypes: it was {kinds[0]}, the next is {kinds[1]}")
    return state


_FUNCTIONS = {"map_func", "predicate", "scan_func", "reduce_func", "key_func", "window_size_func", "class_func"}


def _add_function_method(name: str, unwrap_function: Callable[[Any], Any] = _unwrap_function) -> None:
    method = getattr(PlainDataset, name)

    @functools.wraps(method)
    def call(self: Dataset, *args: Any, **kwargs: Any) -> Any:
        named = {key: unwrap_function(value) if key in _FUNCTIONS else unwrap(value) for key, value in kwargs.items()}
        unwrapped = [
            unwrap_function(value) if callable(value) and not hasattr(value, "shape") else unwrap(value)
            for value in args
        ]
        return method(self, *unwrapped, **named)

    setattr(Dataset, name, call)


def _add_value_method(name: str, decorate: Any = None) -> None:
    method = getattr(PlainDataset, name)
    function = getattr(method, "__func__", method)

    @functools.wraps(function)
    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        return function(first, *map(unwrap, args), **unwrap(kwargs))

    setattr(Dataset, name, call if decorate is None else decorate(call))


for _name in ("map", "flat_map", "interleave", "rejection_resample"):
    _add_function_method(_name)
for _name in ("filter", "take_while"):
    _add_function_method(_name, _unwrap_predicate)
_add_function_method("scan", _unwrap_scan)
for _name in (
    "unique save batch padded_batch ragged_batch sparse_batch rebatch shuffle repeat take skip shard prefetch cache "
    "enumerate window"
).split():
    _add_value_method(_name)
for _name in ("counter", "from_tensor_slices", "from_tensors", "load", "random", "range", "zip"):
    _add_value_method(_name, classmethod)


# ---- Datasets of files ----


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
        arguments = map(unwrap, (filenames, compression_type, buffer_size, num_parallel_reads))
        super().__init__(node_of(PlainRecords(*arguments, **options)))


class TextLineDataset(Dataset):
    """The lines of text files. The arguments are those of the package's TextLineDataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(node_of(PlainLines(*map(unwrap, args), **unwrap(kwargs))))


class FixedLengthRecordDataset(Dataset):
    """Records of one size. The arguments are those of the package's FixedLengthRecordDataset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(node_of(PlainFixed(*map(unwrap, args), **unwrap(kwargs))))


register_wrapper(PlainDataset, lambda dataset: Dataset(node_of(dataset)))
