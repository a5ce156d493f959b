"""Where vahidk's `tfrecord` is silent about an error, `tfrecord_fast.integrations.vahidk` refuses or does right."""

import itertools
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import torch.utils.data

import tfrecord_fast as tf
import tfrecord_fast.integrations.vahidk as tfrecord
from tests.support.paths import ROOT
from tests.support.their_tfrecord import tfrecord as theirs


def write(path, records, package=tfrecord):
    writer = package.TFRecordWriter(str(path))
    for record in records:
        writer.write(*record) if isinstance(record, tuple) else writer.write(record)
    writer.close()
    return str(path)


def numbered(path, count):
    return write(path, [{"id": (i, "int")} for i in range(count)])


def ids(rows):
    return [int(row["id"][0]) for row in rows]


@pytest.fixture(scope="module")
def two_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for name in ("1", "2"):
        write(folder / name, [{"key": (name.encode(), "byte")}] * 1000)
        tfrecord.tools.create_index(str(folder / name), str(folder / f"{name}.idx"))
    return str(folder / "{}"), str(folder / "{}.idx"), {"1": 0.8, "2": 0.2}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_finite_mix_has_all_records_with_any_number_of_workers(two_files, workers):
    dataset = tfrecord.torch.MultiTFRecordDataset(*two_files, infinite=False)
    batches = torch.utils.data.DataLoader(dataset, batch_size=9, num_workers=workers)
    assert sum(len(batch["key"]) for batch in batches) == 2000


@pytest.mark.parametrize("workers", [0, 2])
def test_an_endless_mix_has_the_ratios_with_any_number_of_workers(two_files, workers):
    dataset = tfrecord.torch.MultiTFRecordDataset(*two_files)
    np.random.seed(0)
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(dataset, batch_size=9, num_workers=workers)
    keys = list(itertools.chain.from_iterable(batch["key"] for batch in itertools.islice(loader, 225)))
    assert len(keys) > 2000 and 0.75 < keys.count(b"1") / len(keys) < 0.85


# ---- Differences ----


def test_a_record_stays_valid_after_the_next(tmp_path):
    path = numbered(tmp_path / "a", 3)
    kept = list(tfrecord.tfrecord_iterator(path))
    assert [tf.train.Example.FromString(one).features.feature["id"].int64_list.value[0] for one in kept] == [0, 1, 2]
    assert len({bytes(one) for one in theirs.tfrecord_iterator(path)}) == 3
    assert len(set(map(bytes, list(theirs.tfrecord_iterator(path))))) == 1  # all are views of one buffer


def test_a_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "a"
    numbered(path, 3)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1  # the value of the last record
    path.write_bytes(data)
    assert ids(theirs.tfrecord_loader(str(path), None)) == [0, 1, 3]
    rows = tfrecord.tfrecord_loader(str(path), None)
    assert ids([next(rows), next(rows)]) == [0, 1]
    with pytest.raises(tf.DataLossError, match=f"{path}.*record 2"):
        next(rows)


@pytest.mark.parametrize("kept", [-1, -4, -20])
def test_a_file_that_is_cut_off_is_noticed(tmp_path, kept):
    path = tmp_path / "a"
    numbered(path, 3)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(tf.DataLossError):
        list(tfrecord.tfrecord_loader(str(path), None))
    with pytest.raises(tf.DataLossError):
        tfrecord.tools.create_index(str(path), str(tmp_path / "index"))
    assert not (tmp_path / "index").exists()


def test_strings_keep_the_zeros_at_their_ends(tmp_path):
    path = write(tmp_path / "a", [{"k": ([b"a\0", b"b"], "byte")}])
    (row,) = tfrecord.tfrecord_loader(path, None)
    assert row["k"].tolist() == [b"a\0", b"b"]
    (row,) = theirs.tfrecord_loader(path, None)
    assert row["k"].tolist() == [b"a", b"b"]


def test_a_file_that_is_not_as_compressed_as_said_is_an_error(tmp_path):
    path = str(tmp_path / "a")
    with tf.TFRecordWriter(path) as writer:
        writer.write(tf.train.example({"id": 1}).SerializeToString())
    with pytest.raises(tf.errors.DataLossError):
        list(tfrecord.tfrecord_loader(path, None, compression_type="gzip"))


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_shards_without_an_index_are_disjoint_and_together_the_whole(tmp_path, compression):
    path = tmp_path / "a"
    with tf.TFRecordWriter(path, None if compression is None else "GZIP") as writer:
        for i in range(10):
            writer.write(tfrecord.TFRecordWriter.serialize_tf_example({"id": (i, "int")}))
    shards = [ids(tfrecord.tfrecord_loader(path, None, shard=(i, 3), compression_type=compression)) for i in range(3)]
    assert shards == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]


def test_workers_without_an_index_read_each_record_once(tmp_path):
    dataset = tfrecord.torch.TFRecordDataset(numbered(tmp_path / "a", 20), None)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=3)
    assert sorted(ids(loader)) == list(range(20))


