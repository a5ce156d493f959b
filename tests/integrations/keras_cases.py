"""What TFRecordPyDataset has to do on one of Keras' backends: facts that test_keras.py runs in a process of its own.

`KERAS_BACKEND=jax python -m tests.integrations.keras_cases` prints what failed, as JSON.
"""

import gc
import json
import os
import pickle
import sys
import time
import traceback
import types
import unittest.mock
import warnings
from pathlib import Path

import keras
import numpy as np

import tfrecord_fast as tf
from tests.integrations import keras_column_cases, keras_end_cases, keras_number_cases
from tests.integrations.keras_kit import (
    ALL,
    BATCH,
    BATCHES,
    FEATURES,
    FILES,
    FOLDER,
    MEANS,
    RECORDS,
    SHUFFLED,
    At,
    Read,
    assert_all,
    expected,
    fit,
    flat,
    identity,
    make,
    means,
    model,
    pair,
    raises,
    same,
)
from tfrecord_fast.integrations.keras import TFRecordPyDataset
from tfrecord_fast.integrations.keras.sources import DatasetSource

# ---- Epochs ----


def case_a_transform_that_raises_stop_iteration_does_not_end_the_epoch():
    data = make(transform=unittest.mock.Mock(side_effect=StopIteration))
    raises(tf.errors.InvalidArgumentError, ["raised StopIteration"], list, data)


def case_each_epoch_has_every_record_in_an_order_of_its_own():
    read = Read()
    data = make(transform=read, **SHUFFLED)
    history = fit(data, epochs=3)
    assert_all(history)
    assert len(history["first"]) == 3
    assert read.epochs() == [expected(epoch) for epoch in range(3)]
    assert data.epoch == 3


def case_a_model_that_is_built_only_then_takes_no_epoch():
    read = Read()
    made = keras.Sequential([keras.layers.Dense(1)])
    made.compile("sgd", "mse", metrics=MEANS)
    assert_all(fit(make(transform=read, **SHUFFLED), made, epochs=2))
    assert read.epochs() == [expected(0), expected(1)]


def case_fit_goes_on_with_the_epochs():
    read = Read()
    data, made = make(transform=read, **SHUFFLED), model()
    assert_all(fit(data, made, epochs=1))
    assert_all(fit(data, made, epochs=2))
    assert read.epochs() == [expected(epoch) for epoch in range(3)]


def case_epochs_of_few_batches_are_counted_once():
    """On TensorFlow, Keras reads two batches before it begins, to build the model; elsewhere, one."""
    for size in (len(ALL) - 1, len(ALL) // 2):
        given = {"batch_size": size, **SHUFFLED}
        data = make(transform=same, **given)
        orders = [flat(expected(epoch, batch_size=size)) for epoch in range(4)]
        found = []
        for epoch in (0, 1, 2, 0):
            if not epoch:
                data.set_epoch(0)
            assert data.epoch == epoch
            found.append(orders.index(identity().predict(data, verbose=0)[:, 0].astype(int).tolist()))
        assert found == [0, 1, 2, 0], (size, found)
        data = make(**given)
        fit(data, model(), epochs=1)
        assert data.epoch == 1
        fit(data, model(), epochs=2, validation_data=make(**given))
        assert data.epoch == 3


def case_an_epoch_can_be_chosen_in_a_callback():
    read = Read()
    data = make(transform=read, **SHUFFLED)
    chosen = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: data.set_epoch(epoch + 5))
    assert_all(fit(data, epochs=2, callbacks=[chosen]))
    assert read.epochs()[-1][-1] == expected(6)[-1] and data.epoch == 7


def case_the_length_is_known():
    steps = []
    note = keras.callbacks.LambdaCallback(on_train_begin=lambda logs: None)
    note.on_train_begin = lambda logs=None: steps.append(note.params["steps"])
    fit(make(), callbacks=[note])
    assert steps == [BATCHES] and len(make()) == BATCHES == make().num_batches
    assert len(make(drop_remainder=True)) == 8


