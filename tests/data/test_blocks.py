"""Iterators of blocks yield the elements, and the errors in their places, of the iterators of elements."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfrecord_fast.data.nodes.base.iterators import Shuffled, Windowed
from tfrecord_fast.data.nodes.batches.runs import Batches
from tfrecord_fast.data.nodes.blocks.batches import BlockBatches
from tfrecord_fast.data.nodes.blocks.iterators import Elements, Selected
from tfrecord_fast.data.nodes.blocks.shuffling import ShuffledBlocks
from tfrecord_fast.data.nodes.blocks.sizes import Sizes, fixed
from tfrecord_fast.values.blocks.block import Block, stacked_blocks
from tfrecord_fast.values.blocks.columns import Dense
from tfrecord_fast.values.elements.nests import stack


class _Steps:
    """An iterator over steps, of which exceptions are raised."""

    def __init__(self, steps):
        self._steps = iter(steps)

    def __iter__(self):
        return self

    def __next__(self):
        step = next(self._steps)
        if isinstance(step, Exception):
            raise step
        return step


def blocks_and_elements(sizes, as_columns):
    """Return blocks of these sizes, an error for each 0, and the same as elements."""
    blocks, elements, number = [], [], 0
    for size in sizes:
        if size == 0:
            error = ValueError(number)
            blocks.append(error)
            elements.append(error)
            continue
        values = np.arange(number, number + size)
        blocks.append(Block(Dense(values), size) if as_columns else Block.of_elements(list(values)))
        elements += list(values)
        number += size
    return _Steps(blocks), _Steps(elements)


def outcomes(iterator):
    results = []
    while True:
        try:
            results.append(np.asarray(next(iterator)).tolist())
        except StopIteration:
            return results
        except ValueError as error:
            results.append(("error", error.args))


sizes = st.lists(st.integers(0, 9), max_size=12)


@given(sizes, st.booleans(), st.integers(1, 30), st.integers(0, 5), st.sampled_from((None, 1, 3, 1000)))
def test_shuffles_draw_the_same_elements(counts, as_columns, buffer, seed, chunk):
    blocks, elements = blocks_and_elements(counts, as_columns)
    with fixed(chunk):
        shuffled = Elements(ShuffledBlocks(blocks, buffer, seed))
    assert outcomes(shuffled) == outcomes(Shuffled(elements, buffer, seed))


def test_a_long_shuffle_lets_go_of_its_blocks():
    blocks = (Block(Dense(np.arange(start, start + 100)), 100) for start in range(0, 100_000, 100))
    shuffled = ShuffledBlocks(blocks, 500, 1)
    expected = Shuffled(iter(np.arange(100_000)), 500, 1)
    most = 0
    for block in shuffled:
        assert list(block) == [next(expected) for _ in range(len(block))]
        most = max(most, sum(len(held) for _, held in shuffled._held))
    assert most < 5000


@given(sizes, st.booleans(), st.integers(0, 20), st.none() | st.integers(0, 40), st.integers(1, 5))
def test_windows_select_the_same_elements(counts, as_columns, start, stop, step):
    blocks, elements = blocks_and_elements(counts, as_columns)
    assert outcomes(Elements(Selected(blocks, start, stop, step))) == outcomes(Windowed(elements, start, stop, step))


@given(sizes, st.booleans(), st.integers(1, 12), st.booleans(), st.booleans())
def test_batches_are_the_same(counts, as_columns, size, drop_remainder, skips_rest):
    blocks, elements = blocks_and_elements(counts, as_columns)
    expected = Batches(elements, size, drop_remainder, stack, skips_rest)
    assert outcomes(BlockBatches(blocks, size, drop_remainder, stacked_blocks, skips_rest)) == outcomes(expected)


def test_blocks_grow():
    with fixed(None):
        steps = Sizes()
    counts = []
    for _ in range(9):
        counts.append(steps.count)
        steps.grow()
    assert counts == [16, 32, 64, 128, 256, 512, 1024, 1024, 1024]
    assert steps.fitting(16, 1 << 26) == 1