def test_an_index_may_have_one_line_or_none(tmp_path):
    for count in (0, 1):
        path = numbered(tmp_path / f"{count}", count)
        tfrecord.tools.create_index(path, tmp_path / "index")
        assert ids(tfrecord.tfrecord_loader(path, tmp_path / "index")) == list(range(count))


@pytest.mark.parametrize("lines", ["0 35\n36 35\n", "0 35\n7 35\n", "", "0 35\n35000 35\n", "0 35\n"])
@pytest.mark.parametrize("shard", [(0, 2), (1, 2), None])
def test_the_index_of_another_file_gives_no_wrong_record(tmp_path, lines, shard):
    path = numbered(tmp_path / "a", 5)
    (tmp_path / "index").write_text(lines)
    for _ in range(3):
        try:
            found = ids(tfrecord.tfrecord_loader(path, tmp_path / "index", shard=shard))
        except tf.errors.InvalidArgumentError as error:
            assert str(tmp_path / "index") in str(error)
        else:
            assert found == [0, 1, 2, 3, 4] or (found == [] and shard == (0, 2) and lines == "0 35\n")


def test_a_file_without_records_does_not_hang_an_endless_mix(tmp_path):
    numbered(tmp_path / "full", 2)
    numbered(tmp_path / "empty", 0)
    pattern = str(tmp_path / "{}")
    mixed = tfrecord.reader.multi_tfrecord_loader(pattern, None, {"empty": 9, "full": 1})
    assert ids(itertools.islice(mixed, 5)) == [0, 1, 0, 1, 0]
    assert list(tfrecord.reader.multi_tfrecord_loader(pattern, None, {"empty": 1})) == []


def test_feature_lists_are_not_lost_where_everything_is_asked_for(tmp_path):
    path = write(tmp_path / "a", [({"id": (1, "int")}, {"steps": ([1, 2], "int")})] * 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{path}.*sequence_description"):
        next(tfrecord.tfrecord_loader(path, None))
    assert ids(tfrecord.tfrecord_loader(path, None, ["id"])) == [1, 1, 1]


def test_several_files_of_sequence_examples_are_mixed(tmp_path):
    write(tmp_path / "a", [({"id": (1, "int")}, {"steps": ([1, 2], "int")})])
    dataset = tfrecord.torch.MultiTFRecordDataset(
        str(tmp_path / "{}"), None, {"a": 1}, sequence_description=["steps"], infinite=False
    )
    ((context, lists),) = dataset
    assert context["id"].tolist() == [1] and [one.tolist() for one in lists["steps"]] == [[1], [2]]


def test_errors_name_file_record_and_key(tmp_path):
    path = write(tmp_path / "a", [{"id": (1, "int")}, {"id": (2.5, "float")}])
    rows = tfrecord.tfrecord_loader(path, None, {"id": "int"})
    next(rows)
    with pytest.raises(TypeError, match=f"{path}.*'id'.*record 1"):
        next(rows)
    rows = tfrecord.tfrecord_loader(path, None, ["nothing"])
    with pytest.raises(KeyError, match=f"{path}.*'nothing'.*record 0"):
        next(rows)


def test_datasets_pickle(tmp_path):
    dataset = tfrecord.torch.TFRecordDataset(numbered(tmp_path / "a", 3), None)
    assert ids(pickle.loads(pickle.dumps(dataset))) == [0, 1, 2]


def test_pytorch_and_protobuf_are_imported_only_when_used():
    code = """
import sys
import tfrecord_fast.integrations.vahidk as tfrecord
print({"torch", "google.protobuf"} & sys.modules.keys())
tfrecord.torch.TFRecordDataset, tfrecord.example_pb2.Example
print(sorted({"torch", "google.protobuf"} & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n['google.protobuf', 'torch']\n"


# ---- The command, and the page ----


def command(*arguments):
    module = "tfrecord_fast.integrations.vahidk.tools.tfrecord2idx"
    return subprocess.run([sys.executable, "-m", module, *map(str, arguments)], capture_output=True, text=True)


def test_the_command_makes_an_index(tmp_path):
    path = numbered(tmp_path / "a.tfrecord", 2)
    assert command(path, tmp_path / "index").returncode == 0
    assert command(tmp_path).returncode == 0
    lines = (tmp_path / "index").read_text()
    assert lines == (tmp_path / "a.tfindex").read_text() and len(lines.splitlines()) == 2


def test_what_is_imported_when_it_is_used_is_listed_before(monkeypatch):
    monkeypatch.delattr(tfrecord, "torch")
    monkeypatch.delattr(tfrecord.tools, "create_index")
    assert {"torch", "TFRecordWriter"} <= set(dir(tfrecord)) and "create_index" in dir(tfrecord.tools)


def test_the_snippets_on_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "integrations" / "vahidk.md").read_text()
    snippets = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert snippets
    namespace = {}
    for snippet in snippets:
        exec(compile(snippet, "vahidk.md", "exec"), namespace)
