"""Datasets made of datasets: one class a transformation, which says how to iterate, and what the native reader does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ..base.seeds import next_seed
from ..errors import InvalidArgumentError
from ..values.nests import TensorSpec, map_leaves, rows, spec_of, stack
from ._background import CHEAP_AHEAD, CHEAP_CALL, Mapped, Prefetched, Tried, Verdict
from ._iterators import Batches, Chained, Ignoring, Repeated, Shuffled, Windowed
from ._plan import RecordPlan
from ._windows import Window
from .dataset import INFINITE, UNKNOWN, Dataset
from .functions import call, guarded, name_of

__all__ = [
    "Apply",
    "Batch",
    "Cache",
    "Enumerate",
    "Filter",
    "Generated",
    "IgnoreErrors",
    "Iterations",
    "Map",
    "Of",
    "Prefetch",
    "Repeat",
    "Shard",
    "Shuffle",
    "Skip",
    "Slices",
    "Take",
    "Unbatch",
    "Windowing",
    "WithOptions",
    "check_count",
]


class Generated(Dataset[Any]):
    """What `make()` iterates over, anew each time."""

    of_paths = False  # whether elements are single strings, and may be made ahead

    def __init__(self, make: Callable[[], Iterable[Any]], label: str, cardinality: int, spec: Any = None) -> None:
        self._make = make
        self._text = label
        self._count = cardinality
        self._spec = spec

    def _iterate(self) -> Iterator[Any]:
        return iter(self._make())

    def _label(self) -> str:
        return self._text

    def cardinality(self) -> int:
        return self._count

    @property
    def element_spec(self) -> Any:
        return super().element_spec if self._spec is None else self._spec


class Slices(Generated):
    """The rows of an element that lies in memory."""

    def __init__(self, element: Any, length: int, label: str) -> None:
        super().__init__(partial(rows, element), label, length)
        self.of_paths = isinstance(element, np.ndarray) and element.ndim == 1 and element.dtype.kind == "O"


class Of(Dataset[Any]):
    """A transformation of one dataset."""

    def __init__(self, dataset: Dataset[Any]) -> None:
        self._input = dataset

    def _label(self) -> str:
        return ""

    def _plan(self) -> RecordPlan | None:
        if type(self)._fuse is Of._fuse:
            return None  # without asking further
        plan = self._input._plan()
        return None if plan is None else self._fuse(plan)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        """The plan with this step, where the native reader can do it."""
        return None

    def cardinality(self) -> int:
        return self._input.cardinality()

    @property
    def element_spec(self) -> Any:
        return self._input.element_spec


class Map(Of):
    """`threads`: 0 is none; `tried`: only if the function proves to be slow."""

    def __init__(self, dataset: Dataset[Any], function: Callable[..., Any], threads: int, tried: bool = False) -> None:
        super().__init__(dataset)
        self.function = function
        self._threads = threads
        self.tried = tried
        self._verdict = Verdict()

    def _iterate(self) -> Iterator[Any]:
        return self.over(iter(self._input), self._verdict if self.tried else None)

    def over(self, elements: Iterator[Any], verdict: Verdict | None = None) -> Iterator[Any]:
        """The function's results for these elements; with a verdict, on threads only if it is slow."""
        function = call(self.function)
        return Mapped(elements, function, self._threads, verdict) if self._threads else map(function, elements)

    def cheap_part(self) -> tuple[RecordPlan, list[Map]] | None:
        """What the native reader runs, and the maps behind it, none of them given threads; None if there is more."""
        if self._threads and not self.tried:
            return None
        if isinstance(self._input, Map):
            before = self._input.cheap_part()
            return None if before is None else (before[0], [*before[1], self])
        plan = self._input._plan()
        return None if plan is None else (plan, [self])

    def _label(self) -> str:
        threads = f", {self._threads} threads" if self._threads else ""
        return f"map({name_of(self.function)}{threads})"

    @property
    def element_spec(self) -> Any:
        return Dataset.element_spec.__get__(self)


