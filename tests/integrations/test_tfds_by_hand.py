"""Datasets of TFDS whose files are written by hand: features, values and splits that TFDS itself does not write."""

import json
import pickle
import zlib

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations import tfds
from tfrecord_fast.integrations.tfds.collating import stacked
from tfrecord_fast.integrations.tfds.nodes import SkipDecoding
from tfrecord_fast.integrations.tfds.splits import SplitInfo, even_splits, pieces_of, split_of
from tfrecord_fast.values.columns.bytes_array import BytesArray
from tfrecord_fast.values.columns.ragged import RaggedTensor


def feature(kind, **content):
    return {"type": f"tensorflow_datasets.core.features.{kind}", "content": content}


def tensor(dtype="int64", shape=(), **more):
    return feature("Tensor", shape=list(shape), dtype=dtype, **more)


def sequence(inner, length=None, kind="Sequence"):
    return feature(kind, feature=inner, length=length)


def mapping(**inner):
    return feature("FeaturesDict", **inner)


def made(folder, features, examples=(), **info):
    """A dataset of one split and one file."""
    (folder / "features.json").write_text(json.dumps(features))
    split = {"name": "train", "shardLengths": [str(len(examples))], "numBytes": "1"}
    content = {"name": "mine", "version": "1.0.0", "splits": [split], **info}
    (folder / "dataset_info.json").write_text(json.dumps(content))
    with tf.TFRecordWriter(folder / "mine-train.tfrecord-00000-of-00001") as writer:
        for example in examples:
            writer.write_batch(tf.encode_examples({key: [value] for key, value in example.items()}))
    return folder


def features_of(folder, **inner):
    return tfds.info(made(folder, mapping(**inner))).features


# ---- features.json ----


def test_features_show_what_they_are(tmp_path):
    found = features_of(
        tmp_path,
        t=tensor("float32", (2, None)),
        c=feature("ClassLabel", num_classes=3),
        i=feature("Image", shape=[None, 4, 3], dtype="uint8"),
        s=sequence(tensor()),
        d=sequence(mapping(a=tensor()), kind="Dataset"),
        u=feature("Nonsense"),
    )
    shown = {
        "t": "Tensor(shape=(2, None), dtype=float32)",
        "c": "ClassLabel(num_classes=3)",
        "i": "Image(shape=(None, 4, 3), dtype=uint8)",
        "s": "Sequence(Tensor(shape=(), dtype=int64))",
        "d": "Dataset(FeaturesDict({'a': Tensor(shape=(), dtype=int64)}))",
        "u": "Nonsense(unknown)",
    }
    assert {key: repr(one) for key, one in found.items()} == shown
    assert repr(found) == f"FeaturesDict({{{', '.join(f'{key!r}: {one}' for key, one in shown.items())}}})"
    assert repr(found["d"]["a"]) == "Tensor(shape=(), dtype=int64)" and found["d"]["a"].name == "d/a"
    with pytest.raises(KeyError, match="a"):
        found["s"]["a"]
    assert repr(SkipDecoding()) == "SkipDecoding()"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (tensor(encoding="lz4"), "feature 'x': unknown encoding 'lz4'"),
        (
            feature("Image", shape=[2, 2, 3], dtype="int64"),
            "feature 'x': an image is uint8, uint16 or float32, not int64",
        ),
        (tensor(shape=["a"]), "not written by TFDS: ValueError"),
    ],
)
def test_a_feature_that_can_not_be_is_named(tmp_path, wrong, said):
    with pytest.raises(InvalidArgumentError, match=f"^{tmp_path}/features.json: {said}"):
        features_of(tmp_path, x=wrong)


def test_names_of_labels_are_as_many_as_classes(tmp_path):
    (tmp_path / "x.labels.txt").write_text("a\n b \n\nc\n")
    assert features_of(tmp_path, x=feature("ClassLabel", num_classes=3))["x"].names == ["a", "b", "c"]
    with pytest.raises(InvalidArgumentError, match=r"features\.json: 3 names of labels for 4 classes"):
        features_of(tmp_path, x=feature("ClassLabel", num_classes=4))


