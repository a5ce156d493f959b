"""Nodes of values in memory, generators, random numbers and lists of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from ....dtypes import int64
from ....errors import InvalidArgumentError
from ....files.naming.location import shown_name
from ....files.system.file_system import glob
from ....values.blocks.block import Block
from ....values.elements.nests import column_length, leaves, map_leaves, normalize, rows, spec_of
from ....values.elements.owned import copied, snapshot
from ....values.elements.samples import sample_of
from ....values.elements.specs import TensorSpec, row_spec
from ...numbers import INFINITE, UNKNOWN
from ..base.node import Draws, Node, Of, Run
from ..base.turns import InTurn
from ..blocks.iterators import SlicedBlocks
from ..blocks.sizes import Sizes


class Generated(Node):
    """The elements of `make()`, which is called for each iteration.

    Args:
      make: returns an iterable.
      label: the name in `repr`.
      cardinality: the number of elements, or a function that returns it.
      gives_paths: elements are single strings, which may be listed ahead.
      seen_again, calls_functions: as for Node.
      shareable: threads may share the iterators as they are, because no Python code runs in them.
      spec: the element_spec; None: unknown before the first element.
      make_blocks: returns the same elements in blocks.
    """

    def __init__(
        self,
        make: Callable[[], Iterable[Any]],
        label: str,
        cardinality: int | Callable[[], int] = UNKNOWN,
        gives_paths: bool = False,
        seen_again: bool = False,
        calls_functions: bool = False,
        shareable: bool = False,
        spec: Any = None,
        make_blocks: Callable[[Sizes], Iterator[Block]] | None = None,
    ) -> None:
        self._spec = spec
        self._make_blocks = make_blocks
        self._shareable = shareable
        self.gives_paths = gives_paths
        self.calls_functions = calls_functions
        self._seen_again = seen_again
        self._make = make
        self._label = label
        self._cardinality = cardinality

    def iterate(self, run: Run) -> Iterator[Any]:
        try:
            elements = iter(self._make())
        except StopIteration as error:  # a caller would mistake it for the end
            raise InvalidArgumentError(f"{self._label} raised StopIteration before its first element") from error
        return elements if self._shareable else InTurn(elements)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        return None if self._make_blocks is None else self._make_blocks(Sizes())

    def cardinality(self) -> int:
        return self._cardinality() if callable(self._cardinality) else self._cardinality

    @cached_property
    def has_one_spec(self) -> bool:
        return self._spec is not None or self._cardinality == 1

    def seen_again(self) -> bool:
        return self._seen_again

    def spec(self, run: Run) -> Any:
        return super().spec(run) if self._spec is None else self._spec

    def sample(self, run: Run, length: int) -> Any:
        return super().sample(run, length) if self._spec is None else sample_of(self._spec, length)


class RandomNumbers(Generated):
    """Endless random numbers of 32 bits; with `draws.again`, different ones in each iteration."""

    draws: Draws

    def __init__(self, draws: Draws, label: str) -> None:
        super().__init__(tuple, label, INFINITE, spec=TensorSpec((), int64))
        self.draws = draws

    def iterate(self, run: Run) -> Iterator[Any]:
        generator = np.random.default_rng(run.own(self.draws).next_seed())
        return InTurn(iter(lambda: np.int64(generator.integers(0, 1 << 32)), None))


class Foreign(Generated):
    """The elements of a dataset with its own `__iter__`; `count()` is their number."""

    def __init__(self, make: Callable[[], Iterable[Any]], label: str, count: Callable[[], int]) -> None:
        super().__init__(make, label, calls_functions=True)
        self._count = count

    def iterate(self, run: Run) -> Iterator[Any]:
        return map(copied, super().iterate(run))

    def cardinality(self) -> int:
        return self._count()


def slices(element: Any, label: str) -> Generated:
    """Return a node of the rows of an element."""
    strings = isinstance(element, np.ndarray) and element.ndim == 1 and element.dtype.kind == "O"
    element = snapshot(element)
    shareable = all(type(leaf) is np.ndarray for leaf in leaves(element))
    length, spec = column_length(element), map_leaves(row_spec, spec_of(element))
    make_blocks = partial(SlicedBlocks, element, length) if shareable else None
    make = partial(rows, element)
    return Generated(make, label, length, strings, True, shareable=shareable, spec=spec, make_blocks=make_blocks)


def matching_files(patterns: Any) -> Generated:
    """Return a node of the sorted names, as bytes, of the files that match a glob pattern or a list of them."""
    normal = normalize(patterns)
    all_patterns = [normal] if isinstance(normal, bytes) else list(normal)
    matches = glob(all_patterns)
    if not matches:
        shown = [os.fsdecode(shown_name(pattern)) for pattern in all_patterns]
        raise InvalidArgumentError(f"No files matched pattern: {shown[0] if len(shown) == 1 else shown}")
    names = [name.encode() if isinstance(name, str) else name for name in sorted(matches)]
    return Generated(partial(iter, names), f"list_files({len(names)} files)", len(names), True, shareable=True)


class Specified(Of):
    """The same elements, with shapes and dtypes known in advance."""

    def __init__(self, node: Node, spec: Any) -> None:
        super().__init__(node)
        self._spec = spec

    def iterate(self, run: Run) -> Iterator[Any]:
        return run(self.input)

    def spec(self, run: Run) -> Any:
        return self._spec

    def sample(self, run: Run, length: int) -> Any:
        return sample_of(self._spec, length)


class Failing(Node):
    """A node whose iteration raises a TypeError with that message."""

    def __init__(self, message: str, label: str) -> None:
        self._message = message
        self._label = label

    def iterate(self, run: Run) -> Iterator[Any]:
        raise TypeError(self._message)
