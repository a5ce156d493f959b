"""The orders that a data.Dataset has in torch's epochs, whatever else was iterated, is iterated, or is in a cache."""

import pytest

import tfrecord_fast as tf

torch_data = pytest.importorskip("tfrecord_fast.integrations.torch")


def shuffled():
    return tf.data.Dataset.range(12).shuffle(12, seed=1)


def random():
    return tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(9)] * 2, seed=1, rerandomize_each_iteration=True)


DRAWN_LATE = {
    "prefetch": lambda: shuffled().prefetch(2),
    "repeat": lambda: shuffled().repeat(3),
    "concatenate": lambda: tf.data.Dataset.range(3).concatenate(shuffled()),
    "sample": lambda: random().prefetch(1),
    "flat_map": lambda: shuffled().repeat(2).flat_map(tf.data.Dataset.from_tensors),
}


def values(elements):
    return [int(element) for element in elements]


@pytest.mark.parametrize("late", DRAWN_LATE)
def test_iterations_at_the_same_time_have_each_its_own_order(late):
    alone = torch_data.TFRecordIterableDataset(DRAWN_LATE[late]())
    expected = [values(alone) for _ in range(3)]
    assert len({tuple(order) for order in expected}) == 3
    together = torch_data.TFRecordIterableDataset(DRAWN_LATE[late]())
    iterators = [iter(together) for _ in range(3)]
    steps = [values(step) for step in zip(*iterators, strict=True)]
    assert [list(order) for order in zip(*steps, strict=True)] == expected


def test_an_epoch_leaves_the_orders_of_the_dataset_itself_as_they_were():
    expected = [values(dataset) for dataset in [shuffled()] for _ in range(3)]
    dataset = shuffled()
    assert values(dataset) == expected[0]
    epochs = torch_data.TFRecordIterableDataset(dataset)
    assert values(epochs) == expected[0]  # the first epoch's
    iterator = iter(epochs)
    assert values(dataset) == expected[1]
    assert len(values(iterator)) == 12
    assert values(dataset) == expected[2]
