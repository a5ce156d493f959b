"""Where datasets of TFDS lie: folders of configs and versions, what they say of themselves, and files that lie."""

import json
import os

import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import DataLossError, InvalidArgumentError
from tfrecord_fast.integrations import tfds
from tfrecord_fast.integrations.tfds.reading import _visits, order_of
from tfrecord_fast.integrations.tfds.splits import ReadInstruction, even_splits, pieces_of, split_of


def made(folder, shards=(3,), write=None, **info):
    """A dataset of one int64 feature "x", numbered over all shards; `write`: how many records the files have."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"x": {"type": "tensorflow_datasets.Tensor", "content": {"shape": [], "dtype": "int64"}}}
    features = {"type": "tensorflow_datasets.FeaturesDict", "content": content}
    (folder / "features.json").write_text(json.dumps(features))
    split = {"name": "train", "shardLengths": list(map(str, shards))}
    (folder / "dataset_info.json").write_text(
        json.dumps({"name": "mine", "version": "1.0.0", "splits": [split], **info})
    )
    number = 0
    for i, count in enumerate(write or shards):
        with tf.TFRecordWriter(folder / f"mine-train.tfrecord-{i:05d}-of-{len(shards):05d}") as writer:
            for _ in range(count):
                writer.write_batch(tf.encode_examples({"x": [number]}))
                number += 1
    return folder


def numbers(examples):
    return [int(one["x"]) for one in examples]


# ---- Folders ----


@pytest.fixture
def place(tmp_path):
    for name in ("a/1.0.0", "a/1.2.0", "a/1.10.0", "b/2.0.0", "b/.hidden", "empty", "no.version/x"):
        (tmp_path / name).mkdir(parents=True)
        if name[-1] == "0":
            made(tmp_path / name, ())
    (tmp_path / "a" / "9.9.9").mkdir()  # without a dataset
    return tmp_path


@pytest.mark.parametrize(
    ("below", "config", "version", "found"),
    [
        ("", "a", None, "a/1.10.0"),
        ("", "a", "1.2.0", "a/1.2.0"),
        ("", "a", "1.2", "a/1.2.0"),
        ("", "a", "1.*.0", "a/1.10.0"),
        ("", "a", "*.0.*", "a/1.0.0"),
        ("", "b", None, "b/2.0.0"),
        ("a", None, None, "a/1.10.0"),
        ("a", None, "1.0", "a/1.0.0"),
        ("a/1.2.0", None, None, "a/1.2.0"),
        ("a/1.2.0", "a", "1.2.0", "a/1.2.0"),
        ("a/1.2.0/", "a", "1.*.0", "a/1.2.0/"),
    ],
)
def test_the_folder_of_a_config_in_a_version(place, below, config, version, found):
    info = tfds.info(os.path.join(place, below), config=config, version=version)
    assert info.folder == os.path.join(place, found)


@pytest.mark.parametrize(
    ("below", "config", "version", "at", "said"),
    [
        ("none", None, None, "none", "no such folder; pass the dataset's folder, as ~/tensorflow_datasets/none"),
        ("empty", None, None, "empty", "found dataset_info.json neither here nor in folders of versions and configs"),
        ("", None, None, "", "choose one with config=…; the configs are a, b"),
        ("", "c", None, "", "config 'c' does not exist; the configs are a, b"),
        ("", "a", "3", "a", "version '3' does not exist; the versions are 1.0.0, 1.2.0, 1.10.0"),
        ("a", None, "1.2.0.0", "a", "version '1.2.0.0' does not exist; the versions are 1.0.0, 1.2.0, 1.10.0"),
        ("a/1.2.0", None, "1.0.0", "a/1.2.0", "this is the folder of version '1.2.0', not of '1.0.0'"),
        ("a/1.2.0", "b", None, "a/1.2.0", "this is the folder of config 'a', not of 'b'"),
    ],
)
def test_a_folder_that_there_is_not_says_what_there_is(place, below, config, version, at, said):
    with pytest.raises(FileNotFoundError) as caught:
        tfds.info(os.path.join(place, below), config=config, version=version)
    assert (caught.value.errno, caught.value.strerror, caught.value.filename) == (2, said, os.path.join(place, at))


def test_the_default_config_is_what_the_dataset_says(place):
    (place / ".config").mkdir()
    (place / ".config" / "metadata.json").write_text('{"default_config_name": "b"}')
    assert tfds.info(place).folder == str(place / "b" / "2.0.0")
    assert tfds.info(place, config="a").folder == str(place / "a" / "1.10.0")
    (place / ".config" / "metadata.json").write_text("[]")
    with pytest.raises(InvalidArgumentError, match=r"metadata\.json: expected a JSON object, got list"):
        tfds.info(place)


# ---- What they say of themselves ----


@pytest.mark.parametrize(
    ("info", "said"),
    [
        ({"fileFormat": "riegeli"}, "the files have the format 'riegeli', but only TFRecord is supported"),
        (
            {"splits": [{"name": "train", "numShards": "2"}]},
            "split 'train' has no shardLengths: TFDS before 3.0 wrote the dataset",
        ),
        ({"splits": [{}]}, "not written by TFDS: KeyError 'name'"),
    ],
)
def test_what_is_not_read_is_said(tmp_path, info, said):
    made(tmp_path, **info)
    with pytest.raises(InvalidArgumentError) as caught:
        tfds.info(tmp_path)
    assert str(caught.value) == f"{tmp_path}/dataset_info.json: {said}"


def test_another_format_may_be_there_too(tmp_path):
    made(tmp_path, fileFormat="array_record", alternativeFileFormats=["tfrecord"], configName="c")
    found = tfds.info(tmp_path)
    assert found.full_name == "mine/c/1.0.0" and numbers(tfds.load(tmp_path, "train")) == [0, 1, 2]
    (tmp_path / "features.json").write_text('{"type": "tensorflow_datasets.Tensor", "content": {}}')
    with pytest.raises(InvalidArgumentError, match=r"features\.json: expected a FeaturesDict, got Tensor"):
        tfds.info(tmp_path)


def test_what_can_not_be_asked_for_is_said(tmp_path):
    made(tmp_path, disableShuffling=True)
    for given, said in (
        ({"shuffle_files": True}, "has a fixed order (disable_shuffling): shuffle_files=True is not allowed"),
        ({"as_supervised": True}, "has no supervised keys: omit as_supervised"),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            tfds.load(tmp_path, "train", **given)
        assert str(caught.value) == f"mine/1.0.0 {said}"
    with pytest.raises(InvalidArgumentError, match="columns: feature 'y' does not exist; the features are "):
        tfds.load(tmp_path, "train", columns=["y"])
    for name in ("cycle_length", "block_length", "num_threads"):
        with pytest.raises(InvalidArgumentError, match=f"{name} must be at least 1, got 0"):
            tfds.load(tmp_path, "train", **{name: 0})
        tfds.load(tmp_path, "train", **{name: 1})
    with pytest.raises(InvalidArgumentError, match="batch_size must be at least 1, or -1 for all, got -2"):
        tfds.load(tmp_path, "train", batch_size=-2)


# ---- Order and counts ----


def test_files_take_turns_in_blocks(tmp_path):
    made(tmp_path, (5, 2, 3))
    assert numbers(tfds.load(tmp_path, "train", cycle_length=1)) == list(range(10))
    found = numbers(tfds.load(tmp_path, "train", cycle_length=2, block_length=2))
    assert found == order_of([5, 2, 3], 2, 2).tolist() == [0, 1, 5, 6, 2, 3, 4, 7, 8, 9]
    by_number = tfds.load(tmp_path, "train", cycle_length=2, block_length=2)
    assert [int(by_number[i]["x"]) for i in range(10)] == found and int(by_number[-1]["x"]) == found[-1]
    part = tfds.load(tmp_path, "train[1:9]", cycle_length=2, block_length=2)
    assert sorted(numbers(part)) == list(range(1, 9)) == sorted(int(part[i]["x"]) for i in range(8))
    assert numbers(part) == [int(part[i]["x"]) for i in range(8)]
    assert list(_visits([2, 1], 2, 1)) == [(0, 0, 1), (1, 0, 1), (0, 1, 1)] and order_of([2, 3], 1, 7).tolist() == [
        0,
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize("split", ["train", "train[1:]", "train[:3]", "train[-4:]"])
@pytest.mark.parametrize("write", [(3, 5), (3, 3)])
def test_a_file_of_another_number_of_records_is_named(tmp_path, write, split):
    made(tmp_path, (3, 4), write)
    file = f"{tmp_path}/mine-train.tfrecord-00001-of-00002"
    if split == "train[:3]":
        assert numbers(tfds.load(tmp_path, split)) == [0, 1, 2]
        return
    with pytest.raises(DataLossError, match=r"dataset_info\.json expects 4 records, but it has ") as caught:
        list(tfds.load(tmp_path, split))
    assert caught.value.path == file
    assert caught.value.reason.endswith({5: ("5", "at least 5"), 3: ("3",)}[write[1]])
    with pytest.raises(DataLossError, match=rf"dataset_info\.json expects 4 records, but it has {write[1]}") as caught:
        tfds.load(tmp_path, split)[0]
    assert caught.value.path == file


def test_splits_are_added_and_shown(tmp_path):
    infos = tfds.info(made(tmp_path, (3, 4))).splits
    total = "train[:1]" + ReadInstruction("train", 5, None)
    assert repr(total) == "ReadInstruction('train[:1]')+ReadInstruction('train[5:]')"
    assert sum(piece.take for piece in pieces_of(total, infos)) == 3
    assert repr(ReadInstruction("train", to=10, unit="%")) == "ReadInstruction('train[:10%]', rounding='closest')"
    assert repr(even_splits(total, 2)[1]) == f"even_splits({total!r}, 2)[1]"
    for given, said in (
        ({"unit": "x"}, 'unit must be "abs", "%" or "shard", got \'x\''),
        ({"rounding": "x"}, 'rounding must be "closest" or "pct1_dropremainder", got \'x\''),
        ({"unit": "%", "to": 101}, "percents must lie between -100 and 100, got None and 101"),
        ({"unit": "%", "from_": -101}, "percents must lie between -100 and 100, got -101 and None"),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            ReadInstruction("train", **given)
        assert str(caught.value) == said
    ReadInstruction("train", -100, 100, unit="%")
    with pytest.raises(TypeError, match="a split must be a string, a ReadInstruction or from even_splits, got int"):
        split_of(3)
