"""Keras over datasets whose length is not known before they are read: facts that test_keras.py runs on each backend."""

import contextlib
import io
from pathlib import Path

import keras
import numpy as np

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as tf_compat
from tests.integrations.keras_kit import (
    ALL,
    BACKEND,
    BATCH,
    BATCHES,
    FEATURES,
    FILES,
    FOLDER,
    MEANS,
    RECORDS,
    Read,
    assert_all,
    fit,
    flat,
    identity,
    model,
    raises,
)
from tfrecord_fast.integrations.keras import TFRecordPyDataset


def pipeline(files=FILES, batch=BATCH, **options):
    parsed = tf.data.TFRecordDataset(files).shuffle(100, seed=1).batch(batch)
    columns = parsed.map(lambda records: tf.parse_example(records, FEATURES))
    return TFRecordPyDataset(columns.map(lambda column: (column["x"], column["y"])), **options)


def script_dataset(files=FILES, batch=BATCH):
    """Return the dataset as a script for TensorFlow makes it: batches of (x, y)."""

    def parse(record):
        columns = tf_compat.io.parse_single_example(record, FEATURES)
        return columns["x"], columns["y"]

    return tf_compat.data.TFRecordDataset(files).map(parse).batch(batch)


def case_each_epoch_ends_with_the_data():
    read = Read(convert=lambda batch: batch)
    data = pipeline(transform=read)
    assert data.num_batches is None
    raises(TypeError, ["no length"], len, data)
    assert_all(fit(data, epochs=3))
    epochs = [flat(epoch) for epoch in read.epochs()]
    assert len({tuple(epoch) for epoch in epochs}) == 3 and all(sorted(epoch) == ALL for epoch in epochs)
    assert data.epoch == 3


def case_datasets_of_scripts_end_with_the_data():
    data = script_dataset()
    assert_all(fit(data, epochs=3))
    history = fit(data.repeat(), steps_per_epoch=2, validation_data=data, epochs=2)
    assert_all(history, "val_")
    _, *averages = model().evaluate(data, verbose=0)
    assert_all(dict(zip(("first", "second", "third"), averages, strict=True)))
    predicted = identity().predict(data.map(lambda x, y: x), verbose=0)
    assert np.asarray(predicted).ravel().tolist() == ALL


def case_evaluate_and_predict_end_with_the_data():
    for _ in range(2):
        _, *averages = model().evaluate(pipeline(), verbose=0)
        assert_all(dict(zip(("first", "second", "third"), averages, strict=True)))
        assert sorted(np.asarray(identity().predict(pipeline(), verbose=0)).ravel().tolist()) == ALL


def case_validation_ends_with_the_data():
    history = fit(pipeline(), epochs=3, validation_data=pipeline())
    assert_all(history)
    assert_all(history, "val_")


def case_the_progress_bar_knows_the_length_from_the_second_epoch_on():
    bar, targets = keras.callbacks.ProgbarLogger(), []
    noted = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: targets.append(bar.target))
    with contextlib.redirect_stdout(io.StringIO()):
        model().fit(pipeline(), epochs=3, verbose=0, callbacks=[bar, noted])
    assert targets == [None, BATCHES, BATCHES], targets


def case_a_model_that_is_built_only_then_takes_no_epoch_of_it():
    made = keras.Sequential([keras.layers.Dense(1)])
    made.compile("sgd", "mse", metrics=MEANS, run_eagerly=True)
    data = pipeline()
    assert_all(fit(data, made, epochs=2))
    assert data.epoch == 2


def case_fewer_steps_continue_and_end_with_the_data():
    read = Read(convert=lambda batch: batch)
    fit(pipeline(transform=read), steps_per_epoch=5, epochs=2)
    assert sorted(flat(read.epochs()[0])) == ALL


def case_one_batch_is_enough():
    for made in (model(), keras.Sequential([keras.layers.Dense(1)])):
        made.compile("sgd", "mse", metrics=MEANS, run_eagerly=True)
        assert_all(fit(pipeline(batch=RECORDS), made, epochs=2))
    raises(IndexError, ["1"], pipeline(batch=RECORDS).__getitem__, 1)


def case_no_records_are_an_error_of_their_own():
    for made in (model(), keras.Sequential([keras.layers.Dense(1)])):
        made.compile("sgd", "mse", run_eagerly=True)
        raises(Exception, ["no batch"], fit, pipeline([FILES[1]]), made)


def case_an_error_is_no_end_of_it():
    data = bytearray(Path(FILES[3]).read_bytes())
    data[-3] ^= 1
    damaged = FOLDER / "damaged_at_the_end.bin"
    damaged.write_bytes(data)
    raises(Exception, ["damaged_at_the_end.bin"], fit, pipeline([FILES[0], str(damaged)]))


def case_class_weights_are_taken_without_a_length():
    assert fit(pipeline(), class_weight=dict.fromkeys(ALL, 0.0))["loss"] == [0.0]


def case_a_reader_that_cannot_be_counted_has_no_length():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    reader = tf.ShardReader(Pipe(Path(FILES[0]).read_bytes()), FEATURES, label_key="y", batch_size=BATCH)
    assert TFRecordPyDataset(reader).num_batches is None


def case_several_steps_at_once():
    if BACKEND == "torch":
        return  # takes one step at a time
    made = model()
    made.compile("sgd", "mse", metrics=MEANS, steps_per_execution=4)
    _, *averages = made.evaluate(pipeline(), verbose=0)
    assert_all(dict(zip(("first", "second", "third"), averages, strict=True)))
    assert np.asarray(made.predict(pipeline(), verbose=0)).shape == (RECORDS, 1)
