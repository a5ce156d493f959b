"""`tfrecord_fast.integrations.tfds` gives what tensorflow-datasets gives, value by value."""

import copy
import json
import pickle
import shutil
import subprocess
import sys

import fsspec
import numpy as np
import pytest
import torch.utils.data

import tfrecord_fast as tf
from tests.support import tfds_folders
from tfrecord_fast.integrations import tfds

CONFIGS = [name for name in tfds_folders.CONFIGS if name != "beyond"]


@pytest.fixture(scope="module")
def folder():
    return tfds_folders.made() / "matrix"


def plain(value):
    """As `tests.support.tfds_folders` writes values."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, tf.RaggedTensor):
        return ("ragged", np.asarray(value.flat_values), *value.nested_row_splits)
    if isinstance(value, tfds.Steps):
        return ("dataset", [plain(one) for one in value])
    return value


def assert_same(mine, theirs):
    """The same values of the same types, dtypes and shapes."""
    assert type(mine) is type(theirs)
    if isinstance(theirs, dict):
        assert mine.keys() == theirs.keys()
        for key in theirs:
            assert_same(mine[key], theirs[key])
    elif isinstance(theirs, list | tuple):
        assert len(mine) == len(theirs)
        for one, another in zip(mine, theirs, strict=True):
            assert_same(one, another)
    elif isinstance(theirs, np.ndarray):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(mine, theirs)
    else:
        assert mine == theirs


# ---- Values ----


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("split", tfds_folders.SPLITS)
def test_values_and_their_order_are_those_of_tensorflow_datasets(folder, config, split):
    theirs = tfds_folders.loaded(config)[split]
    examples = tfds.load(folder, split, config=config)
    assert_same([plain(one) for one in examples], theirs)
    assert len(examples) == len(theirs)


@pytest.mark.parametrize("config", CONFIGS)
def test_an_example_has_a_number(folder, config):
    theirs = tfds_folders.loaded(config)["train"]
    examples = tfds.load(folder, "train", config=config)
    assert_same([plain(examples[i]) for i in (0, 7, -1)], [theirs[0], theirs[7], theirs[-1]])
    assert_same(plain(examples.__getitems__([3, 1, 3])[0]), theirs[3])
    assert examples.__getitems__([]) == []
    for beyond in (len(examples), -len(examples) - 1):
        with pytest.raises(IndexError):
            examples[beyond]


@pytest.mark.parametrize("split", tfds_folders.ORDERS)
def test_parts_of_files_come_in_the_same_order(folder, split):
    theirs = tfds_folders.loaded("orders")[split]
    examples = tfds.load(folder, split, config="many")
    assert [int(one["id"]) for one in examples] == theirs
    assert [int(examples[i]["id"]) for i in range(0, len(theirs), 50)] == theirs[::50]


def test_what_tensorflow_datasets_writes_but_cannot_read_is_read(folder):
    for example in tfds.load(folder, "train", config="beyond"):
        assert len(example["two"]) == 2 and example["two"].flat_values.dtype == np.int32
        assert set(np.diff(example["three"].row_splits)) <= {3}
        assert [step["tokens"][0] for step in example["steps"]] == list(range(len(example["steps"])))


def test_no_other_project_is_imported(folder):
    code = f"""
import sys
from tfrecord_fast.integrations import tfds
assert list(tfds.load({str(folder)!r}, "train", config="images"))
print({{"tensorflow", "tensorflow_datasets", "google.protobuf"}} & sys.modules.keys())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_steps_are_decoded_when_asked_for_and_can_be_sliced(folder):
    steps = next(one["steps"] for one in tfds.load(folder, "train", config="steps") if len(one["steps"]) == 3)
    assert [float(one["reward"]) for one in steps[1:]] == [float(steps[1]["reward"]), float(steps[-1]["reward"])]
    assert steps[1:][1:][0]["language"] == steps[2]["language"]
    with pytest.raises(IndexError):
        steps[3]


