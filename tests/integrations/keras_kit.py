"""What the facts about TFRecordPyDataset share: files, a model, and what an epoch has to have."""

import itertools
import tempfile
from pathlib import Path

import keras
import numpy as np

import tfrecord_fast as tf
from tfrecord_fast.integrations.keras import TFRecordPyDataset

BACKEND = keras.backend.backend()
FOLDER = Path(tempfile.mkdtemp())
SIZES = [10, 0, 12, 13]  # records; one file is empty
RECORDS = sum(SIZES)
BATCH = 4
BATCHES = 9
FEATURES = {"x": tf.FixedLenFeature([1], tf.float32), "y": tf.FixedLenFeature([], tf.float32)}
FILES = [str(FOLDER / f"{i}.tfrecord") for i in range(len(SIZES))]
ALL = list(range(RECORDS))
SHUFFLED = {"shuffle_buffer": 20, "shuffle_files": True, "seed": 3}

for _i, _size in enumerate(SIZES):
    _numbers = np.arange(_size, dtype=np.float32) + sum(SIZES[:_i])
    with tf.io.ExampleWriter(FILES[_i]) as _writer:
        if _size:
            _writer.write({"x": _numbers[:, None], "y": _numbers})


def pair(batch):
    columns, label = batch
    return columns["x"], label


def make(files=FILES, **given):
    return TFRecordPyDataset(files, FEATURES, **{"label_key": "y", "batch_size": BATCH, "transform": pair, **given})


class Read:
    """A transform that notes which batches were read."""

    def __init__(self, convert=pair):
        self.batches = []
        self.convert = convert

    def __call__(self, batch):
        self.batches.append(batch[1].astype(int).tolist())
        return self.convert(batch)

    def epochs(self):
        """Return the batches of each whole epoch, without those that Keras has read before, to build the model."""
        epochs, rest = [], self.batches
        while rest:
            seen_again = next((count for count in (1, 2) if rest[:count] == rest[count : 2 * count]), 0)
            rest = rest[seen_again:]
            epochs.append(rest[:BATCHES])
            rest = rest[BATCHES:]
        return epochs


def first(y, _):
    return y


def second(y, _):
    return y**2


def third(y, _):
    return y**3


MEANS = [first, second, third]  # together they tell apart what sets of records an epoch had


def model(rate=0.0, **given):
    made = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    # Eager, as compiling takes longer than training.
    made.compile(keras.optimizers.SGD(rate), "mse", run_eagerly=True, **{"metrics": MEANS, **given})
    return made


def identity():
    return keras.Sequential([keras.layers.Identity()])


def same(made):
    """The columns x as they are."""
    return made[0]["x"]


def fit(data, made=None, **given):
    return (made or model()).fit(data, verbose=0, **given).history


def means(records):
    return [float(np.mean(np.asarray(records, np.float64) ** power)) for power in (1, 2, 3)]


def assert_all(history, prefix="", records=ALL):
    for name, expected in zip(("first", "second", "third"), means(records), strict=True):
        np.testing.assert_allclose(history[prefix + name], expected, rtol=1e-5)


def expected(epoch, **given):
    reader = tf.ShardReader(FILES, FEATURES, label_key="y", **{"batch_size": BATCH, **SHUFFLED, **given})
    reader.set_epoch(epoch)
    return [label.astype(int).tolist() for _, label in reader]


def flat(batches):
    return list(itertools.chain.from_iterable(batches))


def raises(kind, words, function, *args, **given):
    try:
        function(*args, **given)
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, (missing, str(error))
        return error
    raise AssertionError(f"no error that says {words}")


class At(keras.callbacks.Callback):
    """Calls a function after a batch of an epoch."""

    def __init__(self, epoch, batch, function):
        super().__init__()
        self.at, self.function = (epoch, batch), function

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.now, batch) == self.at:
            self.function()
