"""Instances of attrs classes are structure, as in TensorFlow; dataclasses are not."""

import copy
import dataclasses
import json
import subprocess
import sys

import attrs
import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as face
from tests.support import live_tensorflow
from tfrecord_fast.data.saving.saved import elements_in

Dataset = tf.data.Dataset


@attrs.define
class Pair:
    b: object
    a: object


@attrs.define
class Twin:
    b: object
    a: object


@attrs.frozen
class Hidden:
    _x: object
    y: object = attrs.field(kw_only=True, default=3)


@attrs.define
class Late:
    x: object
    y: object = attrs.field(init=False, default=5)


@attrs.define
class Changed:
    x: object = attrs.field(converter=list)


@attrs.define
class Checked:
    x: object = attrs.field(validator=attrs.validators.instance_of(np.ndarray))


@dataclasses.dataclass
class Data:
    a: object
    b: object


CASES = """
def elements():
    import attrs
    Pair = attrs.make_class("Pair", ["b", "a"])
    Dataset, pairs = tf.data.Dataset, tf.data.Dataset.from_tensor_slices(Pair([1, 2, 3], [4.0, 5.0, 6.0]))
    made = {
        "slices": pairs,
        "nested": Dataset.from_tensor_slices({"k": (Pair([1, 2], {"u": [b"x", b"y"]}), [5, 6])}),
        "tensors": Dataset.from_tensors(Pair([1, 2], 3)),
        "mapped": Dataset.range(3).map(lambda i: Pair(i, {"x": i + 1})),
        "read": pairs.map(lambda pair: (pair.a, pair.b)),
        "filtered": pairs.filter(lambda pair: pair.b > 1),
        "zipped": Dataset.zip((pairs, Dataset.range(2))),
        "a zip": Dataset.zip(Pair(Dataset.range(2), pairs)),
        "batch": pairs.batch(2),
        "unbatch": pairs.batch(2).unbatch(),
        "ragged": pairs.map(lambda pair: Pair([pair.b], pair.a)).ragged_batch(2),
        "cache": pairs.cache().repeat(2),
        "windows": pairs.window(2).flat_map(lambda pair: Dataset.zip((pair.b, pair.a))),
        "by key": pairs.group_by_window(lambda pair: tf.cast(pair.b, tf.int64) % 2, lambda _, w: w.batch(3), 3),
        "joined": pairs.concatenate(pairs.take(1)),
        "of numpy": pairs.batch(3).as_numpy_iterator(),
    }

    def told(value):
        if attrs.has(type(value)):
            return [type(value).__name__, *(told(getattr(value, field.name)) for field in attrs.fields(type(value)))]
        if isinstance(value, dict):
            return {key: told(one) for key, one in value.items()}
        if isinstance(value, tuple):
            return [told(one) for one in value]
        value = value.to_list() if hasattr(value, "to_list") else getattr(value, "numpy", lambda: value)()
        value = value.tolist() if hasattr(value, "tolist") else value
        return value.decode() if isinstance(value, bytes) else value

    return {case: [told(element) for element in dataset] for case, dataset in made.items()}
"""
NESTS = """
def nests():
    import attrs, dataclasses

    Pair, Twin = attrs.make_class("Pair", ["b", "a"]), attrs.make_class("Twin", ["b", "a"])
    Data = dataclasses.make_dataclass("Data", ["a"])

    def parts(pair):
        return [type(pair).__name__, pair.b, pair.a]

    def failure(*structures):
        try:
            tf.nest.assert_same_structure(*structures)
        except Exception as error:
            return type(error).__name__

    return [
        tf.nest.flatten(Pair(b=[1, {"z": 2, "y": 3}], a=4)),
        parts(tf.nest.map_structure(lambda x, y: x + y, Pair(1, (2,)), Pair(3, (4,)))),
        parts(tf.nest.pack_sequence_as(Pair(1, [2]), [5, 6])),
        [tf.nest.is_nested(Pair(1, 2)), tf.nest.is_nested(Data(1))],
        [failure(Pair(1, 2), other) for other in (Pair(3, 4), Twin(1, 2), Pair(1, (2,)), (1, 2))],
    ]
"""


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
@pytest.mark.parametrize("source", [CASES, NESTS], ids=["elements", "nests"])
def test_structures_are_tensorflows(source):
    space = {"tf": face}
    exec(source, space)
    ours = next(one for name, one in space.items() if name in ("elements", "nests"))()
    assert json.loads(json.dumps(ours)) == json.loads(json.dumps(live_tensorflow.call(source.strip() + "\n")))


