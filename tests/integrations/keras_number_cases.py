"""TFRecordPyDataset by number, and over readers that were resumed: facts that test_keras.py runs on each backend."""

import itertools

import keras
import numpy as np

import tfrecord_fast as tf
from tests.integrations.keras_kit import (
    BATCH,
    FEATURES,
    FILES,
    MEANS,
    SHUFFLED,
    At,
    assert_all,
    expected,
    fit,
    flat,
    make,
    means,
    model,
    pair,
    raises,
)
from tfrecord_fast.integrations.keras import TFRecordPyDataset


def case_a_number_is_that_batch_of_the_epoch_to_come():
    data = make(**SHUFFLED)
    for index in (3, 3, 0, 1, 8, -1, -9, np.int64(2)):
        assert data[index][1].tolist() == expected(0)[index]
    raises(IndexError, ["9"], data.__getitem__, 9)
    raises(IndexError, ["-10"], data.__getitem__, -10)
    assert data.epoch == 0
    assert_all(fit(data))
    assert data[0][1].tolist() == expected(1)[0]
    assert [label.tolist() for _, label in data] == expected(1) and data.epoch == 2


def case_what_is_changed_by_others_is_not_given_to_keras():
    data = make()
    for index in (0, 1):
        data[index][1][:] = 1000
    assert_all(fit(data))


# ---- Where a reader continues ----


def resumed(batches=5, num_epochs=None, **given):
    """(a dataset whose reader continues after so many batches, what comes from there on)"""
    options = {"label_key": "y", "batch_size": BATCH, "num_epochs": num_epochs, **SHUFFLED}
    reader, again = (tf.ShardReader(FILES, FEATURES, **options) for _ in range(2))
    iterator = iter(reader)
    for _ in range(batches):
        next(iterator)
    again.load_state_dict(reader.state_dict())
    rest = [label.astype(int).tolist() for _, label in itertools.islice(iterator, 20)]
    return TFRecordPyDataset(again, transform=pair, **given), rest


def case_a_look_leaves_a_reader_where_it_continues():
    data, rest = resumed()
    before = data.source.state_dict()
    for index in (0, 3, 3, 1):
        assert data[index][1].tolist() == rest[index]
    assert data.source.state_dict() == before and data.epoch == before["epoch"]
    assert [label.tolist() for _, label in itertools.islice(data, 6)] == rest[:6]


def case_a_look_leaves_the_state_of_an_iteration_alone():
    data = make(**SHUFFLED)
    next(iter(data))
    before = data.source.state_dict()
    assert data[2][1].tolist() == expected(1)[2]
    assert data.source.state_dict() == before


def case_a_look_is_of_what_was_loaded_last():
    data, rest = resumed()
    assert data[1][1].tolist() == rest[1]
    other, later = resumed(7)
    data.source.load_state_dict(other.source.state_dict())
    assert data[1][1].tolist() == later[1]


def unbuilt():
    made = keras.Sequential([keras.layers.Dense(1)])
    made.compile("sgd", "mse", metrics=MEANS, run_eagerly=True)
    return made


def assert_begins(history, rest, batches):
    """The first epoch of Keras' had these batches."""
    for name, mean in zip(("first", "second", "third"), means(flat(rest[:batches])), strict=True):
        np.testing.assert_allclose(history[name][0], mean, rtol=1e-5)


def case_keras_continues_where_the_reader_does():
    for made in (model(), unbuilt()):
        data, rest = resumed()
        data[1]
        assert_begins(fit(data, made, steps_per_epoch=3), rest, 3)


def case_an_epoch_that_is_chosen_leaves_the_position_in_it():
    """Keras has looked at the first batches by then, if the model has to be built."""
    for made in (model(), unbuilt()):
        data, rest = resumed(num_epochs=2, num_batches=3)
        chosen = keras.callbacks.LambdaCallback(on_epoch_begin=lambda _, logs, data=data: data.set_epoch(0))
        assert_begins(fit(data, made, callbacks=[chosen]), rest, 3)
        assert data.epoch == 2


def case_few_batches_from_a_position_may_be_looked_at():
    for made in (model(), unbuilt()):
        data, rest = resumed(num_epochs=2, num_batches=2)
        assert_begins(fit(data, made), rest, 2)


def case_a_state_that_is_loaded_in_the_first_batches_is_kept():
    data, (other, rest) = make(**SHUFFLED), resumed(num_epochs=1)
    state = other.source.state_dict()
    fit(data, callbacks=[At(0, 0, lambda: data.source.load_state_dict(state))])
    assert [label.tolist() for _, label in data] == rest
