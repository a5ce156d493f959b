"""Elements that a file keeps have the same types in all epochs."""

import collections
import json
import subprocess
import sys
import typing

import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as face
from tests.support import live_tensorflow
from tests.support import wire_writer as wire
from tests.tensorflow.side_by_side import differences
from tfrecord_fast.data.saving.named_tuples import class_of
from tfrecord_fast.data.saving.saved import Saving, elements_in
from tfrecord_fast.values.columns.bytes_array import BytesArray

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", "x y")


class Typed(typing.NamedTuple):
    x: object
    y: object = 5


class Grown(Pair):
    __slots__ = ()


def local_class():
    return collections.namedtuple("Local", "x y")


LOCAL = local_class()
LOCAL.__qualname__ = "local_class.<locals>.Local"

EXAMPLES = [wire.example([(b"a", wire.feature("bytes", words))]) for words in ([b"x", b""], [], [b"yy"])]
SEQUENCES = [
    wire.sequence_example([], [(b"a", [wire.feature("int64", step) for step in steps])])
    for steps in ([[1, 2], [], [3], []], [[4]], [])
]
LISTS = {"a": tf.VarLenFeature(tf.int64)}


def with_indices(columns):
    assert len(columns["a"].indices) == 4
    return columns


ELEMENTS = {
    "named": lambda i: Pair(i, i),
    "nested": lambda i: {"a": Pair((i,), Typed(i, b"x"))},
    "typed": lambda i: Typed(i),
    "a subclass": lambda i: Grown(i, i),
    "a local class": lambda i: LOCAL(i, i),
    "in order": lambda i: collections.OrderedDict([("b", i), ("a", i)]),
    "with defaults": lambda i: collections.defaultdict(int, b=i),
    "bytes": lambda i: BytesArray([[b"a\0", b""]]),
    "records": lambda i: tf.encode_examples({"a": np.arange(3)}),
    "big": lambda i: np.arange(3, dtype=">i4"),
    "big doubles": lambda i: {"a": np.arange(3, dtype=">f8").reshape(1, 3)},
    "big and sparse": lambda i: tf.SparseTensor([[0]], np.array([1], ">i4"), [2]),
    "big and ragged": lambda i: tf.RaggedTensor.from_row_splits(np.arange(3, dtype=">f4"), [0, 2, 3]),
    "no dimensions": lambda i: np.array(5),
    "an object": lambda i: np.array(b"x", object),
}
WORDS = BytesArray([b"a\0", b"", b"ccc"])
ELEMENTS |= {
    "sparse bytes": lambda i: tf.SparseTensor([[0], [1], [2]], WORDS, [4]),
    "sparse objects": lambda i: tf.SparseTensor([[0], [1], [2]], [b"a", b"", b"c"], [4]),
    "ragged bytes": lambda i: {"a": tf.RaggedTensor.from_row_splits(WORDS, [0, 2, 3])},
    "ragged objects": lambda i: tf.RaggedTensor.from_row_splits([b"a", b"", b"c"], [0, 2, 3]),
    "twice ragged bytes": lambda i: tf.RaggedTensor.from_row_splits(ELEMENTS["ragged bytes"](i)["a"], [0, 1, 2]),
    "parsed": lambda i: tf.io.parse_example(EXAMPLES, {"a": tf.VarLenFeature(tf.string)}),
    "one parsed": lambda i: tf.io.parse_single_example(EXAMPLES[1], {"a": tf.VarLenFeature(tf.string)}),
    "steps": lambda i: tf.io.parse_sequence_example(SEQUENCES, sequence_features=LISTS)[1],
    "steps of one": lambda i: tf.io.parse_single_sequence_example(SEQUENCES[0], sequence_features=LISTS)[1],
    "steps with indices": lambda i: with_indices(tf.io.parse_sequence_example(SEQUENCES, sequence_features=LISTS)[1]),
    "no steps": lambda i: tf.io.parse_sequence_example([b"", b""], sequence_features=LISTS)[1],
}
KEPT = {
    "cache": lambda dataset, folder: dataset.cache(folder / "kept"),
    "snapshot": lambda dataset, folder: dataset.snapshot(folder),
}