def pairs():
    return Dataset.from_tensor_slices(Pair([1, 2], [3, 4]))


def test_components_are_rows_and_specs_in_the_order_of_the_attributes():
    assert [*pairs()] == [Pair(1, 3), Pair(2, 4)]
    spec = pairs().element_spec
    assert spec == Pair(tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.int32))


def test_batches_of_attrs_are_padded_by_their_own_shapes_and_values():
    dataset = pairs().map(lambda pair: Pair(np.arange(pair.b), np.arange(pair.a)))
    (batch,) = dataset.padded_batch(2, padded_shapes=Pair([3], [None]), padding_values=Pair(7, 8))
    assert (batch.b.tolist(), batch.a.tolist()) == ([[0, 7, 7], [0, 1, 7]], [[0, 1, 2, 8], [0, 1, 2, 3]])


@pytest.mark.parametrize("kept", ["cache", "snapshot", "save"])
def test_a_file_gives_the_class_back(kept, tmp_path):
    dataset = Dataset.range(2).map(lambda i: {"x": Pair(i, Hidden(i, y=(i,)))})
    expected = [{"x": Pair(i, Hidden(i, y=(i,)))} for i in range(2)]
    if kept == "save":
        dataset.save(tmp_path)
        dataset = Dataset.load(tmp_path)
    else:
        dataset = dataset.cache(str(tmp_path / "c")) if kept == "cache" else dataset.snapshot(str(tmp_path))
    assert [*dataset] == expected == [*dataset]


def loaded_elsewhere(before, folder):
    program = f"import sys, tfrecord_fast as tf\n{before}\nprint(*tf.data.Dataset.load(sys.argv[1]))"
    return subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True)


def test_another_process_needs_the_class(tmp_path):
    pairs().save(tmp_path)
    found = loaded_elsewhere(f"import {__name__}", tmp_path)
    assert found.stdout.split("\n")[0].count("Pair(b=") == 2, found.stderr
    said = f"no attrs class 'Pair' of ['b', 'a'] is in '{__name__}': import it first"
    assert said in loaded_elsewhere("", tmp_path).stderr


def test_a_file_runs_no_code_of_a_class_that_it_names(tmp_path):
    leaf = {"leaf": "tensor", "dtype": "int64", "splits": []}
    structure = {"attrs": [leaf], "module": __name__, "name": "Checked", "fields": ["x"]}
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(json.dumps({"format": "elements of tfrecord_fast", "structure": structure}))
        writer.write(tf.encode_examples({"parts": [[bytes(tf.io.serialize_tensor(np.int64(5)))]]})[0])
        writer.write(json.dumps({"count": 1}))
    (element,) = elements_in(str(tmp_path / "a"), "")
    assert type(element) is Checked and element.x == 5  # its validator takes arrays alone


@pytest.mark.parametrize("value", [Late(1), Changed([1])])
def test_a_class_that_does_not_keep_its_components_is_refused(value):
    for make in (Dataset.from_tensors, Dataset.from_tensor_slices, lambda one: [*Dataset.range(1).map(lambda _: one)]):
        with pytest.raises(TypeError, match=f"{type(value).__name__} can't be"):
            make(copy.copy(value))


@pytest.mark.parametrize("join", [Dataset.concatenate, lambda *two: Dataset.sample_from_datasets(two, seed=1)])
def test_two_classes_are_not_one_dataset(join):
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        [*join(pairs(), Dataset.from_tensor_slices(Twin([1], [2])))]


def test_two_classes_are_no_batch():
    with pytest.raises(tf.errors.InvalidArgumentError, match="types"):
        [*Dataset.range(2).map(lambda i: Pair(i, i) if i else Twin(i, i)).batch(2)]


def test_a_dataclass_is_one_value():
    (element,) = Dataset.from_tensors(Data([1, 2], 3))
    assert element == Data([1, 2], 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no rows"):
        Dataset.from_tensor_slices(Data([1, 2], [3, 4]))


@pytest.mark.parametrize("workers", [0, 1])
def test_an_attrs_class_stays_one_in_torch(workers):
    torch = pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordIterableDataset

    numbers = Dataset.range(4).map(lambda n: Pair(n, (n * 2, Pair(n, n)))).batch(2)
    batches = [*torch.utils.data.DataLoader(TFRecordIterableDataset(numbers), batch_size=None, num_workers=workers)]
    assert len(batches) == 2
    for batch in batches:
        assert type(batch) is Pair and type(batch.a[1]) is Pair
        assert torch.equal(batch.a[0], batch.b * 2) and torch.equal(batch.a[1].b, batch.b)
