"""Files as datasets of Hugging Face's library, and datasets as records."""

import pickle
import re

import datasets
import numpy as np
import pytest
from torch.utils.data import DataLoader

import tfrecord_fast as tf
from tfrecord_fast.integrations.huggingface import from_tfrecord

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def files(tmp_path):
    for shard in range(3):
        with tf.ExampleWriter(tmp_path / f"{shard}.tfrecord") as writer:
            ids = np.arange(10) + 10 * shard
            writer.write(
                {
                    "id": ids,
                    "text": [f"a text that is longer than twelve bytes {i}" for i in ids],
                    "tags": [["t"] * (i % 3) for i in ids],
                    "box": np.arange(20, dtype=np.float32).reshape(10, 2),
                }
            )
    return str(tmp_path / "*.tfrecord")


def parsed(records):
    return [tf.train.Example.FromString(record) for record in records]


def test_a_dataset_has_all_rows(files):
    dataset = from_tfrecord(files)
    assert isinstance(dataset, datasets.Dataset) and dataset.num_rows == 30
    assert dataset[12] == {
        "box": [4.0, 5.0],
        "id": 12,
        "tags": [],
        "text": b"a text that is longer than twelve bytes 12",
    }
    assert dataset.features["id"] == datasets.Value("int64")


def test_options_and_columns(files):
    dataset = from_tfrecord(files, columns=["id"], shuffle_buffer=100, seed=1)
    assert sorted(dataset["id"]) == list(range(30)) and list(dataset["id"]) != list(range(30))


def test_a_cached_dataset_is_mapped_from_its_file(files, tmp_path):
    dataset = from_tfrecord(files, cache_file=tmp_path / "cache.arrow")
    assert [file["filename"] for file in dataset.cache_files] == [str(tmp_path / "cache.arrow")]
    assert list(dataset["id"]) == list(range(30))
    assert from_tfrecord(files).to_list() == dataset.to_list()


def test_a_cache_appears_when_it_is_complete(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [[1], [2, 3]]})
    with pytest.raises(tf.errors.InvalidArgumentError):
        from_tfrecord(tmp_path / "a", {"id": tf.FixedLenFeature([], tf.int64)}, cache_file=tmp_path / "cache.arrow")
    assert {path.name for path in tmp_path.iterdir()} == {"a"}


def test_a_cache_looks_at_all_records_if_it_must(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [[1], [2], [3, 4]]})
    dataset = from_tfrecord(tmp_path / "a", cache_file=tmp_path / "cache.arrow", infer_records=2)
    assert list(dataset["id"]) == [[1], [2], [3, 4]]


def test_a_streamed_dataset_has_all_rows(files):
    dataset = from_tfrecord(files, streaming=True)
    assert isinstance(dataset, datasets.IterableDataset) and dataset.num_shards == 3
    assert list(dataset) == from_tfrecord(files).to_list()
    assert dataset.features == from_tfrecord(files).features


def test_a_streamed_dataset_is_divided_by_file(files):
    dataset = from_tfrecord(files, columns=["id"], streaming=True)
    parts = [[row["id"] for row in dataset.shard(3, i)] for i in range(3)]
    assert parts == [list(range(10 * i, 10 * i + 10)) for i in range(3)]


def test_workers_divide_a_streamed_dataset(files):
    dataset = from_tfrecord(files, columns=["id"], streaming=True).with_format("torch")
    loader = DataLoader(dataset, batch_size=5, num_workers=2, multiprocessing_context="fork")
    assert sorted(int(i) for batch in loader for i in batch["id"]) == list(range(30))


def test_a_streamed_dataset_pickles(files):
    dataset = from_tfrecord(files, columns=["id"], streaming=True)
    assert [row["id"] for row in pickle.loads(pickle.dumps(dataset))] == list(range(30))


def test_a_streamed_dataset_resumes(files):
    dataset = from_tfrecord(files, columns=["id"], streaming=True)
    iterator = iter(dataset)
    first = [next(iterator)["id"] for _ in range(13)]
    state = dataset.state_dict()
    again = from_tfrecord(files, columns=["id"], streaming=True)
    again.load_state_dict(state)
    assert first + [row["id"] for row in again] == list(range(30))


