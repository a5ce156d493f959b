"""Copies of datasets: each counts its iterations separately, and shares the nodes that draw nothing."""

import copy

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.data.handle import node_of
from tfrecord_fast.values.elements.nests import leaves

Dataset = tf.data.Dataset


def numbers(dataset):
    return [np.asarray(element).tolist() for element in dataset]


COPIED = {
    "map": lambda data: data.map(lambda x: x),
    "repeat": lambda data: data.repeat(2),
    "batch": lambda data: data.batch(2).unbatch(),
    "zip": lambda data: Dataset.zip({"a": data, "b": (data, data)}).map(lambda both: both["a"]),
    "concatenate": lambda data: data.concatenate(data),
    "interleave": lambda data: data.interleave(lambda x: Dataset.from_tensors(x), cycle_length=2),
    "choose": lambda data: Dataset.choose_from_datasets([data, Dataset.range(9)], Dataset.range(2).repeat()),
    "cache": lambda data: data.cache().map(lambda x: x),
}


@pytest.mark.parametrize("around", COPIED.values(), ids=COPIED)
def test_a_copy_counts_its_iterations_for_itself(around):
    def make():
        return around(Dataset.range(9).shuffle(4, seed=1))

    alone = make()
    orders = [numbers(alone) for _ in range(3)]
    original = make()
    copied = copy.copy(original)
    assert [numbers(dataset) for dataset in (copied, original, original, copied, copied, original)] == [
        orders[i] for i in (0, 0, 1, 1, 2, 2)
    ]


def test_a_copied_zip_names_the_copies():
    shuffled = Dataset.range(9).shuffle(4)
    zipped = copy.copy(Dataset.zip({"a": shuffled, "b": (shuffled, shuffled.batch(2))}))
    assert node_of(shuffled) not in node_of(zipped).inputs
    element = next(iter(zipped))
    assert len(node_of(zipped).inputs) == len(leaves(element)) == 3


def test_a_copy_shares_what_does_not_draw():
    dataset = Dataset.range(3).map(lambda x: x)
    assert node_of(copy.copy(dataset)) is node_of(dataset)