def told(value):
    """Types all the way down, and values."""
    kind = type(value), getattr(value, "dtype", None), getattr(value, "shape", None)
    if isinstance(value, dict):
        return kind, [(key, told(item)) for key, item in value.items()]
    if isinstance(value, tuple):
        return kind, [told(item) for item in value]
    if isinstance(value, tf.SparseTensor):
        steps = None if value.row_steps is None else value.row_steps.tolist()
        parts = value.has_indices, value.indices.tolist(), value.row_splits.tolist(), steps
        return kind, told(value.values), parts
    if isinstance(value, tf.RaggedTensor):
        return kind, told(value.flat_values), [told(splits) for splits in value.nested_row_splits]
    return kind, value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("case", ELEMENTS)
def test_all_epochs_give_the_same_types(case, kept, tmp_path):
    dataset = KEPT[kept](Dataset.range(2).map(ELEMENTS[case]), tmp_path)
    epochs = [[told(element) for element in dataset] for _ in range(3)]
    assert epochs[0] == epochs[1] == epochs[2]


@pytest.mark.parametrize("case", sorted(ELEMENTS.keys() - {"with defaults", "no dimensions", "an object"}))
def test_what_is_loaded_has_the_types_of_what_was_saved(case, tmp_path):
    dataset = Dataset.range(2).map(ELEMENTS[case])
    dataset.save(tmp_path)
    assert [told(element) for element in Dataset.load(tmp_path)] == [told(element) for element in dataset]


def test_a_file_of_an_earlier_version_is_read(tmp_path):
    sparse = tf.SparseTensor([[0], [2]], [b"a", b"b"], [4])
    parts = [bytes(tf.io.serialize_tensor(part)) for part in (sparse.indices, np.asarray(sparse.values), np.array([4]))]
    structure = {"leaf": "sparse", "dtype": "string", "splits": []}
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(json.dumps({"format": "elements of tfrecord_fast", "structure": structure}))
        writer.write(tf.encode_examples({"parts": [parts]})[0])
        writer.write(json.dumps({"count": 1}))
    (element,) = elements_in(str(tmp_path / "a"), "")
    assert (element.indices.tolist(), [*element.values], element.shape) == ([[0], [2]], [b"a", b"b"], (4,))