class Filter(Of):
    def __init__(self, dataset: Dataset[Any], predicate: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._predicate = predicate

    def _iterate(self) -> Iterator[Any]:
        predicate = guarded(self._predicate)
        return filter(
            lambda element: bool(predicate(*element) if type(element) is tuple else predicate(element)),
            iter(self._input),
        )

    def _label(self) -> str:
        return f"filter({name_of(self._predicate)})"

    def cardinality(self) -> int:
        return UNKNOWN


class Batch(Of):
    def __init__(
        self,
        dataset: Dataset[Any],
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
        label: str = "batch",
    ) -> None:
        super().__init__(dataset)
        self._size = size
        self._drop_remainder = drop_remainder
        self._join = join
        self._name = label

    def _iterate(self) -> Iterator[Any]:
        return Batches(iter(self._input), self._size, self._drop_remainder, self._join)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        if plan.batch_size is not None or self._join is not stack:
            return None
        return plan.with_(self._label(), batch_size=self._size, drop_remainder=self._drop_remainder)

    def _label(self) -> str:
        return f"{self._name}({self._size}{', drop_remainder' if self._drop_remainder else ''})"

    def cardinality(self) -> int:
        elements = self._input.cardinality()
        if elements < 0:
            return elements
        return elements // self._size if self._drop_remainder else -(-elements // self._size)

    @property
    def element_spec(self) -> Any:
        if self._join is not stack:
            return Dataset.element_spec.__get__(self)
        first = self._size if self._drop_remainder else None
        return map_leaves(lambda spec: TensorSpec((first, *spec.shape), spec.dtype), self._input.element_spec)


class Unbatch(Of):
    def _iterate(self) -> Iterator[Any]:
        return Chained(iter(self._input))

    def _label(self) -> str:
        return "unbatch()"

    def cardinality(self) -> int:
        return INFINITE if self._input.cardinality() == INFINITE else UNKNOWN

    @property
    def element_spec(self) -> Any:
        return map_leaves(lambda spec: TensorSpec(spec.shape[1:], spec.dtype), self._input.element_spec)


class Shuffle(Of):
    def __init__(self, dataset: Dataset[Any], buffer_size: int, seed: int | None, reshuffle: bool) -> None:
        super().__init__(dataset)
        self.buffer_size = buffer_size
        self.reshuffle = reshuffle
        self._given = seed
        self._seed = next_seed() if seed is None else seed
        self.iterations = 0

    def next_seed(self) -> int:
        """Of the next iteration: another one each time, or always the same."""
        seed = self._seed + self.iterations * 0x9E3779B97F4A7C15
        if self.reshuffle:
            self.iterations += 1
        return seed % (1 << 64)

    def _iterate(self) -> Iterator[Any]:
        return Shuffled(iter(self._input), self.buffer_size, self.next_seed())

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        if plan.shuffle is not None or plan.epochs != 1 or plan.windows or plan.batch_size is not None:
            return None
        return plan.with_(self._label(), shuffle=self)

    def _label(self) -> str:
        seed = "" if self._given is None else f", seed={self._given}"
        return f"shuffle({self.buffer_size}{seed}{'' if self.reshuffle else ', the same each time'})"


class Iterations:
    """How often the shuffles below a dataset have begun, so that who only looks at it can leave them as they were."""

    def __init__(self, dataset: Dataset[Any]) -> None:
        self._shuffles: list[tuple[Shuffle, int]] = []
        below = [dataset]
        while below:
            one = below.pop()
            if isinstance(one, Shuffle):
                self._shuffles.append((one, one.iterations))
            below += [one._input] if isinstance(one, Of) else getattr(one, "_parts", ())

    def restore(self) -> None:
        for shuffle, iterations in self._shuffles:
            shuffle.iterations = iterations


class Repeat(Of):
    def __init__(self, dataset: Dataset[Any], times: int) -> None:
        super().__init__(dataset)
        self._times = times

    def _iterate(self) -> Iterator[Any]:
        return Repeated(self._input, self._times)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        again = plan.shuffle is not None and not plan.shuffle.reshuffle  # the stream shuffles each epoch anew
        if self._times == 0 or plan.epochs != 1 or plan.windows or plan.batch_size is not None or again:
            return None
        return plan.with_(self._label(), epochs=self._times)

    def _label(self) -> str:
        return f"repeat({self._times if self._times >= 0 else ''})"

    def cardinality(self) -> int:
        elements = self._input.cardinality()
        if self._times == 0 or elements == 0:
            return 0
        if self._times < 0:
            return INFINITE
        return elements if elements < 0 else elements * self._times


class Windowing(Of):
    """take, skip and shard: a window of the elements."""

    def __init__(self, dataset: Dataset[Any], window: Window, label: str) -> None:
        super().__init__(dataset)
        self._window = window
        self._text = label

    def _iterate(self) -> Iterator[Any]:
        return Windowed(iter(self._input), *self._window)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        if plan.batch_size is not None:
            return None
        return plan.with_(self._text, windows=(*plan.windows, self._window))

    def _label(self) -> str:
        return self._text

    def cardinality(self) -> int:
        elements = self._input.cardinality()
        start, stop, step = self._window
        if elements == INFINITE:
            return INFINITE if stop is None else len(range(start, stop, step))
        if elements == UNKNOWN:
            return 0 if stop is not None and stop <= start else UNKNOWN
        return len(range(start, elements if stop is None else min(stop, elements), step))


class Take(Windowing):
    def __init__(self, dataset: Dataset[Any], size: int) -> None:
        super().__init__(dataset, Window(0, None if size < 0 else size, 1), f"take({size})")


class Skip(Windowing):
    def __init__(self, dataset: Dataset[Any], size: int) -> None:
        nothing = size < 0
        super().__init__(dataset, Window(max(size, 0), 0 if nothing else None, 1), f"skip({size})")


class Shard(Windowing):
    def __init__(self, dataset: Dataset[Any], num_shards: int, index: int) -> None:
        super().__init__(dataset, Window(index, None, num_shards), f"shard({num_shards}, {index})")


class Prefetch(Of):
    def __init__(self, dataset: Dataset[Any], size: int) -> None:
        super().__init__(dataset)
        self._size = size
        self._verdict = Verdict()

    def _iterate(self) -> Iterator[Any]:
        if not self._size:
            return iter(self._input)
        part = self._input.cheap_part() if isinstance(self._input, Map) else None
        if part is None:
            return Prefetched(self._input, self._size)
        plan, maps = part
        functions = [call(one.function) for one in maps]

        def function(element: Any) -> Any:
            for one in functions:
                element = one(element)
            return element

        def threaded(elements: Iterator[Any]) -> Iterator[Any]:
            for one in maps:
                elements = one.over(elements)
            return Prefetched(elements, self._size)

        cheap = CHEAP_CALL if any(one.tried for one in maps) else CHEAP_AHEAD
        return Tried(plan.iterate(), function, threaded, self._verdict, cheap)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        return plan.with_(self._label())

    def _label(self) -> str:
        return f"prefetch({self._size})"


class Enumerate(Of):
    def __init__(self, dataset: Dataset[Any], start: int) -> None:
        super().__init__(dataset)
        self._start = start

    def _iterate(self) -> Iterator[Any]:
        return zip(map(np.int64, count(self._start)), iter(self._input), strict=False)

    def _label(self) -> str:
        return f"enumerate({self._start or ''})"

    @property
    def element_spec(self) -> Any:
        return (spec_of(np.int64(0)), self._input.element_spec)


class Cache(Of):
    def __init__(self, dataset: Dataset[Any]) -> None:
        super().__init__(dataset)
        self._elements: list[Any] | None = None

    def _iterate(self) -> Iterator[Any]:
        return iter(self._elements) if self._elements is not None else self._fill()

    def _fill(self) -> Iterator[Any]:
        elements = []
        for element in self._input:
            elements.append(element)
            yield element
        self._elements = elements

    def _label(self) -> str:
        return "cache()"


class IgnoreErrors(Of):
    def __init__(self, dataset: Dataset[Any], log_warning: bool) -> None:
        super().__init__(dataset)
        self._log_warning = log_warning

    def _iterate(self) -> Iterator[Any]:
        return Ignoring(iter(self._input), self._log_warning)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        if plan.batch_size is not None or plan.windows or plan.epochs != 1 or plan.shuffle or self._log_warning:
            return None
        return plan.with_(self._label(), on_corrupt="skip_file")

    def _label(self) -> str:
        return "ignore_errors()"

    def cardinality(self) -> int:
        return UNKNOWN


class WithOptions(Of):
    def __init__(self, dataset: Dataset[Any], options: Any) -> None:
        super().__init__(dataset)
        self._options = options

    def _iterate(self) -> Iterator[Any]:
        return iter(self._input)

    def _fuse(self, plan: RecordPlan) -> RecordPlan | None:
        return replace(plan)

    def options(self) -> Any:
        return self._options


class Apply(Of):
    """An iterator of the input's, in Python: scan, take_while, unique."""

    def __init__(self, dataset: Dataset[Any], function: Callable[[Iterator[Any]], Iterator[Any]], label: str) -> None:
        super().__init__(dataset)
        self._function = function
        self._text = label

    def _iterate(self) -> Iterator[Any]:
        return self._function(iter(self._input))

    def _label(self) -> str:
        return self._text

    def cardinality(self) -> int:
        return UNKNOWN

    @property
    def element_spec(self) -> Any:
        return Dataset.element_spec.__get__(self)


def check_count(name: str, value: int, least: int = 1) -> int:
    """The value as an int; InvalidArgumentError where it is less than `least`."""
    import operator

    number = operator.index(value.item() if hasattr(value, "item") else value)
    if number < least:
        raise InvalidArgumentError(
            f"`{name}` must be {'greater than zero' if least == 1 else f'at least {least}'}, got {number}"
        )
    return number