# ---- What to read, and how ----


def test_no_split_means_all_and_a_nest_of_splits_gives_a_nest(folder):
    every = tfds.load(folder, config="many")
    assert {name: len(one) for name, one in every.items()} == {"train": 640, "test": 713}
    first, (second,) = tfds.load(folder, ["train[:5]", ("test",)], config="many")
    assert len(first) == 5 and len(second) == 713


def test_columns_are_chosen_by_their_names(folder):
    example = next(iter(tfds.load(folder, "train", config="nested", columns=["a/b/c", "a/e/f"])))
    assert example.keys() == {"a"} and example["a"].keys() == {"b", "e/f"} and example["a"]["b"].keys() == {"c"}
    steps = next(iter(tfds.load(folder, "train[5:]", config="steps", columns=["steps/observation/state"])))["steps"]
    assert all(one.keys() == {"observation"} and one["observation"].keys() == {"state"} for one in steps)
    for wrong in ("b", "a/x", "a/b/c/d"):
        with pytest.raises(ValueError, match=f"'{wrong}'"):
            tfds.load(folder, "train", config="nested", columns=[wrong])


def test_supervised_keys_give_tuples(folder):
    theirs = tfds_folders.loaded("top")["test"]
    pairs = list(tfds.load(folder, "test", config="top", as_supervised=True))
    assert_same(pairs, [(one["image"], one["label"]) for one in theirs])
    inputs, output = next(iter(tfds.load(folder, "test", config="nested", as_supervised=True)))
    assert inputs == {"x": output}
    with pytest.raises(ValueError, match="supervised"):
        tfds.load(folder, "test", config="plain", as_supervised=True)


def test_decoding_can_be_skipped(folder):
    skip = tfds.SkipDecoding()
    (images,) = tfds.load(folder, "train[5:6]", config="images", decoders={"png": skip, "frames": skip})
    assert images["png"].startswith(b"\x89PNG") and images["frames"].dtype == object
    assert images["gray"].dtype == np.uint8
    for example in tfds.load(folder, "train", config="steps", decoders={"steps": {"observation": {"image": skip}}}):
        assert all(step["observation"]["image"].startswith(b"\x89PNG") for step in example["steps"])
    for example in tfds.load(folder, "train", config="steps", decoders={"steps": skip}):
        assert example["steps"]["reward"].shape == example["steps"]["observation"]["image"].shape


def test_a_function_can_decode(folder):
    decoders = {"png": lambda data, feature: (len(data), feature.shape), "frames": lambda data, feature: data[1:4]}
    for example in tfds.load(folder, "train", config="images", decoders=decoders):
        assert example["png"][0] > 60 and example["png"][1] == (4, 5, 3)
        assert all(one == b"PNG" for one in example["frames"])


@pytest.mark.parametrize("decoders", [{"x": 1}, {"png": "skip"}, {"nothing": None}, [1]])
def test_decoders_that_mean_nothing_are_refused(folder, decoders):
    with pytest.raises(ValueError, match="decoders"):
        tfds.load(folder, "train", config="images", decoders=decoders)


def test_files_are_shuffled_anew_each_time_and_repeatably(folder):
    def ids(examples):
        return [int(one["id"]) for one in examples]

    examples = tfds.load(folder, "train", config="many", shuffle_files=True, seed=3)
    first, second = ids(examples), ids(examples)
    assert sorted(first) == sorted(second) == sorted(tfds_folders.loaded("many")["train"][i]["id"] for i in range(640))
    assert first != second
    again = tfds.load(folder, "train", config="many", shuffle_files=True, seed=3)
    assert [ids(again), ids(again)] == [first, second]
    with pytest.raises(ValueError, match="ordered"):
        tfds.load(folder, "train", config="ordered", shuffle_files=True)


def test_arrays_may_be_changed(folder):
    for example in tfds.load(folder, "train[:3]", config="images"):
        for key in example:
            example[key] += 1
    first, second = tfds.load(folder, "train[:2]", config="plain")
    first["vector"][:] = 0
    assert second["vector"].any()