@pytest.mark.parametrize(
    ("unknown", "why"),
    [
        (tensor("quaternion"), "NumPy has no dtype 'quaternion'"),
        (tensor("complex64"), "NumPy has no dtype 'complex64'"),
        (feature("Image", shape=[2, 2, 3], dtype="none"), "NumPy has no dtype 'none'"),
        (feature("Audio", dtype="none"), "NumPy has no dtype 'none'"),
        (feature("Text", use_encoder=True), "its text is encoded as numbers, which TFDS no longer supports"),
        (feature("Nonsense"), "its class tensorflow_datasets.core.features.Nonsense is not one of TFDS"),
        (feature("Audio", shape=[None], dtype="int64", lazy_decode=True, file_format="flac"),
         r"audio files \(flac\) are not decoded here"),
        (feature("Audio", dtype="int64", lazy_decode=True),
         r"audio files \(of any format\) are not decoded here"),
        (tensor("int64", (None, None, 2)), r"values of the shape \(None, None, 2\) can't be separated"),
        (tensor("int64", (1 << 24, 1 << 24)), r"too many values: \(16777216, 16777216\)"),
        (sequence(tensor("int64", (1 << 24,)), 1 << 24), r"too many values: \(16777216, 16777216\)"),
        (sequence(tensor("int64", (None,))), r"values of the shape \(None, None\) can't be separated"),
        (sequence(sequence(tensor("int64", (None,)))), r"values of the shape \(None, None, None\) can't be separated"),
        (sequence(sequence(tensor(), kind="Dataset")), "a sequence of datasets can't be read"),
    ],
)  # fmt: skip
def test_a_feature_that_can_not_be_read_is_named_and_is_no_obstacle_to_others(tmp_path, unknown, why):
    folder = made(tmp_path, mapping(x=unknown, y=tensor()), [{"y": 1}, {"y": 2}])
    with pytest.raises(InvalidArgumentError, match=f"^feature 'x': {why}"):
        tfds.load(folder, "train")
    assert [int(one["y"]) for one in tfds.load(folder, "train", columns=["y"])] == [1, 2]


# ---- dataset_info.json ----


def test_supervised_keys_are_a_nest(tmp_path):
    features, example = mapping(x=tensor(), y=tensor()), {"x": 1, "y": 2}
    for number, (keys, expected) in enumerate(
        [
            ({"input": "x", "output": "y"}, (1, 2)),
            ({"tuple": {"items": [{"featureKey": "y"}, {"featureKey": "x"}]}}, (2, 1)),
            (
                {"tuple": {"items": [{"dict": {"dict": {"a": {"featureKey": "x"}}}}, {"featureKey": "y"}]}},
                ({"a": 1}, 2),
            ),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        made(folder, features, [example], supervisedKeys=keys)
        assert list(tfds.load(folder, "train", as_supervised=True)) == [expected]
    made(tmp_path, features, [example], supervisedKeys={"input": "x", "output": "z"})
    with pytest.raises(InvalidArgumentError, match=r"supervised keys \['z'\] are not among its features"):
        tfds.load(tmp_path, "train", as_supervised=True)


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ({"name": "train", "shardLengths": ["3", "-1"]}, "split 'train': a shard of -1 examples"),
        ({"name": "train", "shardLengths": ["3"], "filepathTemplate": "{NO}"},
         r"filepathTemplate '\{NO\}': unknown \{NO\}"),
    ],
)  # fmt: skip
def test_a_split_that_can_not_be_is_named(tmp_path, split, said):
    made(tmp_path, mapping(x=tensor()), [], splits=[split])
    with pytest.raises(InvalidArgumentError, match=f"^{tmp_path}/dataset_info.json: {said}"):
        tfds.info(tmp_path)


def test_examples_show_how_many_they_are(tmp_path):
    made(tmp_path, mapping(x=tensor()), [{"x": i} for i in range(5)])
    assert repr(tfds.load(tmp_path, "train")) == "<Examples of mine/1.0.0: 5>"
    batches = tfds.load(tmp_path, "train[1:]", batch_size=3)
    assert repr(batches) == "<Examples of mine/1.0.0: 4 in batches of 3>" and len(batches) == 2
    assert [batch["x"].tolist() for batch in batches] == [[1, 2, 3], [4]]
    with pytest.raises(TypeError, match=r"examples\[i\] needs a dataset without batch_size"):
        batches[0]
    with pytest.raises(TypeError, match="columns must be a list of keys, got the string 'x'"):
        tfds.load(tmp_path, "train", columns="x")
    for index in (5, -6):
        with pytest.raises(IndexError, match=f"example {index} of 5"):
            tfds.load(tmp_path, "train")[index]


