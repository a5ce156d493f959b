"""Columns and blocks hold the values that they were made of, however they are cut, joined and gathered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrecord_fast import _core
from tfrecord_fast.values.blocks.block import Block, PickedBlock, gathered_blocks, joined_blocks, stacked_blocks
from tfrecord_fast.values.blocks.columns import (
    Constant,
    Dense,
    Items,
    Sparse,
    Strings,
    Uneven,
    gathered,
    joined,
    of_values,
)
from tfrecord_fast.values.columns.bytes_array import BytesArray
from tfrecord_fast.values.elements.nests import stack

KINDS = (
    "numbers",
    "rows",
    "large rows",
    "transposed",
    "strings",
    "records",
    "lists",
    "flat lists",
    "images",
    "sparse",
    "items",
)


def column(kind, numbers):
    count = len(numbers)
    if kind == "numbers":
        return Dense(np.array(numbers, np.int32))
    if kind == "rows":
        return Dense(np.outer(numbers, [1, 2, 3]).astype(np.float32))
    if kind == "large rows":
        return Dense(np.outer(numbers, np.arange(3000)).reshape(count, 1000, 3))
    if kind == "transposed":
        return Dense(np.outer(numbers, np.arange(12)).reshape(count, 3, 4).transpose(0, 2, 1))
    if kind == "strings":
        return Strings(BytesArray([b"%d" % number for number in numbers]))
    if kind == "records":
        return Strings(_core.record_batch([b"%d" % number for number in numbers]))
    if kind == "lists":
        return Uneven([np.full(number % 4, number) for number in numbers])
    if kind in ("flat lists", "sparse"):
        sizes = np.array([number % 4 for number in numbers], np.int64)
        starts = np.cumsum(sizes) - sizes + 5
        flat = np.concatenate([np.zeros(5, np.int64), np.repeat(numbers, sizes)]).astype(np.int64)
        lists = Uneven.of_flat(flat, starts, sizes[:, None])
        return lists if kind == "flat lists" else Sparse(lists)
    if kind == "images":
        return Uneven([np.full((number % 3 + 1, 2, 1), number, np.uint8) for number in numbers])
    return Items([(number, None) for number in numbers])


def shown(value):
    if hasattr(value, "dense_shape"):
        return ["sparse", value.indices.tolist(), np.asarray(value.values).tolist(), value.dense_shape.tolist()]
    if isinstance(value, np.ndarray | np.generic):
        return [str(value.dtype), value.shape, value.tolist()]
    return [*map(shown, value)] if isinstance(value, tuple) else value


numbers = st.lists(st.integers(0, 100), min_size=1, max_size=8)


@given(st.sampled_from(KINDS), st.lists(numbers, min_size=1, max_size=4), st.data())
def test_gathered_rows_are_those_of_the_columns(kind, lists, data):
    columns = [column(kind, own) for own in lists]
    pairs = [(source, row) for source, own in enumerate(lists) for row in range(len(own))]
    picks = data.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=12))
    sources, rows = (np.array(side, np.int64) for side in zip(*picks, strict=True))
    expected = [shown(list(columns[source])[row]) for source, row in picks]
    assert [*map(shown, gathered(columns, sources, rows))] == expected
    blocks = [Block({"x": item, "y": (item,)}, len(item)) for item in columns]
    for block in (gathered_blocks(blocks, sources, rows), PickedBlock(blocks, sources, rows)):
        assert [shown(element["y"][0]) for element in block] == expected
        assert [shown(element["x"]) for element in block.take(slice(1, 5))] == expected[1:5]
    picked = PickedBlock(blocks, sources, rows)
    halves = [picked.take(slice(0, 3)), picked.take(slice(3, None))]
    assert [shown(element["x"]) for half in halves if len(half) for element in half] == expected


@given(st.sampled_from(KINDS), st.lists(numbers, min_size=1, max_size=4))
def test_joined_columns_are_one_after_the_other(kind, lists):
    columns = [column(kind, own) for own in lists]
    values = [shown(value) for item in columns for value in item]
    together = joined(columns)
    assert [*map(shown, together)] == values
    assert [shown(together.row(number)) for number in range(len(values))] == values
    assert [*map(shown, together.take(slice(1, None, 2)))] == values[1::2]
    assert [*map(shown, of_values(list(together)))] == values
    assert list(together.take(slice(0, 0))) == []


@given(st.sampled_from(KINDS), numbers)
def test_stacked_columns_are_batches(kind, own):
    values = column(kind, own)
    try:
        expected = stack(list(values))
    except Exception as error:
        with pytest.raises(type(error), match="Cannot batch"):
            values.stacked()
    else:
        assert shown(values.stacked()) == shown(expected)


@given(numbers, st.integers(0, 3))
def test_uneven_columns_are_padded(own, more):
    for kind in ("lists", "flat lists"):
        lists = column(kind, own)
        longest = int(lists.shapes.max()) + more
        batch = lists.padded([longest], -1)
        assert batch.tolist() == [[*row.tolist(), *[-1] * (longest - len(row))] for row in lists]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=6), st.integers(-1, 1))
def test_steps_are_padded(rows, value):
    flat = np.arange(40, dtype=np.int16)
    starts, sizes = (np.array(side, np.int64) for side in zip(*rows, strict=True))
    steps = Uneven.of_flat(flat, 2 * starts, np.stack([sizes, np.full(len(rows), 2)], 1))
    longest = max(1, int(sizes.max()))
    batch = steps.padded([longest, 2], value)
    assert batch.dtype == np.int16
    expected = np.full((len(rows), longest, 2), value)
    for row, (start, size) in zip(expected, rows, strict=True):
        row[:size] = flat[2 * start : 2 * (start + size)].reshape(-1, 2)
    assert batch.tolist() == expected.tolist()
    assert steps.compact().tolist() == [item for row in steps for item in row.ravel().tolist()]


def test_join_rows_refuses_items_that_do_not_exist():
    flat = np.zeros(8, np.uint8)
    for start, size in ((-1, 1), (0, 5), (4, 1), (1, -1), (2**62, 1)):
        with pytest.raises(IndexError):
            _core.join_rows(flat, np.array([start]), np.array([size]), 2)
    with pytest.raises(IndexError):
        _core.join_rows(flat, np.array([0]), np.array([3]), 2, 2, b"xx")
    with pytest.raises(ValueError, match="filling"):
        _core.join_rows(flat, np.array([0]), np.array([1]), 2, 2, b"x")


def test_blocks_of_several_structures_become_elements():
    dense = Block({"x": column("numbers", [1, 2])}, 2)
    other = Block({"x": column("numbers", [3]), "y": Constant(None, 1)}, 1)
    assert joined_blocks([dense, other]).elements == [{"x": 1}, {"x": 2}, {"x": 3, "y": None}]
    with pytest.raises(Exception, match="differ in their keys"):
        stacked_blocks([dense, other])


def test_a_batch_of_a_read_only_block_is_its_own():
    block = Block(column("rows", [1, 2]), 2).read_only()
    batch = stacked_blocks([block])
    batch[:] = 0
    assert block.first().tolist() == [1, 2, 3]


def test_gather_rows_refuses_rows_that_do_not_exist():
    array = np.zeros((2, 8), np.uint8)
    for sources, rows in (([1], [0]), ([0], [2]), ([0], [-1]), ([-1], [0])):
        with pytest.raises(IndexError):
            _core.gather_rows([array], np.array(sources, np.int64), np.array(rows, np.int64))
    with pytest.raises(ValueError, match="contiguous"):
        _core.gather_rows([array[:, ::2]], np.zeros(1, np.int64), np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="differ in size"):
        _core.gather_rows([array, array[:, :4].copy()], np.zeros(1, np.int64), np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="as many"):
        _core.gather_rows([array], np.zeros(2, np.int64), np.zeros(1, np.int64))
