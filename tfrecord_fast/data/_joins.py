"""Datasets made of several: of one that gives others, or side by side, or one behind the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import Any

from ..base.threads import available_cpus
from ..values.nests import leaves, map_leaves
from ._iterators import Chained, Interleaved, Windows
from ._nodes import Cache, Generated, Iterations, Of, Prefetch, Repeat, Shuffle, Windowing, WithOptions
from ._plan import RecordPlan
from .dataset import AUTOTUNE, INFINITE, UNKNOWN, Dataset
from .functions import guarded, name_of

__all__ = ["Concatenate", "FlatMap", "Interleave", "WindowDataset", "Zip"]


class FlatMap(Of):
    _cycle_length = 1
    _block_length = 1

    def __init__(self, dataset: Dataset[Any], function: Callable[..., Any], label: str = "flat_map") -> None:
        super().__init__(dataset)
        self._function = function
        self._name = label

    def _plan(self) -> RecordPlan | None:
        """Where each element is a path, and the function gives the file's records: the native reader interleaves."""
        if not _gives_paths(self._input) or not 0 <= self._input.cardinality() <= _MOST_FILES:
            return None
        from .records import joined

        function = guarded(self._function)
        before = Iterations(self._input)
        datasets = []
        for path in self._input:
            datasets.append(function(path))
            if joined(datasets[-1:], 1, 1) is None:
                break
        source = joined(datasets, self._cycle_length, self._block_length)
        if source is None:
            before.restore()  # the paths are asked for again
            return None
        return RecordPlan(source, steps=(self._label(),))

    def _iterate(self) -> Iterator[Any]:
        return Chained(iter(self._input), _opener(self._function, self._name))

    def _label(self) -> str:
        return f"{self._name}({name_of(self._function)})"

    def cardinality(self) -> int:
        return INFINITE if self._input.cardinality() == INFINITE else UNKNOWN

    @property
    def element_spec(self) -> Any:
        return Dataset.element_spec.__get__(self)


class Interleave(FlatMap):
    def __init__(
        self, dataset: Dataset[Any], function: Callable[..., Any], cycle_length: int, block_length: int
    ) -> None:
        super().__init__(dataset, function, "interleave")
        self._cycle_length = available_cpus() if cycle_length == AUTOTUNE else cycle_length
        self._block_length = block_length

    def _iterate(self) -> Iterator[Any]:
        open_ = _opener(self._function, "interleave")
        return Interleaved(iter(self._input), open_, self._cycle_length, self._block_length)

    def _label(self) -> str:
        return f"interleave({name_of(self._function)}, {self._cycle_length}, {self._block_length})"


_MOST_FILES = 10_000


def _gives_paths(dataset: Dataset[Any]) -> bool:
    while isinstance(dataset, Shuffle | Repeat | Windowing | Prefetch | Cache | WithOptions):
        dataset = dataset._input
    return isinstance(dataset, Generated) and dataset.of_paths


def _opener(function: Callable[..., Any], name: str) -> Callable[[Any], Iterable[Any]]:
    function = guarded(function)

    def open_(element: Any) -> Iterable[Any]:
        dataset = function(*element) if type(element) is tuple else function(element)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"the function of {name} must return a Dataset, got {type(dataset).__name__}")
        return dataset

    return open_


class WindowDataset(Of):
    def __init__(self, dataset: Dataset[Any], size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__(dataset)
        self._arguments = (size, shift, stride, drop_remainder)

    def _iterate(self) -> Iterator[Any]:
        return map(_window_of, Windows(iter(self._input), *self._arguments))

    def _label(self) -> str:
        return f"window({self._arguments[0]}, shift={self._arguments[1]}, stride={self._arguments[2]})"

    def cardinality(self) -> int:
        elements = self._input.cardinality()
        size, shift, stride, drop_remainder = self._arguments
        if elements < 0:
            return elements
        if drop_remainder:
            return max(0, (elements - (size - 1) * stride - 1) // shift + 1)
        return -(-elements // shift)

    @property
    def element_spec(self) -> Any:
        return Dataset.element_spec.__get__(self)


def _window_of(elements: list[Any]) -> Any:
    """The structure of the elements, with a dataset in the place of each component."""

    def dataset_of(*column: Any) -> Dataset[Any]:
        return Generated(lambda: column, "window", len(column))

    return map_leaves(dataset_of, *elements)


class Concatenate(Dataset[Any]):
    def __init__(self, first: Dataset[Any], second: Dataset[Any]) -> None:
        self._parts = (first, second)

    def _iterate(self) -> Iterator[Any]:
        return chain(*self._parts)

    def _describe(self) -> str:
        return f"{self._parts[0]._describe()}.concatenate({self._parts[1]._describe()})"

    def cardinality(self) -> int:
        counts = [part.cardinality() for part in self._parts]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    @property
    def element_spec(self) -> Any:
        return self._parts[0].element_spec


class Zip(Dataset[Any]):
    """Of a structure of datasets, elements of that structure."""

    def __init__(self, datasets: Any) -> None:
        self._datasets = datasets
        self._parts = leaves(datasets)
        for part in self._parts:
            if not isinstance(part, Dataset):
                raise TypeError(f"zip takes datasets, tuples and dicts of them, got {type(part).__name__}")

    def _iterate(self) -> Iterator[Any]:
        if not self._parts:
            return repeat(self._datasets)
        if isinstance(self._datasets, tuple) and all(isinstance(part, Dataset) for part in self._datasets):
            return zip(*self._datasets, strict=False)
        iterators = map_leaves(iter, self._datasets)
        return _zipped(iterators)

    def _describe(self) -> str:
        return f"zip({', '.join(part._describe() for part in self._parts)})"

    def cardinality(self) -> int:
        counts = [part.cardinality() for part in self._parts]
        finite = [elements for elements in counts if elements >= 0]
        if UNKNOWN in counts:
            return 0 if 0 in finite else UNKNOWN
        return min(finite) if finite else INFINITE

    @property
    def element_spec(self) -> Any:
        return map_leaves(lambda part: part.element_spec, self._datasets)


def _zipped(iterators: Any) -> Iterator[Any]:
    while True:
        try:
            yield map_leaves(next, iterators)
        except StopIteration:
            return
