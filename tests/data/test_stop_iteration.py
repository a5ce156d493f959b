"""A StopIteration that a function raises is an error of its element, not the end of the dataset."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError

Dataset = tf.data.Dataset

STOPS = "raised StopIteration"


def stop(*those):
    raise StopIteration


def drained(dataset):
    """All elements, and the errors in their places."""
    found, elements = [], iter(dataset)
    while len(found) < 20:
        try:
            found.append(int(next(elements)))
        except InvalidArgumentError as error:
            found.append(str(error))
        except StopIteration:
            break
    return found


def test_the_function_of_a_group_that_raises_stop_iteration():
    grouped = Dataset.range(6).group_by_window(lambda x: x, lambda key, group: stop() if key == 3 else group, 1)
    for dataset in (grouped, grouped.prefetch(2)):
        assert drained(dataset) == [0, 1, 2, "the function <lambda> raised StopIteration", 4, 5]


def generated(x):
    return stop() if x == 1 else iter([x, x])


BAD = Dataset.from_generator(stop, output_types=np.int64)

AROUND = {
    "alone": lambda: BAD,
    "flat_map": lambda: Dataset.range(3).flat_map(lambda x: Dataset.from_generator(generated, np.int64, args=(x,))),
    "interleave": lambda: Dataset.range(3).interleave(
        lambda x: Dataset.from_generator(generated, np.int64, args=(x,)), cycle_length=2
    ),
    "concatenate": lambda: Dataset.range(2).concatenate(BAD).concatenate(Dataset.range(2)),
    "repeat": lambda: BAD.repeat(2),
    "prefetch": lambda: BAD.prefetch(2),
    "zip": lambda: Dataset.zip(BAD, Dataset.range(2)),
    "batch": lambda: BAD.batch(2),
    "cache": lambda: BAD.cache(),
    "shuffle": lambda: BAD.shuffle(2),
}


@pytest.mark.parametrize("make", AROUND.values(), ids=AROUND)
def test_a_generator_function_that_raises_stop_iteration(make):
    with pytest.raises(InvalidArgumentError, match=STOPS):
        list(make())


class Stops:
    def __array__(self, *those, **more):
        raise StopIteration


def test_a_generated_value_that_raises_stop_iteration():
    with pytest.raises(InvalidArgumentError, match=STOPS):
        list(Dataset.from_generator(lambda: iter([1, Stops(), 2])))