def case_what_is_left_in_the_middle_begins_anew():
    class Stop(Exception):
        pass

    def stop():
        raise Stop

    data, made = make(**SHUFFLED), model()
    for batch in (0, 1, 3):
        raises(Stop, [], fit, data, made, epochs=2, callbacks=[At(0, batch, stop)])
    assert_all(fit(data, made, epochs=2))


def case_training_that_is_stopped_in_the_middle_begins_anew():
    data, made = make(**SHUFFLED), model()

    def stop():
        made.stop_training = True

    history = fit(data, made, epochs=3, callbacks=[At(1, 4, stop)], validation_data=make())
    assert len(history["first"]) == 2
    assert_all(history, "val_")
    assert_all(fit(data, made))


def case_steps_that_are_fewer_go_on_where_the_last_stood():
    history = fit(make(**SHUFFLED), epochs=6, steps_per_epoch=3)
    counts = np.array([12, 12, 11] * 2)
    for name, mean in zip(("first", "second", "third"), means(ALL), strict=True):
        sums = (np.array(history[name]) * counts).reshape(2, 3).sum(axis=1)
        np.testing.assert_allclose(sums / RECORDS, mean, rtol=1e-5)


def case_single_steps_go_through_the_data():
    data, made = make(seed=3, shuffle_buffer=20), model()
    found = {fit(data, made, steps_per_epoch=1)["first"][0] for _ in range(6)}
    assert len(found) > 3


def case_steps_that_are_more_end_with_the_data():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert_all(fit(make(**SHUFFLED), epochs=2, steps_per_epoch=BATCHES + 3))
    assert any("ran out of data" in str(one.message) for one in said)


def case_an_endless_reader_has_steps():
    read = Read()
    data = make(transform=read, num_epochs=None, **SHUFFLED)
    assert data.num_batches is None
    raises(TypeError, ["endless"], len, data)
    history = fit(data, epochs=2, steps_per_epoch=BATCHES)
    wanted = [label.astype(int).tolist() for _, (_, label) in zip(range(18), reader(num_epochs=None), strict=False)]
    for epoch in range(2):
        batches = flat(wanted[epoch * BATCHES : (epoch + 1) * BATCHES])
        np.testing.assert_allclose(history["third"][epoch], means(batches)[2], rtol=1e-5)


def reader(**given):
    return tf.ShardReader(FILES, FEATURES, label_key="y", **{"batch_size": BATCH, **SHUFFLED, **given})


# ---- Several at once ----


def case_validation_has_every_record_each_time():
    history = fit(make(**SHUFFLED), epochs=3, validation_data=make())
    assert_all(history)
    assert_all(history, "val_")


def case_training_and_validation_may_share_a_reader():
    shared = reader()
    data, other = (TFRecordPyDataset(shared, transform=pair) for _ in range(2))
    history = fit(data, epochs=2, validation_data=other)
    assert_all(history)
    assert_all(history, "val_")


def case_an_evaluation_with_another_dataset_runs_in_the_middle_of_training():
    data, validation, other, results = make(**SHUFFLED), make(), model(), []

    def evaluate():
        results.append(other.evaluate(validation, verbose=0, return_dict=True))

    assert_all(fit(data, epochs=2, callbacks=[At(0, 0, evaluate), At(1, 5, evaluate)]))
    for result in results:
        assert_all(result)


def case_two_iterations_at_once_are_an_error():
    data = make()
    first, second = (keras.src.trainers.data_adapters.py_dataset_adapter.PyDatasetAdapter(data) for _ in range(2))
    first.on_epoch_begin()
    interrupted = first.get_numpy_iterator()
    next(interrupted)
    second.on_epoch_begin()
    assert len(list(second.get_numpy_iterator())) == BATCHES
    raises(ValueError, [f"all {BATCHES} batches", "another for validation"], next, interrupted)


def case_reading_the_number_of_batches_does_not_disturb_training():
    data = make(**SHUFFLED)
    seen = []
    assert_all(fit(data, epochs=2, callbacks=[At(0, 3, lambda: seen.append(data.num_batches))]))
    assert seen == [BATCHES]


# ---- Evaluating and predicting ----