@pytest.mark.parametrize("splits", [[0, 9], [1, 3], [0, 3, 2, 3]])
def test_rows_that_do_not_fit_a_sparse_component_are_an_error(splits, tmp_path):
    sparse = tf.SparseTensor.from_row_splits(np.arange(3), np.array(splits), [1, 3])
    Dataset.from_tensors(sparse).save(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(Dataset.load(tmp_path))


def test_the_face_gives_the_same_types(tmp_path):
    for number, case in enumerate(["named", "typed", "in order", "bytes"]):
        dataset = face.data.Dataset.range(2).map(ELEMENTS[case]).cache(str(tmp_path / str(number)))
        epochs = [[(type(element), getattr(element, "_fields", ())) for element in dataset] for _ in range(2)]
        assert epochs[0] == epochs[1]


OTHER = """
import sys
import tfrecord_fast as tf
loaded = tf.data.Dataset.load(sys.argv[1])
for element in [*loaded, *loaded]:
    print(type(element).__module__, type(element).__name__, element._fields, int(element.x), len({*map(type, loaded)}))
"""


def loaded_elsewhere(before, folder):
    done = subprocess.run([sys.executable, "-c", before + OTHER, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_another_process_makes_the_class_again(tmp_path):
    Dataset.range(1).map(ELEMENTS["named"]).save(tmp_path)
    lines = loaded_elsewhere("", tmp_path)
    assert [line.partition(" ")[2] for line in lines] == ["Pair ('x', 'y') 0 1"] * 2


def test_another_process_that_has_imported_the_class_uses_it(tmp_path):
    Dataset.range(1).map(ELEMENTS["typed"]).save(tmp_path)
    lines = loaded_elsewhere(f"import {__name__}\n", tmp_path)
    assert lines == [f"{__name__} Typed ('x', 'y') 0 1"] * 2


SAME_AS_TENSORFLOW = """
def kinds(folder):
    import collections
    Pair = collections.namedtuple("Pair", "x y")
    dataset = tf.data.Dataset.range(1).map(lambda i: Pair(i, {"a": i}))
    cached, snapshot = dataset.cache(folder + "/c"), dataset.snapshot(folder + "/s")
    dataset.save(folder + "/v")
    loaded = tf.data.Dataset.load(folder + "/v")
    return [[[type(e).__name__, list(e._fields)] for e in one] for one in (cached, cached, snapshot, snapshot, loaded)]
"""


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_named_tuples_stay_where_tensorflow_keeps_them(tmp_path):
    space = {"tf": tf}
    exec(SAME_AS_TENSORFLOW, space)
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    theirs = live_tensorflow.call(SAME_AS_TENSORFLOW.strip() + "\n", str(tmp_path / "theirs"))
    assert space["kinds"](str(tmp_path / "ours")) == theirs


@pytest.mark.parametrize(
    "said",
    [
        {"module": "m", "name": "P", "fields": ["a b"]},
        {"module": "m", "name": "x; y", "fields": ["a"]},
        {"module": "m", "name": "P", "fields": ["a", "a"]},
        {"module": "m", "name": "", "fields": ["_a"]},
    ],
)
def test_a_file_with_a_class_that_can_not_be_is_an_error(said, tmp_path):
    structure = {"tuple": [{"leaf": "tensor", "dtype": "int64", "splits": []}], **said}
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(json.dumps({"format": "elements of tfrecord_fast", "structure": structure}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot create a named tuple"):
        list(elements_in(str(tmp_path / "a"), ""))


def test_a_file_names_no_other_class_than_a_named_tuple(tmp_path):
    structure = {"tuple": [{"leaf": "tensor", "dtype": "int64", "splits": []}]}
    said = {"module": "collections", "name": "OrderedDict", "fields": ["x"]}
    saving = Saving(str(tmp_path / "a"), "")
    saving.add((np.int64(1),))
    saving.complete()
    records = list(tf.compat.v1.io.tf_record_iterator(str(tmp_path / "a")))
    records[0] = json.dumps({"format": "elements of tfrecord_fast", "structure": {**structure, **said}}).encode()
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write_batch(records)
    (element,) = elements_in(str(tmp_path / "a"), "")
    assert type(element).__name__ == "OrderedDict" and element._fields == ("x",) and isinstance(element, tuple)


def test_elements_of_different_classes_are_an_error(tmp_path):
    saving = Saving(str(tmp_path / "a"), "")
    saving.add(Pair(np.int64(1), np.int64(1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1 differs"):
        saving.add((np.int64(1), np.int64(1)))
    saving.discard()


class WithCode(collections.namedtuple("WithCode", "x")):
    """A class of this module, which is imported: to make one runs code."""


def test_a_file_makes_no_class_whose_code_would_run():
    made = class_of({"module": __name__, "name": "WithCode", "fields": ["x"]})
    assert made is not WithCode and made._fields == ("x",) and made.__bases__ == (tuple,)


class Doubled(Pair):
    """What it is made of is not what it has."""

    def __new__(cls, x, y):
        return super().__new__(cls, x * 2, y)


def test_a_class_that_changes_what_it_is_made_of_has_the_same_values_in_all_epochs(tmp_path):
    made = Dataset.from_tensor_slices(np.arange(1, 4)).map(lambda x: Doubled(x, x))
    expected = [(int(one.x), int(one.y)) for one in made]
    kept = made.cache(str(tmp_path / "cache"))
    for _ in range(3):
        found = list(kept)
        assert [type(one) for one in found] == [Doubled] * 3
        assert [(int(one.x), int(one.y)) for one in found] == expected


HEADERS = [
    {"dict": [1]},
    {"dict": {"a": 1}},
    {"tuple": 5},
    {"tuple": [{}], "module": 1, "name": None, "fields": ["a"]},
    {"tuple": [], "module": "m", "name": "N", "fields": ["a"]},
    {"tuple": [], "module": "m", "name": "N", "fields": ["for"]},
    {"leaf": "tensor"},
    {"leaf": "none", "dtype": "int32", "splits": []},
    {"leaf": "tensor", "dtype": "objects", "splits": []},
    {"leaf": "tensor", "dtype": ">O", "splits": []},
    {"leaf": "tensor", "dtype": 5, "splits": []},
    {"leaf": "tensor", "dtype": "<zz", "splits": []},
    {"leaf": "ragged", "dtype": "int32", "splits": ["int8"]},
    {"leaf": "ragged", "dtype": "int32", "splits": 7},
    "text",
    5,
    [],
]


@pytest.mark.parametrize("structure", HEADERS, ids=json.dumps)
def test_a_header_that_does_not_say_of_what_is_an_error(tmp_path, structure):
    with tf.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(json.dumps({"format": "elements of tfrecord_fast", "structure": structure}))
        writer.write(json.dumps({"count": 0}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a saved dataset: its first record"):
        list(elements_in(str(tmp_path / "a"), ""))


# ---- What specs say ----

LOADED = """
import tempfile
folder = tempfile.TemporaryDirectory()
tf.data.Dataset.from_tensor_slices({"a": [[1, 2], [3, 4]], "b": [True, False]}).save(folder.name)

def load(spec):
    made = tf.data.Dataset.load(folder.name, spec)
    return str(made.element_spec), list(made.as_numpy_iterator())

def yields(spec, *values):
    made = tf.data.Dataset.from_generator(lambda: values, output_signature=spec)
    return [one for one in made]

def spec(shape, dtype=tf.int32):
    return tf.TensorSpec(shape, dtype)

def ragged(shape, dtype=tf.int32, *more):
    return tf.RaggedTensorSpec(shape, dtype, *more)

def sparse(shape, dtype=tf.int32):
    return tf.SparseTensorSpec(shape, dtype)

r, f = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1.5], []])
s = tf.sparse.from_dense([[0, 1], [2, 0]])
"""
SPECS = [
    "{'a': spec([2]), 'b': spec([], tf.bool)}",
    "{'a': spec([None]), 'b': spec([], tf.bool)}",
    "{'a': spec([3]), 'b': spec([], tf.bool)}",
    "{'a': spec([]), 'b': spec([], tf.bool)}",
    "{'a': spec([2], tf.int64), 'b': spec([], tf.bool)}",
    "{'a': spec([2], tf.float32), 'b': spec([], tf.bool)}",
    "{'c': spec([2]), 'd': spec([], tf.bool)}",
    "(spec([2]), spec([], tf.bool))",
    "(spec([2]), (spec([], tf.bool),))",
]


SIGNATURES = [
    "ragged([2, None]), r",
    "ragged([None, None]), r, r",
    "ragged([3, None]), r",
    "ragged([None, None], tf.float32), f",
    "ragged([None, None], tf.float32), r",
    "ragged([None, None, None]), r",
    "ragged([2, None], tf.int32, 1, tf.int32), r",
    "sparse([2, 2]), s",
    "sparse([None, None]), s",
    "sparse([2, 3]), s",
    "sparse([None, None, None]), s",
    "sparse([None, None], tf.int64), s",
    "spec([None, None]), r",
    "spec([None, None]), s",
    "(spec([]), ragged([None, None])), (1, r)",
    "(spec([]), ragged([None, None])), (1.5, r)",
]


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_elements_are_what_given_specs_say_or_an_error():
    """As in TensorFlow."""
    cases = [f"load({spec})" for spec in SPECS] + [f"yields({signature})" for signature in SIGNATURES]
    assert differences(cases, LOADED) == []


@pytest.mark.parametrize(
    "spec",
    [
        face.TensorSpec([2], face.int32),
        {"a": face.TensorSpec([2], face.int32)},
        (face.TensorSpec([2], face.int32), face.SparseTensorSpec([None], face.bool)),
        (face.TensorSpec([2], face.int32), face.RaggedTensorSpec([None, None], face.bool)),
    ],
)
def test_a_spec_of_other_components_is_an_error(tmp_path, spec):
    """Where TensorFlow's own fails deep inside, or leaves some out."""
    Dataset.from_tensor_slices(([[1, 2], [3, 4]], [True, False])).save(str(tmp_path / "a"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"spec has 1|expected a (Sparse|Ragged)Tensor of bool"):
        list(Dataset.load(str(tmp_path / "a"), spec))


def test_a_spec_without_a_rank_takes_any_shape(tmp_path):
    Dataset.from_tensor_slices([[1, 2], [3, 4]]).save(str(tmp_path / "a"))
    loaded = Dataset.load(str(tmp_path / "a"), tf.TensorSpec(None, tf.int32))
    assert [row.tolist() for row in loaded] == [[1, 2], [3, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a Tensor of int64, any shape"):
        list(Dataset.load(str(tmp_path / "a"), tf.TensorSpec(None, tf.int64)))