def test_a_folder_may_be_a_url(folder):
    target = fsspec.filesystem("memory")
    target.put(str(folder), "/tfds-of-test/matrix", recursive=True)
    try:
        for split in ("train", "train[3:10]"):
            theirs = list(tfds.load(folder, split, config="labels"))
            examples = tfds.load("memory://tfds-of-test/matrix", split, config="labels")
            assert_same(list(examples), theirs)
            assert examples.features["label"].names[2] == "größer"
        assert_same([examples[0], examples[6]], [theirs[0], theirs[6]])
    finally:
        target.rm("/tfds-of-test", recursive=True)


@pytest.mark.parametrize("threads", [1, 3])
def test_images_are_decoded_on_several_threads_in_the_same_order(folder, threads):
    theirs = tfds_folders.loaded("images")["test"]
    assert_same(list(tfds.load(folder, "test", config="images", num_threads=threads)), theirs)


def test_pytorch_samples_examples(folder):
    examples = tfds.load(folder, "train", config="many")
    loader = torch.utils.data.DataLoader(examples, batch_size=64, shuffle=True, num_workers=2)
    ids = torch.cat([batch["id"] for batch in loader]).tolist()
    assert sorted(ids) == sorted(int(one["id"]) for one in examples) and ids != sorted(ids)


def test_examples_pickle(folder):
    examples = tfds.load(folder, "train", config="images")
    assert_same(list(pickle.loads(pickle.dumps(examples))), list(examples))


def test_shard_reader_reads_the_same_columns(folder):
    examples = tfds.load(folder, "train", config="plain")
    (columns,) = tf.ShardReader(examples.files, examples.parsed_features, cycle_length=16, block_length=16)
    np.testing.assert_array_equal(columns["vector"], [one["vector"] for one in examples])


# ---- Batches ----


