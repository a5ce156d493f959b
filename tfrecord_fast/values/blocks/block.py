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

    __slots__ = ("columns", "count", "elements")

    def __init__(self, columns: Any, count: int, elements: list[Any] | None = None) -> None:
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
    structure = structure_of(first.columns)
    return all(structure_of(block.columns) == structure for block in blocks[1:])


def map_columns(
    function: Callable[[list[Column]], Any], blocks: Sequence[Block], otherwise: Callable[[list[Any]], Any]
) -> Any:
    """Return the structure of the function's results for the columns of several blocks.

    If the blocks differ in structure, return the result of `otherwise` for the list of their elements.
    """
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