def test_a_streamed_dataset_shuffles_by_itself(files):
    ids = [row["id"] for row in from_tfrecord(files, streaming=True).shuffle(seed=1, buffer_size=20)]
    assert sorted(ids) == list(range(30)) and ids != list(range(30))
    for order in ({"shuffle_buffer": 10}, {"global_shuffle": True}, {"equal_shards": "drop"}, {"shuffle_files": True}):
        with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(f"streaming=True excludes {list(order)}")):
            from_tfrecord(files, streaming=True, **order)


def test_memory_is_not_streamed(files):
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no path"):
        from_tfrecord(bytearray(b""), {"a": tf.VarLenFeature(tf.int64)}, streaming=True)


def test_text_is_cast(files):
    dataset = from_tfrecord(files, columns=["text"]).cast_column("text", datasets.Value("string"))
    assert dataset[3]["text"] == "a text that is longer than twelve bytes 3"


def test_images_are_shown(tmp_path):
    png = tf.io.encode_png(np.full((2, 3, 3), 7, np.uint8))
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"image": [bytes(png)]})
    dataset = from_tfrecord(tmp_path / "a").cast_column("image", datasets.Image())
    assert np.asarray(dataset[0]["image"]).tolist() == np.full((2, 3, 3), 7).tolist()


# ---- And back ----


def test_a_dataset_is_encoded(files):
    assert tf.encode_examples(from_tfrecord(files)).tolist() == [
        record for batch in tf.ShardReader(files) for record in batch.tolist()
    ]


def test_selected_and_shuffled_rows_are_encoded(files):
    dataset = from_tfrecord(files).shuffle(seed=0).select(range(5))
    records = parsed(tf.encode_examples(dataset).tolist())
    assert [record.features.feature["id"].int64_list.value[0] for record in records] == list(dataset["id"])


def test_a_formatted_dataset_is_encoded(files):
    dataset = from_tfrecord(files)
    assert tf.encode_examples(dataset.with_format("numpy")).tolist() == tf.encode_examples(dataset).tolist()


def test_labels_and_lists_are_encoded():
    features = datasets.Features(
        {"label": datasets.ClassLabel(names=["cat", "dog"]), "words": datasets.List(datasets.Value("string"))}
    )
    dataset = datasets.Dataset.from_dict({"label": [1, 0], "words": [["a"], ["b", "c"]]}, features=features)
    first = parsed(tf.encode_examples(dataset).tolist())[0].features.feature
    assert first["label"].int64_list.value == [1] and first["words"].bytes_list.value == [b"a"]


def test_images_are_encoded_as_their_bytes():
    png = bytes(tf.io.encode_png(np.full((2, 3, 3), 7, np.uint8)))
    features = datasets.Features({"image": datasets.Image()})
    dataset = datasets.Dataset.from_dict({"image": [{"bytes": png, "path": None}, None]}, features=features)
    one, none = parsed(tf.encode_examples(dataset).tolist())
    assert one.features.feature["image"].bytes_list.value == [png] and "image" not in none.features.feature


def test_images_in_files_are_not_lost_silently(tmp_path):
    (tmp_path / "a.png").write_bytes(bytes(tf.io.encode_png(np.zeros((2, 3, 3), np.uint8))))
    features = datasets.Features({"image": datasets.Image()})
    dataset = datasets.Dataset.from_dict({"image": [str(tmp_path / "a.png")]}, features=features)
    with pytest.raises(tf.errors.InvalidArgumentError, match="embed_table_storage"):
        tf.encode_examples(dataset)


def test_a_streamed_dataset_is_encoded_batch_by_batch(files):
    dataset = from_tfrecord(files, streaming=True)
    with pytest.raises(TypeError, match="encode it batch by batch"):
        tf.encode_examples(dataset)
    records = [r for batch in dataset.with_format("arrow").iter(7) for r in tf.encode_examples(batch).tolist()]
    assert records == tf.encode_examples(from_tfrecord(files)).tolist()


def test_a_writer_takes_a_dataset(files, tmp_path):
    with tf.ExampleWriter(tmp_path / "out") as writer:
        writer.write(from_tfrecord(files))
    assert tf.read_table(tmp_path / "out").equals(tf.read_table(files).combine_chunks())