# ---- Values ----


def loaded(folder, examples, *arguments, **inner):
    return tfds.load(made(folder, mapping(**inner), examples), "train", *arguments)


@pytest.mark.parametrize(
    ("stored", "inner", "said"),
    [
        ({"x": [1, 2, 3]}, tensor("int64", (2, None)), r"feature 'x': 3 values don't fit the shape \(2, None\)"),
        ({"x": [b"\2"]}, tensor("bool", (1,), encoding="bytes"),
         "feature 'x': a bool is stored as a number other than 0 and 1"),
        ({"x": [b"\0" * 3]}, tensor("uint8", (2,), encoding="bytes"),
         r"feature 'x': expected the shape \(2,\), got \(3,\)"),
        ({"x": [zlib.compress(b"\0" * 3)]}, tensor("uint8", (2,), encoding="zlib"),
         "feature 'x': expected 2 bytes, compressed"),
        ({"x": [zlib.compress(b"\0")]}, tensor("uint8", (2,), encoding="zlib"),
         "feature 'x': expected 2 bytes, compressed"),
        ({"x": [zlib.compress(b"\0\0")[:-1]]}, tensor("uint8", (2,), encoding="zlib"),
         "feature 'x': expected 2 bytes, compressed"),
        ({"x/shape": [2, 1], "x/value": [b"\0" * 3]}, tensor("uint8", (None, None), encoding="bytes"),
         r"feature 'x': expected the shape \(2,\), got \(3,\)"),
        ({"x/shape": [2, 1], "x/value": [b"\0\0"]}, tensor("uint8", (None, None, 3), encoding="bytes"), "feature 'x"),
        ({"x/shape": [1, 2, 2], "x/value": [b"\0" * 4]}, tensor("uint8", (None, None, 3), encoding="bytes"),
         r"feature 'x': expected the shape \(None, None, 3\), got \(1, 2, 2\)"),
        ({"x/ragged_flat_values": [1, 2, 3, 4], "x/ragged_row_lengths_0": [3, 1]}, sequence(sequence(tensor(), 2)),
         r"feature 'x': expected rows of 2 values, got \[3, 1\]"),
        ({"x/ragged_flat_values": [1, 2, 3, 4], "x/ragged_row_lengths_0": [3, 1]}, sequence(sequence(tensor()), 3),
         "feature 'x': expected 3 rows, got 2"),
        ({"x": [b"\0" * 2, b"\0" * 4]}, sequence(tensor("uint8", (None,), encoding="bytes")),
         r"feature 'x': values of the shapes \[\(2,\), \(4,\)\] don't fit in one array"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_value_that_does_not_fit_is_named(tmp_path, stored, inner, said, batch_size):
    folder = made(tmp_path, mapping(x=inner), [stored, stored])
    with pytest.raises(InvalidArgumentError, match=f"mine-train.tfrecord-00000-of-00001.*{said}.*record 0"):
        list(tfds.load(folder, "train", batch_size=batch_size))


@pytest.mark.parametrize(
    ("stored", "inner", "value"),
    [
        ({"x": [1, 2, 3, 4]}, tensor("int64", (2, None)), [[1, 2], [3, 4]]),
        ({"x": np.array([], np.int64)}, tensor("int64", (2, None)), [[], []]),
        ({"x": np.array([], np.int64)}, tensor("int64", (None, 2)), []),
        ({"x": np.array([], np.int64)}, tensor("int64", (0, None)), []),
        ({"x": [b"\1\0"]}, tensor("bool", (2,), encoding="bytes"), [True, False]),
        ({"x": [b"\1\0\2\0"]}, tensor("uint16", (None,), encoding="bytes"), [1, 2]),
        ({"x": [zlib.compress(b"\1\2\3\4")]}, tensor("uint8", (2, None), encoding="zlib"), [[1, 2], [3, 4]]),
        ({"x/shape": [2, 1], "x/value": [b"\5\6"]}, tensor("uint8", (None, None), encoding="bytes"), [[5], [6]]),
        ({"x": [-1]}, tensor("uint64"), 2**64 - 1),
        ({"x": [b"\1", b"\2"]}, sequence(tensor("uint8", (1,), encoding="bytes")), [[1], [2]]),
    ],
)
def test_values_are_what_is_stored(tmp_path, stored, inner, value):
    (example,) = loaded(tmp_path, [stored], x=inner)
    assert example["x"].tolist() == value
    (batch,) = tfds.load(tmp_path, "train", batch_size=2)
    assert batch["x"].tolist() == [value]


def test_an_error_of_a_function_of_ones_own_comes_as_it_is(tmp_path):
    def fail(value, feature):
        raise ValueError(f"my own {value} {feature.name}")

    folder = made(tmp_path, mapping(x=tensor()), [{"x": 7}])
    with pytest.raises(ValueError, match=r"^my own 7 x$") as caught:
        list(tfds.load(folder, "train", decoders={"x": fail}))
    assert type(caught.value) is ValueError


def test_a_default_takes_the_place_of_an_optional_value(tmp_path):
    inner = {
        "u": tensor("uint8", optional=True), "f": tensor("float32", (2,), optional=True),
        "b": tensor("bool", optional=True),
        "s": tensor("string", optional=True), "i": tensor("int16", (1, 2), optional=True),
    }  # fmt: skip
    (example,) = loaded(tmp_path, [{"other": 1}], **inner)
    least = float(np.finfo(np.float32).min)
    assert (example["u"], example["b"], example["s"]) == (0, False, b"")
    assert example["f"].tolist() == [least, least] and example["i"].tolist() == [[-32768, -32768]]


def steps_of(folder):
    episodes = [
        {"s/a": list(range(i)), "s/b": [b"%d" % j for j in range(i)], "v": np.arange(2, dtype=np.int64)}
        for i in (2, 0, 3)
    ]
    inner = {
        "s": sequence(mapping(a=tensor(), b=feature("Text")), kind="Dataset"),
        "v": sequence(tensor(), kind="Dataset"),
    }
    return made(folder, mapping(**inner), episodes)


def plain(step):
    return int(step["a"]), bytes(step["b"])


def test_steps_are_a_sequence(tmp_path):
    examples = list(tfds.load(steps_of(tmp_path), "train"))
    steps = examples[2]["s"]
    assert repr(steps) == "<Steps of 's': 3>" and len(steps) == 3 and [len(one["s"]) for one in examples] == [2, 0, 3]
    assert [plain(step) for step in steps] == [(0, b"0"), (1, b"1"), (2, b"2")] and plain(steps[-1]) == (2, b"2")
    assert [plain(step) for step in steps[1:]] == [(1, b"1"), (2, b"2")] and len(steps[5:]) == 0
    assert [plain(step) for step in pickle.loads(pickle.dumps(steps[:2]))] == [(0, b"0"), (1, b"1")]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"element {index} of 3"):
            steps[index]
    with pytest.raises(ValueError, match="steps can only be sliced with a step of 1"):
        steps[::2]
    assert [int(value) for value in examples[0]["v"]] == [0, 1]


def test_a_batch_has_the_steps_of_each_example(tmp_path):
    (batch,) = tfds.load(steps_of(tmp_path), "train", batch_size=3)
    assert [[plain(step) for step in steps] for steps in batch["s"]] == [
        [(0, b"0"), (1, b"1")], [], [(0, b"0"), (1, b"1"), (2, b"2")],
    ]  # fmt: skip


def test_steps_whose_features_have_other_numbers_of_elements_are_named(tmp_path):
    inner = sequence(mapping(a=tensor(), b=feature("Text")), kind="Dataset")
    folder = made(tmp_path, mapping(s=inner), [{"s/a": [1, 2], "s/b": [b"x"]}])
    for batch_size in (None, 1):
        with pytest.raises(InvalidArgumentError, match=r"feature 's': its features have \[1, 2\] elements.*record 0"):
            list(tfds.load(folder, "train", batch_size=batch_size))


# ---- Put together ----


def test_values_are_stacked_by_what_they_are():
    pair = stacked([{"a": np.int64(1), "b": b"x"}, {"a": np.int64(2), "b": b"yz"}], "f")
    assert pair["a"].tolist() == [1, 2] and type(pair["b"]) is BytesArray and pair["b"].tolist() == [b"x", b"yz"]
    assert stacked([np.array([1]), np.array([2, 3])], "f").tolist() == [[1, 0], [2, 3]]
    assert stacked([np.array([1, 2]), np.array([1.5, 2.5])], "f").tolist() == [[1, 2], [1.5, 2.5]]
    assert stacked([np.array([1]), np.array([1.5, 2.5])], "f").tolist() == [[1, 0], [1.5, 2.5]]
    assert np.asarray(stacked([np.array(["a"]), np.array(["long", "er"])], "f")).tolist() == [["a", ""], ["long", "er"]]
    strings = stacked([np.array([b"a"], object), np.array([b"b", b"c"], object)], "f")
    assert type(strings) is BytesArray and strings.tolist() == [[b"a", b""], [b"b", b"c"]]
    steps = [object(), object()]
    assert stacked(steps, "f") is steps
    with pytest.raises(InvalidArgumentError, match=r"^feature 'f': values of \[1, 2\] dimensions$"):
        stacked([np.zeros((1, 2)), np.zeros(1)], "f")


def test_ragged_values_are_joined_at_each_depth():
    rows = [[[1], [2, 3]], [], [[], [4]]]
    parts = [
        RaggedTensor.from_row_lengths(np.concatenate([*row, []]).astype(np.int64), [len(one) for one in row])
        for row in rows
    ]
    assert stacked(parts, "f").to_list() == rows
    deeper = [RaggedTensor.from_row_lengths(part, [len(part)]) for part in parts]
    assert stacked(deeper, "f").to_list() == [[row] for row in rows]
    words = [
        RaggedTensor.from_row_lengths(BytesArray([b"a", b"b"]), [0, 2]),
        RaggedTensor.from_row_lengths(BytesArray([b"c"]), [1]),
    ]
    assert stacked(words, "f").to_list() == [[[], [b"a", b"b"]], [[b"c"]]]


# ---- Reading ----


# ---- Splits ----

INFOS = {"train": SplitInfo("train", ["a", "b"], [3, 4], 1), "test": SplitInfo("test", ["c"], [5], 1)}


def test_all_is_every_split_and_has_a_name():
    assert repr(split_of("all")) == "all" and repr(split_of("test+all")) == "ReadInstruction('test')+all"
    assert [piece[:3] for piece in pieces_of("all", INFOS)] == [("a", 0, 3), ("b", 0, 4), ("c", 0, 5)]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("train[1shard:50%]", "'train[1shard:50%]': both ends"),
        ("train[10%:2shard]", "'train[10%:2shard]': both ends of a slice must have the same unit"),
        ("train[1.5:2]", "'train[1.5:2]' is not a split: expected a sum of terms"),
        ("train[1.5shard]", "'train[1.5shard]' is not a split"),
        ("train[5]", "'train[5]': a slice needs a colon, except for one shard"),
        ("train[5%]", "'train[5%]': a slice needs a colon, except for one shard"),
        ("all[1:]", "'all[1:]': \"all\" cannot be sliced; slice its splits, and add them"),
        ("train[:]", "'train[:]' is not a split"),
        ("train[1:2:3]", "'train[1:2:3]' is not a split"),
        ("train[x]", "'train[x]' is not a split"),
        ("train[6:8]", "ReadInstruction('train[6:8]'): split 'train' has only 7 examples"),
        ("nothing", "unknown split 'nothing'; the splits are test, train"),
    ],
)
def test_a_string_that_is_no_split_says_why(spec, said):
    with pytest.raises(InvalidArgumentError) as caught:
        pieces_of(spec, INFOS)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("count", [0, -1])
def test_there_is_a_part_at_least(count):
    with pytest.raises(InvalidArgumentError, match=f"n must be at least 1, got {count}"):
        even_splits("train", count)
    assert len(even_splits("train", 1)) == 1