def case_evaluate_has_every_record():
    assert_all(model().evaluate(make(), verbose=0, return_dict=True))


def case_predict_gives_the_order_of_the_files():
    np.testing.assert_array_equal(identity().predict(make(transform=same), verbose=0)[:, 0], ALL)


def case_threads_keep_the_order():
    def slow(batch):
        time.sleep(0.02 if batch[1][0] % 3 else 0.0)
        return same(batch)

    for queue in (1, 10):
        data = make(transform=slow, workers=4, max_queue_size=queue)
        np.testing.assert_array_equal(identity().predict(data, verbose=0)[:, 0], ALL)
    assert_all(fit(make(workers=4, **SHUFFLED), epochs=2))


def case_weights_are_taken():
    def weighted(batch):
        columns, label = batch
        return columns["x"], label, (label < 10).astype(np.float32)

    made = model(metrics=[], weighted_metrics=MEANS)
    assert_all(made.evaluate(make(transform=weighted), verbose=0, return_dict=True), records=ALL[:10])


def case_class_weights_are_taken():
    history = fit(make(), class_weight=dict.fromkeys(ALL, 0.0))
    assert history["loss"] == [0.0]


# ---- What it reads from ----


def case_a_dataset_is_shuffled_anew():
    def pipeline():
        parsed = tf.data.TFRecordDataset(FILES).shuffle(100, seed=1).batch(BATCH)
        return parsed.map(lambda batch: tf.parse_example(batch, FEATURES)).map(
            lambda columns: (columns["x"], columns["y"])
        )

    read = Read(convert=lambda batch: batch)
    data = TFRecordPyDataset(pipeline(), num_batches=BATCHES, transform=read)
    assert_all(fit(data, epochs=3))
    epochs = [flat(epoch) for epoch in read.epochs()]
    assert len({tuple(epoch) for epoch in epochs}) == 3 and all(sorted(epoch) == ALL for epoch in epochs)


def case_a_number_of_batches_that_is_too_large_is_an_error():
    data = TFRecordPyDataset(reader(), num_batches=BATCHES + 1, transform=pair)
    raises(Exception, [f"has {BATCHES + 1} batches", f"after {BATCHES}"], fit, data)


def case_no_records_are_an_error():
    raises(ValueError, ["no batches"], fit, make([FILES[1]]))
    raises(ValueError, ["no batches"], model().evaluate, make([FILES[1]]), verbose=0)
    assert len(make([FILES[1]])) == 0 and list(make([FILES[1]])) == []


