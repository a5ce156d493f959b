"""Folders as input: those of Hugging Face's datasets and of TensorFlow Datasets."""

import json

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.cli import main


def labels(path):
    parsed = [tf.train.Example.FromString(one) for one in tf.data.TFRecordDataset(str(path)).as_numpy_iterator()]
    return [one.features.feature["a"].int64_list.value[0] for one in parsed]


def rows(*values):
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_dict(
        {"a": values, "s": [f"<{one}>" for one in values], "l": [[1] * one for one in values]}
    )


def test_a_dataset_of_hugging_face_is_converted_in_its_order(tmp_path):
    rows(*range(10)).save_to_disk(tmp_path / "d", num_shards=3)
    assert main(["convert", str(tmp_path / "d"), str(tmp_path / "a.tfrecord")]) == 0
    assert labels(tmp_path / "a.tfrecord") == [*range(10)]


def test_all_splits_come_in_their_order_or_one_by_its_folder(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.DatasetDict({"train": rows(1, 2), "test": rows(3)}).save_to_disk(tmp_path / "d")
    for folder, found in (("d", [1, 2, 3]), ("d/test", [3])):
        assert main(["convert", str(tmp_path / folder), str(tmp_path / "a.tfrecord")]) == 0
        assert labels(tmp_path / "a.tfrecord") == found


def test_a_missing_file_of_a_dataset_is_an_error(tmp_path, capsys):
    rows(*range(10)).save_to_disk(tmp_path / "d", num_shards=3)
    (tmp_path / "d" / "data-00001-of-00003.arrow").unlink()
    assert main(["convert", str(tmp_path / "d"), str(tmp_path / "a.tfrecord")]) == 2
    assert "data-00001-of-00003.arrow" in capsys.readouterr().err and not (tmp_path / "a.tfrecord").exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"_data_files": 1}', '{"_data_files": [{"filename": "../x"}]}'])
def test_a_list_of_files_that_is_none_is_an_error(tmp_path, capsys, content):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "state.json").write_text(content)
    assert main(["convert", str(tmp_path / "d"), str(tmp_path / "a.tfrecord")]) == 2
    assert "state.json" in capsys.readouterr().err


@pytest.fixture
def prepared(tmp_path):
    """A folder as TensorFlow Datasets prepares one: two splits, one of two shards."""
    folder = tmp_path / "d" / "1.0.0"
    folder.mkdir(parents=True)
    (folder / "dataset_info.json").write_text(json.dumps({"name": "d", "fileFormat": "tfrecord"}))
    (folder / "features.json").write_text("{}")
    for name, values in (("test.tfrecord-00000-of-00001", [0]), *shards()):
        with tf.io.TFRecordWriter(folder / f"d-{name}") as writer:
            writer.write_batch([wire.example([(b"a", wire.feature("int64", [one]))]) for one in values])
    return folder


def shards():
    return [(f"train.tfrecord-0000{i}-of-00002", [2 * i + 1, 2 * i + 2]) for i in range(2)]


def test_a_dataset_of_tfds_is_converted_and_read(tmp_path, prepared, capsys):
    assert main(["convert", str(prepared), str(tmp_path / "a.tfrecord")]) == 0
    assert labels(tmp_path / "a.tfrecord") == [0, 1, 2, 3, 4]
    assert main(["verify", str(prepared)]) == 0
    assert capsys.readouterr().out.count("ok") == 3


@pytest.mark.parametrize("number", [0, 1])
def test_a_missing_shard_of_tfds_is_an_error(tmp_path, prepared, capsys, number):
    (prepared / f"d-train.tfrecord-0000{number}-of-00002").unlink()
    assert main(["convert", str(prepared), str(tmp_path / "a.tfrecord")]) == 2
    assert f"-0000{number}-of-00002: a file of the dataset is missing" in capsys.readouterr().err
