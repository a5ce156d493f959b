"""Elements of a data.Dataset that fail, in PyTorch: resumed after any of them, all others still come."""

import contextlib
import json

import numpy as np
import pytest

import tfrecord_fast as tf

torch = pytest.importorskip("torch")
DataLoader = torch.utils.data.DataLoader

from tfrecord_fast.data import Dataset  # noqa: E402
from tfrecord_fast.errors import InvalidArgumentError  # noqa: E402
from tfrecord_fast.integrations.torch import TFRecordIterableDataset, TFRecordMapDataset  # noqa: E402
from tfrecord_fast.integrations.torch.elements import Elements  # noqa: E402

COUNT = 10
ALWAYS = ValueError("always the same one")


class Fails:
    """A function that fails on some numbers, by their first."""

    def __init__(self, *numbers, error=InvalidArgumentError):
        self.numbers, self.error = numbers, error

    def __call__(self, value):
        if int(np.ravel(value)[0]) in self.numbers:
            raise self.error(f"{value}") if isinstance(self.error, type) else self.error
        return value


def numbers():
    return Dataset.range(COUNT)


BEFORE = {  # the functions at the end, after which each worker has its part
    "batch": lambda fails: numbers().map(fails).batch(2),
    "padded_batch": lambda fails: numbers().map(fails).padded_batch(2),
    "batch.map": lambda fails: numbers().map(fails).batch(2).map(lambda x: x + 1),
    "batch.map.prefetch": lambda fails: numbers().map(fails).batch(2).map(lambda x: x + 1, 2).prefetch(3),
    "take": lambda fails: numbers().map(fails).take(COUNT),
    "shuffle": lambda fails: numbers().map(fails).shuffle(4, seed=1),
    "filter": lambda fails: numbers().filter(lambda x: bool(fails(x) % 3)),
    "enumerate": lambda fails: numbers().map(fails).enumerate().map(lambda i, x: x),
    "flat_map": lambda fails: numbers().flat_map(lambda x: Dataset.from_tensors(x).map(fails).repeat(2)),
    "zip": lambda fails: Dataset.zip(numbers(), numbers().map(fails)).prefetch(2),
}
AMONG = {
    "map": lambda fails: numbers().map(fails),
    "map, threads": lambda fails: numbers().map(fails, 2),
    "map.prefetch": lambda fails: numbers().map(fails).prefetch(3),
    "map.map": lambda fails: numbers().map(lambda x: x).map(fails).map(lambda x: x),
    "batch.map": lambda fails: numbers().batch(2).map(fails, 2).prefetch(1),
    "shuffle.map": lambda fails: numbers().shuffle(4, seed=1).map(fails),
}
BOTH = {
    "map.batch.map": lambda fails: numbers().map(fails).batch(2).map(Fails(4, 8)),
    "map.shuffle.map.prefetch": lambda fails: numbers().map(fails).shuffle(4, seed=1).map(Fails(1, 7), 2).prefetch(3),
}
FAULTS = [(0,), (3,), (9,), (2, 3, 4), tuple(range(COUNT))]


def until_end(iterator, most=1000):
    """What an iteration gives, with None for an error; at most so many."""
    found = []
    while len(found) < most:
        try:
            found.append(json.dumps(np.asarray(next(iterator)).tolist()))
        except StopIteration:
            break
        except Exception:
            found.append(None)
    return found


def good(found):
    return [one for one in found if one is not None]


def assert_resumed(worker, make, convert=np.asarray, repeats=False):
    """Resumed after any element or error, an iteration yields the rest, in each worker.

    It repeats at most one element for each error of a function at the end of the dataset.
    """
    for place in (None, (0, 2), (1, 2)):
        with worker(*place) if place else contextlib.nullcontext():
            whole = until_end(Elements(make()).converted(convert))
            for begun in range(len(whole) + 1):
                first = Elements(make())
                before = until_end(first.converted(convert), begun)
                assert before == whole[:begun]
                second = Elements(make())
                second.load_state_dict(first.state_dict())
                resumed = good(before) + good(until_end(second.converted(convert)))
                assert resumed == good(whole) or (repeats and set(resumed) == set(good(whole)))
                assert len(resumed) <= len(good(whole)) + before.count(None)


@pytest.mark.parametrize("faults", FAULTS, ids=str)
@pytest.mark.parametrize("pipeline", [*BEFORE, *AMONG, *BOTH])
def test_resumed_after_any_error_of_a_dataset_the_rest_comes(worker, pipeline, faults):
    makes = {**BEFORE, **AMONG, **BOTH}[pipeline]
    assert_resumed(worker, lambda: makes(Fails(*faults)), repeats=pipeline in {**AMONG, **BOTH})


@pytest.mark.parametrize("faults", FAULTS, ids=str)
@pytest.mark.parametrize("error", [InvalidArgumentError, ValueError, ALWAYS], ids=str)
def test_resumed_after_any_error_of_a_conversion_the_rest_comes(worker, error, faults):
    convert = Fails(*faults, error=error)
    assert_resumed(worker, numbers, convert)
    assert_resumed(worker, lambda: BEFORE["batch"](Fails(3)), convert)


def test_resumed_after_damage_the_rest_comes(worker, tmp_path):
    paths = [str(tmp_path / str(i)) for i in range(3)]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            writer.write_batch([b"%d" % i for i in range(5)])
    damaged = bytearray((tmp_path / "1").read_bytes())
    damaged[2 * 17 + 12] ^= 1
    (tmp_path / "1").write_bytes(damaged)
    for make in (
        lambda: tf.data.TFRecordDataset(paths),
        lambda: tf.data.TFRecordDataset(paths).batch(2),
        lambda: tf.data.TFRecordDataset(paths).batch(2).map(lambda batch: batch.tolist()).prefetch(2),
        lambda: Dataset.from_tensor_slices(paths).map(lambda path: path).flat_map(tf.data.TFRecordDataset),
    ):
        assert_resumed(worker, make, lambda element: len(element))


def test_a_transform_that_fails_has_used_up_its_batch():
    def make():
        return TFRecordIterableDataset(numbers().batch(2), transform=Fails(4))

    whole = until_end(iter(make()))
    assert whole == ["[0, 1]", "[2, 3]", None, "[6, 7]", "[8, 9]"]
    for begun in range(6):
        first = make()
        before = until_end(iter(first), begun)
        second = make()
        second.load_state_dict(first.state_dict())
        assert before + until_end(iter(second)) == whole


def _stops(element):
    if _number(element) == 3:
        raise StopIteration
    return element


def _number(element):
    value = element["i"] if isinstance(element, dict) else element
    return int(np.asarray(value).reshape(-1)[0])


@pytest.mark.parametrize("kind", ["reader", "dataset", "records by number"])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_transform_that_raises_stop_iteration_does_not_end_the_epoch(tmp_path, kind, workers):
    path = tmp_path / "records.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write({"i": np.arange(6)})
    features = {"i": tf.FixedLenFeature([], tf.int64)}
    if kind == "reader":
        dataset = TFRecordIterableDataset(path, features, batch_size=1, transform=_stops)
    elif kind == "dataset":
        dataset = TFRecordIterableDataset(Dataset.range(6), transform=_stops)
    else:
        dataset = TFRecordMapDataset(path, features, transform=_stops)
    loading = iter(DataLoader(dataset, batch_size=None, num_workers=workers))
    assert [_number(next(loading)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InvalidArgumentError, match="the function _stops raised StopIteration"):
        next(loading)
