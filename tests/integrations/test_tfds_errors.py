"""What is wrong with a TFDS folder is said, with the file, the record and the feature; no data is lost."""

import json
import pickle
import random

import pytest

import tfrecord_fast as tf
from tests.support import tfds_folders
from tfrecord_fast.integrations import tfds


def test_an_example_that_lacks_a_feature_is_refused(tmp_path):
    dataset = tfds_folders.copied(tmp_path, "plain")
    file = dataset / "matrix-train.tfrecord-00001-of-00002"
    write_examples(file, 11, lambda i: {"id": [i]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{file}.*'name'.*record 0"):
        list(tfds.load(dataset, "train", cycle_length=1))


def test_an_image_that_cannot_be_decoded_is_named(tmp_path):
    dataset = tfds_folders.copied(tmp_path, "top")
    file = dataset / "matrix-train.tfrecord-00001-of-00002"
    write_examples(file, 11, lambda i: {"image": [b"no image"], "label": [i]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{file}.*'image'.*record 0"):
        list(tfds.load(dataset, "train"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{file}.*'image'.*record 0"):
        list(tfds.load(dataset, "train", batch_size=4))


def test_a_step_that_cannot_be_decoded_is_named_when_it_is_asked_for(tmp_path):
    dataset = tfds_folders.copied(tmp_path, "steps")
    file = dataset / "matrix-train.tfrecord-00000-of-00002"
    write_examples(file, 12, lambda i: {"steps/observation/image": [b"no image", b""]})
    (example, *_) = tfds.load(dataset, "train[:3]", columns=["steps/observation/image"])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=rf"{file}.*element 1.*'steps/observation/image'.*record 0"
    ):
        example["steps"][1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="'steps/observation/image'"):
        pickle.loads(pickle.dumps(example["steps"]))[0]


def write_examples(file, count, example):
    with tf.TFRecordWriter(file) as writer:
        for i in range(count):
            writer.write_batch(tf.encode_examples({key: [value] for key, value in example(i).items()}))


def test_ragged_rows_that_do_not_fit_are_named(tmp_path):
    dataset = tfds_folders.copied(tmp_path, "ragged")
    file = dataset / "matrix-train.tfrecord-00000-of-00002"
    write_examples(file, 12, lambda i: {"two/ragged_flat_values": [1, 2], "two/ragged_row_lengths_0": [1, 3]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{file}.*'two'.*record 0"):
        list(tfds.load(dataset, "train", columns=["two"]))


def test_damage_and_missing_files_are_named(tmp_path):
    dataset = tfds_folders.copied(tmp_path, "many")
    file = dataset / "matrix-train.tfrecord-00003-of-00020"
    data = bytearray(file.read_bytes())
    data[14] ^= 1
    file.write_bytes(data)
    for split in ("train", "train[1:]"):
        with pytest.raises(tf.DataLossError, match=f"{file}.*record 0"):
            list(tfds.load(dataset, split))
    file.unlink()
    with pytest.raises(FileNotFoundError, match=str(file)):
        list(tfds.load(dataset, "train"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dataset_info.json", "{"),
        ("dataset_info.json", "[]"),
        ("dataset_info.json", "{}"),
        ("dataset_info.json", '{"name": "x", "splits": [{"name": "train", "numShards": "2"}]}'),
        ("dataset_info.json", '{"name": "x", "fileFormat": "array_record"}'),
        ("dataset_info.json", '{"name": "x", "splits": [5]}'),
        ("features.json", "no"),
        ("features.json", '{"pythonClassName": "tensorflow_datasets.x.Sequence", "sequence": {}}'),
        ("features.json", '{"pythonClassName": "tensorflow_datasets.x.FeaturesDict", "featuresDict": {"features": 5}}'),
    ],
)
def test_metadata_that_is_not_tfds_is_named(tmp_path, name, text):
    dataset = tfds_folders.copied(tmp_path, "plain")
    (dataset / name).write_text(text)
    with pytest.raises(tf.errors.InvalidArgumentError, match=str(dataset / name)):
        tfds.load(dataset)


def places_in(content, place=()):
    """Where there is something in JSON."""
    yield place
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, one in inner:
        yield from places_in(one, (*place, key))


ODD = [None, 0, -1, 3, "", "x", "uint8", "string", "zlib", [], {}, [1], [None], {"a": 1}, 1.5, "-1", "9" * 25, 2**70]


@pytest.mark.parametrize("seed", range(40))
def test_metadata_changed_at_random_gives_examples_or_an_error_of_ours(tmp_path, seed):
    draw = random.Random(seed)
    dataset = tfds_folders.copied(tmp_path, draw.choice([name for name in tfds_folders.CONFIGS if name != "many"]))
    path = dataset / draw.choice(["features.json", "dataset_info.json"])
    content = json.loads(path.read_text())
    *outer, last = draw.choice(list(places_in(content))[1:])
    place = content
    for key in outer:
        place = place[key]
    place[last] = draw.choice(ODD)
    path.write_text(json.dumps(content))
    try:
        for examples in tfds.load(dataset).values():
            assert len(list(examples)) == len(examples)
        for batches in tfds.load(dataset, batch_size=5).values():
            assert len(list(batches)) == len(batches)
    except (tf.errors.TFRecordError, FileNotFoundError) as error:
        assert str(error)


def test_a_dataset_without_features_json_is_too_old(tmp_path):
    dataset = tfds_folders.copied(tmp_path, "plain")
    (dataset / "features.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"features\.json"):
        tfds.load(dataset)