def case_damage_is_an_error_that_says_where():
    path = FOLDER / "damaged.bin"
    data = bytearray(Path(FILES[3]).read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    damaged = make([FILES[0], str(path)])
    for _ in range(2):
        raises(Exception, ["damaged.bin"], fit, damaged)
    path.write_bytes(Path(FILES[3]).read_bytes())
    assert_all(fit(damaged), records=[*range(10), *range(22, 35)])
    path.write_bytes(data)
    skipping = make([FILES[0], str(path)], on_corrupt="skip")
    assert_all(fit(skipping), records=[*range(10), *range(22, 34)])


def case_an_error_in_a_transform_is_no_end():
    def broken(batch):
        if batch[1][0] > 20:
            raise IndexError("broken transform")
        return pair(batch)

    for workers in (1, 2):
        raises(Exception, ["broken transform"], fit, make(transform=broken, workers=workers), shuffle=False)


def case_the_first_batch_is_not_lost_by_an_error():
    fails = [True]

    def once(batch):
        if fails:
            fails.clear()
            raise OSError("not there yet")
        return pair(batch)

    data = make(transform=once)
    raises(Exception, ["not there yet"], fit, data)
    assert_all(fit(data))


# ---- Subclasses and copies ----


def case_a_subclass_may_change_batches():
    class Plus(TFRecordPyDataset):
        def __getitem__(self, index):
            x, y = super().__getitem__(index)
            return x["x"], y + 1

    data = Plus(FILES, FEATURES, label_key="y", batch_size=BATCH, **SHUFFLED)
    assert_all(fit(data, epochs=2), records=[one + 1 for one in ALL])


def case_a_copy_goes_on():
    data = make(**SHUFFLED)
    fit(data)
    again = pickle.loads(pickle.dumps(data))
    assert again.epoch == 1 and again[0][1].tolist() == expected(1)[0]
    assert_all(fit(again))


# ---- What can't be ----


def case_processes_are_refused():
    raises(ValueError, ["num_threads"], make, use_multiprocessing=True)
    data = make()
    raises(ValueError, ["num_threads"], setattr, data, "use_multiprocessing", True)
    data.workers = 3
    assert_all(fit(data))


def case_arguments_are_checked():
    raises(ValueError, ["ragged"], make, ragged="jagged")
    raises(ValueError, ["alone"], TFRecordPyDataset, reader(), batch_size=3)
    raises(ValueError, ["num_batches"], make, num_batches=0)
    raises(ValueError, ["epoch"], make().set_epoch, -1)


def case_sequences_need_a_transform():
    features = ({"x": tf.FixedLenFeature([], tf.int64)}, {"s": tf.FixedLenSequenceFeature([], tf.int64)})
    raises(ValueError, ["transform"], TFRecordPyDataset, FILES, features)
    raises(ValueError, ["transform"], TFRecordPyDataset(tf.ShardReader(written("sequences"), features)).__getitem__, 0)
    x, y = TFRecordPyDataset(written("sequences"), features, transform=lambda b: (b[1]["s"], b[0]["x"]))[0]
    assert x.tolist() == [[1, 2]] and y.tolist() == [7]


def written(name):
    path = str(FOLDER / name)
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(tf.train.sequence_example({"x": 7}, {"s": [1, 2]}).SerializeToString())
    return path


def case_iterations_of_a_dataset_at_the_same_time_have_each_its_own_order():
    def source():
        return DatasetSource(tf.data.Dataset.range(12).shuffle(12, seed=1).repeat(2))

    def values(elements):
        return [int(element) for element in elements]

    alone, together = source(), source()
    expected = [values(alone) for _ in range(2)]
    assert expected[0] != expected[1]
    first, second = iter(together), iter(together)
    begun = [int(next(second)), int(next(first))]
    assert [begun[1:] + values(first), begun[:1] + values(second)] == expected


def case_an_unwrapped_reader_or_dataset_is_told_what_to_do():
    words = ["tfrecord_fast.integrations.keras.TFRecordPyDataset("]
    raises(ValueError, [words[0] + "reader)"], fit, reader())
    raises(ValueError, [words[0] + "dataset)"], fit, tf.data.Dataset.range(3))
    assert "Keras" not in repr(reader()) + str(reader()) + repr(tf.data.Dataset.range(3))


def case_a_distribution_that_divides_once_more_is_refused():
    def distributed(**given):
        with unittest.mock.patch("keras.distribution.distribution", lambda: types.SimpleNamespace(**given)):
            assert_all(fit(make(), epochs=1))

    raises(Exception, ["auto_shard_dataset = False"], distributed, auto_shard_dataset=True, num_data_shards=2)
    for given in ({}, {"auto_shard_dataset": True}, {"auto_shard_dataset": True, "num_data_shards": 1}):
        distributed(**given)
    distributed(auto_shard_dataset=False, num_data_shards=2)


def main():
    wanted = sys.argv[1:]
    results = {}
    modules = (keras_column_cases, keras_end_cases, keras_number_cases)
    gc.freeze()  # clear_session() collects garbage, which is slow with all that is imported
    for name, case in [*globals().items(), *(item for module in modules for item in vars(module).items())]:
        if name.startswith("case_") and (not wanted or name in wanted):
            keras.backend.clear_session()
            try:
                case()
                results[name] = None
            except BaseException:
                results[name] = traceback.format_exc()
            print(name, results[name] or "holds", file=sys.stderr, flush=True)
    print(json.dumps(results))
    sys.stdout.flush()
    os._exit(0)  # TensorFlow and PyTorch take their time


if __name__ == "__main__":
    main()
