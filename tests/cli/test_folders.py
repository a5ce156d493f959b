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


def test_all_names_of_tfrecord_files_are_taken_in_a_folder(tmp_path, capsys):
    ours = ["a.tfrecord", "b.tfr", "c.record.gz", "d.TFRecords", "e.tfrecord-00000-of-00001", "f.tfe-tfrecord"]
    for number, name in enumerate(ours):
        with tf.io.TFRecordWriter(tmp_path / name, "GZIP" if name.endswith(".gz") else "") as writer:
            writer.write(tf.train.example({"a": number}).SerializeToString())
    for name in ("README.md", "labels.csv", "a.tfrecord.idx", "a.tfrecord.bak", "_SUCCESS"):
        (tmp_path / name).write_text("0\n")
    assert main(["merge", str(tmp_path), str(tmp_path / "all.tfrecord")]) == 0
    assert labels(tmp_path / "all.tfrecord") == [0, 1, 2, 3, 4, 5]
    for name in ours:
        (tmp_path / name).unlink()
    (tmp_path / "all.tfrecord").rename(tmp_path / "all.rec")
    assert main(["verify", str(tmp_path)]) == 0 and "6 records" in capsys.readouterr().out


def features(path):
    parsed = [tf.train.Example.FromString(one) for one in tf.data.TFRecordDataset(str(path)).as_numpy_iterator()]
    return [{key: one.bytes_list.value[:] for key, one in example.features.feature.items()} for example in parsed]


MEDIA = [{"bytes": b"\x89PNG", "path": "a.png"}, {"bytes": b"", "path": "b"}, None]


@pytest.mark.parametrize("form", ["folder", "parquet"])
def test_media_become_their_bytes_and_their_paths(tmp_path, form):
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_dict({"a": ["x"] * 3, "i": MEDIA})
    made = made.cast_column("i", datasets.Image(decode=False))
    if form == "folder":
        made.save_to_disk(tmp_path / "d")
    else:
        made.to_parquet(tmp_path / "d.parquet")
    source = tmp_path / ("d" if form == "folder" else "d.parquet")
    assert main(["convert", str(source), str(tmp_path / "a.tfrecord")]) == 0
    first = {"a": [b"x"], "i": [b"\x89PNG"], "i/path": [b"a.png"]}
    assert features(tmp_path / "a.tfrecord") == [first, {"a": [b"x"], "i": [b""], "i/path": [b"b"]}, {"a": [b"x"]}]


def media(tmp_path, capsys, **columns):
    pa = pytest.importorskip("pyarrow")
    type = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    made = {key: pa.array(one, type) if isinstance(one[0], dict) else pa.array(one) for key, one in columns.items()}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(made), tmp_path / "a.parquet")
    status = main(["convert", str(tmp_path / "a.parquet"), str(tmp_path / "a.tfrecord")])
    assert status == 0 or not (tmp_path / "a.tfrecord").exists()
    return status, capsys.readouterr().err


def test_a_path_without_the_bytes_is_an_error(tmp_path, capsys):
    status, err = media(tmp_path, capsys, i=[MEDIA[0], {"bytes": None, "path": "b.png"}])
    assert status == 1 and "column 'i', row 1: missing bytes of 'b.png'" in err


def test_a_column_that_has_the_name_of_the_paths_is_an_error(tmp_path, capsys):
    status, err = media(tmp_path, capsys, i=MEDIA[:1], **{"i/path": ["x"]})
    assert status == 1 and "several columns are named 'i/path'" in err


def test_rows_beyond_the_first_batch_keep_their_bytes(tmp_path, capsys):
    rows = [{"bytes": b"%d" % i if i else None, "path": f"{i}.png" if i % 3 == 1 else None} for i in range(10_000)]
    assert media(tmp_path, capsys, i=rows) == (0, "")
    for row, found in zip(rows, features(tmp_path / "a.tfrecord"), strict=True):
        path = {} if row["path"] is None else {"i/path": [row["path"].encode()]}
        assert found == ({"i": [row["bytes"]], **path} if row["bytes"] else {})


def test_rows_in_an_order_of_their_own_are_refused(tmp_path, capsys):
    """As old versions of `datasets` saved what was shuffled or selected."""
    rows(1, 2, 3).save_to_disk(tmp_path / "d")
    state = json.loads((tmp_path / "d" / "state.json").read_text())
    (tmp_path / "d" / "state.json").write_text(json.dumps({**state, "_indices_data_files": [{"filename": "i.arrow"}]}))
    assert main(["convert", str(tmp_path / "d"), str(tmp_path / "a.tfrecord")]) == 2
    assert "an indices mapping" in capsys.readouterr().err and not (tmp_path / "a.tfrecord").exists()


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
    assert f"-0000{number}-of-00002: missing file of the dataset" in capsys.readouterr().err
