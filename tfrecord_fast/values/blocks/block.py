"""Blocks: runs of elements, as columns or as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..elements.nests import leaves, map_leaves, pack, rows, stack
from ..elements.owned import read_only
from .columns import Column, Rows, gathered, joined


class Block:
    """A structure of columns, one value per element in each; or a list of elements.

    Args:
      columns: a structure whose leaves are columns.
      elements: instead of columns.
    """

    __slots__ = ("_structure", "columns", "count", "elements")

    def __init__(self, columns: Any, count: int, elements: list[Any] | None = None) -> None:
        self._structure: Any = None
        self.columns = columns
        self.count = count
        self.elements = elements

    @classmethod
    def of_elements(cls, elements: list[Any]) -> Block:
        return cls(None, len(elements), elements)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements) if self.elements is not None else rows(self.columns, self.count)

    def take(self, selected: Rows) -> Block:
        """Return a block of these elements."""
        count = len(range(self.count)[selected]) if isinstance(selected, slice) else len(selected)
        if self.elements is None:
            return Block(map_leaves(lambda column: column.take(selected), self.columns), count)
        numbers = range(self.count)[selected] if isinstance(selected, slice) else selected.tolist()
        return Block.of_elements([self.elements[number] for number in numbers])

    def structure(self) -> Any:
        """Return the structure without its columns, to compare it with others."""
        if self._structure is None:
            self._structure = (structure_of(self.columns),)
        return self._structure

    def first(self) -> Any:
        """Return the first element."""
        return next(iter(self.take(slice(1))))

    def read_only(self) -> Block:
        """Return the block with read-only arrays."""
        if self.elements is not None:
            return Block.of_elements([read_only(element) for element in self.elements])
        for column in leaves(self.columns):
            column.freeze()
        return self


class PickedBlock(Block):
    """A block of elements of other blocks, whose columns are copied when they are first used.

    Args:
      blocks: blocks of columns, of one structure.
      sources, places: for each element, its block and its number in that.
    """

    __slots__ = ("_columns", "_picks")

    def __init__(self, blocks: Sequence[Block], sources: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> None:
        self._picks = blocks, sources, places
        self._columns: Any = None
        super().__init__(None, len(places))

    @property
    def columns(self) -> Any:
        if self._columns is None:
            self._columns = gathered_blocks(*self._picks).columns
        return self._columns

    @columns.setter
    def columns(self, columns: Any) -> None:
        self._columns = columns

    def take(self, selected: Rows) -> Block:
        if self._columns is not None:
            return super().take(selected)
        blocks, sources, places = self._picks
        return PickedBlock(blocks, sources[selected], places[selected])


def _with_merged_picks(blocks: Sequence[Block]) -> Sequence[Block]:
    """Replace blocks whose elements are not yet copied by a single one, so that they are copied once."""
    if len(blocks) == 1 or not all(type(block) is PickedBlock and block._columns is None for block in blocks):
        return blocks
    numbers: dict[int, int] = {}
    together: list[Block] = []
    sources = []
    for block in blocks:
        assert isinstance(block, PickedBlock)
        for source in block._picks[0]:
            if numbers.setdefault(id(source), len(together)) == len(together):
                together.append(source)
        sources.append(np.array([numbers[id(source)] for source in block._picks[0]], np.int64)[block._picks[1]])
    places = np.concatenate([block._picks[2] for block in blocks if isinstance(block, PickedBlock)])
    return [PickedBlock(together, np.concatenate(sources), places)]


def row_bytes(block: Block) -> int:
    """Return the size of an element's arrays, as far as its columns tell."""
    if block.elements is not None:
        return 0
    return sum(column.copied_bytes() for column in leaves(block.columns))


def value_bytes(block: Block) -> int:
    """Return about the size of an element's values."""
    return 0 if block.elements is not None else sum(column.value_bytes() for column in leaves(block.columns))


def structure_of(columns: Any) -> Any:
    """Return the structure without its columns, to compare it with others."""
    return (
        {key: structure_of(item) for key, item in columns.items()}
        if isinstance(columns, dict)
        else (type(columns), *map(structure_of, columns))
        if isinstance(columns, tuple)
        else None
        if isinstance(columns, Column)
        else type(columns)
    )


def _have_one_structure(blocks: Sequence[Block]) -> bool:
    first = blocks[0]
    if any(block.elements is not None for block in blocks):
        return False
    if len(blocks) == 1:
        return True
    structure = first.structure()
    return all(block.structure() == structure for block in blocks[1:])


def map_columns(
    function: Callable[[list[Column]], Any], blocks: Sequence[Block], otherwise: Callable[[list[Any]], Any]
) -> Any:
    """Return the structure of the function's results for the columns of several blocks.

    If the blocks differ in structure, return the result of `otherwise` for the list of their elements.
    """
    blocks = _with_merged_picks(blocks)
    if not _have_one_structure(blocks):
        return otherwise([element for block in blocks for element in block])
    first = blocks[0].columns
    if len(blocks) == 1:
        return map_leaves(lambda column: function([column]), first)
    return pack(first, map(function, map(list, zip(*(leaves(block.columns) for block in blocks), strict=True))))


def joined_blocks(blocks: Sequence[Block]) -> Block:
    """Return the elements of several blocks as one block."""
    if len(blocks) == 1:
        return blocks[0]
    count = sum(map(len, blocks))
    columns = map_columns(joined, blocks, Block.of_elements)
    return columns if isinstance(columns, Block) else Block(columns, count)


def gathered_blocks(blocks: Sequence[Block], sources: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> Block:
    """Return a block of the elements number `places[i]` of block `sources[i]`, for each i."""
    used = np.unique(sources)
    if len(used) < len(blocks):
        blocks, sources = [blocks[number] for number in used.tolist()], np.searchsorted(used, sources)

    def gather(columns: list[Column]) -> Column:
        return gathered(columns, sources, places)

    def pick(elements: list[Any]) -> Block:
        starts = np.cumsum([0, *map(len, blocks)])
        return Block.of_elements([elements[number] for number in (starts[sources] + places).tolist()])

    columns = map_columns(gather, blocks, pick)
    return columns if isinstance(columns, Block) else Block(columns, len(places))


def stacked_blocks(blocks: Sequence[Block]) -> Any:
    """Return the elements of several blocks, stacked as `batch` does."""
    return map_columns(lambda columns: joined(columns).stacked(), blocks, stack)