@pytest.mark.parametrize("config", ["plain", "dtypes", "labels", "boxes"])
@pytest.mark.parametrize("size", [1, 8, 23, 100])
def test_batches_are_columns_of_the_same_values(folder, config, size):
    theirs = tfds_folders.loaded(config)["train"]
    batches = tfds.load(folder, "train", config=config, batch_size=size)
    start = 0
    for batch in batches:
        for key in theirs[0].keys() - {"bools", "labels", "boxes", "deep"}:
            values = [one[key] for one in theirs[start : start + size]]
            assert np.array_equal(np.asarray(batch[key]), np.array(values, dtype=np.asarray(batch[key]).dtype))
        start += size
    assert len(batches) == -(-23 // size)


def test_the_whole_split_is_one_batch(folder):
    columns = tfds.load(folder, "train", config="plain", batch_size=-1)
    assert columns["vector"].shape == (23, 3) and isinstance(columns["name"], tf.BytesArray)


def test_values_of_unequal_shapes_are_padded(folder):
    theirs = tfds_folders.loaded("sequences")["train"]
    (batch,) = tfds.load(folder, "train", config="sequences", batch_size=23)
    assert batch["ints"].shape == (23, 3) and batch["dicts"]["b"]["c"].shape == (23, 2)
    for row, example in enumerate(theirs):
        length = len(example["ints"])
        assert np.array_equal(batch["ints"][row, :length], example["ints"]) and not batch["ints"][row, length:].any()


def test_ragged_values_get_another_dimension(folder):
    theirs = tfds_folders.loaded("ragged")["train"]
    (batch,) = tfds.load(folder, "train", config="ragged", batch_size=23, columns=["two", "words", "images"])
    rows = list(tfds.load(folder, "train", config="ragged", columns=["two", "words"]))
    assert batch["two"].to_list() == [row["two"].to_list() for row in rows]
    assert batch["words"]["tokens"].to_list() == [row["words"]["tokens"].to_list() for row in rows]
    assert np.array_equal(batch["images"].flat_values, np.concatenate([one["images"][1] for one in theirs]))


def test_a_smaller_last_batch_can_be_left_out(folder):
    batches = tfds.load(folder, "train", config="plain", batch_size=10, drop_remainder=True)
    assert [len(batch["id"]) for batch in batches] == [10, 10] and len(batches) == 2


# ---- The dataset itself ----


def test_labels_have_names(folder):
    features = tfds.info(folder, config="labels").features
    assert features["label"].names == ["cat", "dog", "größer"] and features["label"].num_classes == 3
    assert features["label"].int2str(1) == "dog" and features["label"].str2int("größer") == 2
    assert features["labels"].feature.names == ["a", "b"] and features["deep"]["label/x"].names == ["y", "z"]
    assert features["number"].names == [str(i) for i in range(30)]
    assert tfds.info(folder, config="images").features["mask"].names == ["bg", "fg"]
    for call in (lambda: features["label"].int2str(3), lambda: features["label"].str2int("cow")):
        with pytest.raises(ValueError, match="no class"):
            call()


def test_info_has_what_the_dataset_says_of_itself(folder):
    examples, info = tfds.load(folder, "train", config="plain", with_info=True)
    assert info is examples.info and info.full_name == "matrix/plain/1.0.0" and info.citation == "None."
    assert info.splits["train"].num_examples == 23 and info.splits["train"].num_shards == 2
    assert info.features["vector"].shape == (3,) and info.features["vector"].dtype == np.float32
    assert tfds.info(folder, config="ordered").disable_shuffling


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{SPLIT}/data.{FILEFORMAT}-{SHARD_INDEX}", "train/data.tfrecord-0000{}"),
        ("{DATASET}-{SPLIT}-{SHARD_X_OF_Y}.{FILEFORMAT}", "matrix-train-0000{}-of-00002.tfrecord"),
        ("x.{SHARD_INDEX}of{NUM_SHARDS}.tfr", "x.0000{}of00002.tfr"),
    ],
)
def test_files_are_named_by_their_template(folder, tmp_path, template, name):
    dataset = tfds_folders.copied(tmp_path, "plain")
    for shard in range(2):
        (dataset / name.format(shard)).parent.mkdir(exist_ok=True)
        shutil.move(dataset / f"matrix-train.tfrecord-0000{shard}-of-00002", dataset / name.format(shard))
    tfds_folders.change(dataset / "dataset_info.json", lambda info: info["splits"][0].update(filepathTemplate=template))
    assert_same(list(tfds.load(dataset, "train")), tfds_folders.loaded("plain")["train"])


def legacy(feature):
    """A feature as TFDS before 4.3 wrote it."""
    feature = copy.deepcopy(feature)
    kind = feature.pop("pythonClassName")
    ((name, content),) = feature.items()
    if name == "featuresDict":
        content = {key: legacy(one) for key, one in content.get("features", {}).items()}
    elif name == "sequence":
        content = {"feature": legacy(content["feature"]), "length": None}
    elif name == "classLabel":
        content = {"num_classes": int(content["numClasses"]), "names": None, "names_file": None}
    elif name in ("tensor", "image"):
        shape = [None if int(one) < 0 else int(one) for one in content.get("shape", {}).get("dimensions", [])]
        content = {**content, "shape": shape, "encoding_format": None}
    return {"type": kind, "content": content}


@pytest.mark.parametrize("config", ["labels", "images", "nested", "text", "plain"])
def test_features_json_of_earlier_versions_is_read(folder, tmp_path, config):
    dataset = tfds_folders.copied(tmp_path, config)
    path = dataset / "features.json"
    path.write_text(json.dumps(legacy(json.loads(path.read_text()))))
    if config == "images":  # what had a fixed length
        tfds_folders.change(path, lambda features: features["content"]["four"]["content"].update(length=4))
    assert_same(list(tfds.load(dataset, "test")), tfds_folders.loaded(config)["test"])
