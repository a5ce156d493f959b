"""The benchmark's data: what is written is what was meant, and the same seed gives the same bytes."""

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from benchmarks.data import wire
from benchmarks.data.answers import digest, digest_of_files, frames
from benchmarks.data.generate import dataset_of
from benchmarks.data.workloads import WORKLOADS, Feature, Ragged, feature_objects
from tests.support.paths import ROOT

EXAMPLES = [name for name in WORKLOADS if name not in ("tiny", "seq")]


def example_classes():
    """Example and SequenceExample as protobuf messages, in a pool of their own."""
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="t", syntax="proto3")

    def message(name, **fields):
        made = file.message_type.add(name=name)
        for number, (field, (kind, repeated)) in enumerate(fields.items(), 1):
            added = made.field.add(name=field, number=number, label=3 if repeated else 1)
            if isinstance(kind, str):
                added.type, added.type_name = 11, kind
            else:
                added.type = kind
        return made

    def map_of(name, field, value):
        made = message(name, **{field: (f".t.{name}.Entry", True)})
        entry = made.nested_type.add(name="Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=9)
        entry.field.add(name="value", number=2, label=1, type=11, type_name=value)

    message("BytesList", value=(12, True))
    message("FloatList", value=(2, True))
    message("Int64List", value=(3, True))
    lists = {"bytes_list": ".t.BytesList", "float_list": ".t.FloatList", "int64_list": ".t.Int64List"}
    message("Feature", **{field: (kind, False) for field, kind in lists.items()})
    message("FeatureList", feature=(".t.Feature", True))
    map_of("Features", "feature", ".t.Feature")
    map_of("FeatureLists", "feature_list", ".t.FeatureList")
    message("Example", features=(".t.Features", False))
    message("SequenceExample", context=(".t.Features", False), feature_lists=(".t.FeatureLists", False))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"t.{name}"))
        for name in ("Example", "SequenceExample")
    ]


Example, SequenceExample = example_classes()


def values_of(feature):
    return list(feature.int64_list.value or feature.float_list.value or feature.bytes_list.value)


def intended(column, row):
    """The values of one row of a column, as a flat list."""
    if isinstance(column, Ragged):
        start = int(column.lengths[:row].sum())
        return column.values[start : start + int(column.lengths[row])].ravel().tolist()
    return [column[row]] if isinstance(column, list) else np.ravel(column[row]).tolist()


def chunk(name, n=40, shard=0, seed=0):
    (made,) = WORKLOADS[name].chunks(shard, n, seed)
    return made


@pytest.mark.parametrize("name", EXAMPLES)
def test_protobuf_reads_the_intended_values(name):
    columns, records = chunk(name)
    for row in (0, 1, 17, 39):
        features = Example.FromString(records[row]).features.feature
        assert {key: values_of(f) for key, f in features.items()} == {
            key: intended(column, row) for key, column in columns.items()
        }


def test_protobuf_reads_the_intended_sequences():
    columns, records = chunk("seq")
    for row in range(40):
        read = SequenceExample.FromString(records[row])
        context = {key: values_of(f) for key, f in read.context.feature.items()}
        assert context == {key: intended(columns[key], row) for key in ("user_id", "score")}
        for key, steps in read.feature_lists.feature_list.items():
            assert len(steps.feature) == columns[key].lengths[row]
            assert [v for step in steps.feature for v in values_of(step)] == intended(columns[key], row)


@pytest.mark.parametrize("name", [*EXAMPLES, "seq"])
def test_protobuf_writes_a_record_of_the_same_size(name):
    message = SequenceExample if name == "seq" else Example
    _, records = chunk(name)
    assert [message.FromString(r).ByteSize() for r in records] == [len(r) for r in records]


@pytest.mark.parametrize("name", ["ctr", "wide"])
def test_keys_keep_an_unsorted_order_throughout_a_file(name):
    _, records = chunk(name, 5)
    columns = WORKLOADS[name].features
    orders = [
        sorted(columns, key=lambda key: record.index(b"\x0a%c%s\x12" % (len(key), key.encode()))) for record in records
    ]
    assert orders[0] != sorted(columns)
    assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize("name", WORKLOADS)
def test_records_have_the_mean_size_that_is_stated(name):
    workload = WORKLOADS[name]
    n = min(workload.records, 4_000_000 // workload.mean_bytes + 500)
    sizes = [len(record) for _, records in workload.chunks(0, n) for record in records]
    assert len(sizes) == n
    assert np.mean(sizes) == pytest.approx(workload.mean_bytes, rel=0.03)


@pytest.mark.parametrize("name", WORKLOADS)
def test_same_seed_same_bytes(name):
    assert chunk(name)[1] == chunk(name)[1]


@pytest.mark.parametrize("other", [{"seed": 1}, {"shard": 1}], ids=["seed", "shard"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_another_seed_or_shard_has_other_bytes(name, other):
    assert chunk(name)[1] != chunk(name, **other)[1]


def test_bytes_of_a_seed_are_those_of_every_earlier_run():
    # A change here needs a new workloads.GENERATOR.
    made = {name: hashlib.sha256(b"".join(chunk(name, 8)[1])).hexdigest()[:8] for name in WORKLOADS}
    assert made == {
        "ctr": "b32efbf7",
        "wide": "b9612cae",
        "tok": "37e9234c",
        "emb": "e283f0d0",
        "img": "cdb3dd94",
        "seq": "f9587343",
        "tiny": "bd145651",
        "one": "3c862a72",
    }


def test_varints_at_every_edge_of_length():
    values = [v for bits in range(0, 63, 7) for v in (2**bits - 1, 2**bits)]
    values += [2**63 - 1, -1, -(2**63)]
    assert wire.varints(np.array(values)).split() == [wire.varint(v % 2**64) for v in values]


def test_the_answer_is_that_of_the_records(tmp_path):
    dataset = dataset_of(WORKLOADS["ctr"], 0.001, cache=tmp_path)
    records = [r for shard in (0, 1) for _, some in WORKLOADS["ctr"].chunks(shard, 100) for r in some]
    assert dataset.answer == digest(records) == digest_of_files(dataset.files)
    assert dataset.records == 200
    assert dataset.file_bytes == sum(len(r) + 16 for r in records)


def test_gzip_holds_the_same_bytes_in_one_member(tmp_path):
    dataset = dataset_of(WORKLOADS["tok"], 0.001, gzip=True, cache=tmp_path)
    for plain, packed in zip(dataset.files, dataset.gzip_files, strict=True):
        assert gzip.decompress(Path(packed).read_bytes()) == Path(plain).read_bytes()
        assert Path(packed).read_bytes()[:4] == b"\x1f\x8b\x08\x00"


def test_made_once_and_kept(tmp_path):
    first = dataset_of(WORKLOADS["tiny"], 0.001, cache=tmp_path)
    before = Path(first.files[0]).stat().st_mtime_ns
    assert dataset_of(WORKLOADS["tiny"], 0.001, cache=tmp_path) == first
    assert Path(first.files[0]).stat().st_mtime_ns == before


def test_another_seed_has_other_files(tmp_path):
    first = dataset_of(WORKLOADS["tiny"], 0.001, cache=tmp_path)
    assert dataset_of(WORKLOADS["tiny"], 0.001, seed=1, cache=tmp_path).files != first.files


@pytest.mark.parametrize(
    "damage, says",
    [
        (lambda good: good[:-1], "truncated"),
        (lambda good: good[:5], "truncated"),
        (lambda good: good[:30] + bytes([good[30] ^ 1]) + good[31:], "CRC"),
    ],
    ids=["a byte is missing", "a header is cut", "a bit is flipped"],
)
def test_reference_reader_refuses_damage(damage, says, tmp_path):
    path = Path(dataset_of(WORKLOADS["tiny"], 0.0001, cache=tmp_path).files[0])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=says):
        list(frames(str(path)))


def test_features_become_objects_of_a_module():
    class Module:
        int64, float32, string = "i", "f", "s"

        class io:
            FixedLenFeature = staticmethod(lambda shape, dtype: ("fixed", shape, dtype))
            VarLenFeature = staticmethod(lambda dtype: ("varlen", dtype))
            FixedLenSequenceFeature = staticmethod(lambda shape, dtype: ("sequence", shape, dtype))

    features = {
        "a": Feature("fixed", "float32", (3,)),
        "b": Feature("varlen", "int64"),
        "c": Feature("sequence", "string"),
    }
    assert feature_objects(features, Module) == {
        "a": ("fixed", [3], "f"),
        "b": ("varlen", "i"),
        "c": ("sequence", [], "s"),
    }


TENSORFLOW = """
import hashlib, json, sys
from pathlib import Path
import tensorflow as tf
from benchmarks.data.generate import dataset_of
from benchmarks.data.workloads import WORKLOADS, feature_objects
seen = {}
for name, workload in WORKLOADS.items():
    made = dataset_of(workload, 20 / workload.records, gzip=True, cache=Path(sys.argv[1]))
    for files, compression in ((made.files, ""), (made.gzip_files, "GZIP")):
        records = list(tf.data.TFRecordDataset(files, compression).as_numpy_iterator())
        digest = hashlib.sha256(b"".join(hashlib.sha256(r).digest() for r in records)).hexdigest()
        seen[name + compression] = [digest == made.answer["in order"], len(records)]
    if name == "seq":
        _, sequences, lengths = tf.io.parse_sequence_example(
            records, feature_objects(workload.features, tf), feature_objects(workload.sequences, tf))
        seen["parsed"] = {key: [int(v) for v in lengths[key]] for key in lengths}
    elif workload.features:
        parsed = tf.io.parse_example(records, feature_objects(workload.features, tf))
        assert set(parsed) == set(workload.features)
print(json.dumps(seen))
"""


def test_tensorflow_reads_and_parses_every_workload(tmp_path):
    if subprocess.run([sys.executable, "-c", "import tensorflow"], capture_output=True).returncode:
        pytest.skip("TensorFlow is not installed")
    done = subprocess.run(
        [sys.executable, "-c", TENSORFLOW, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    lengths = seen.pop("parsed")
    assert seen == {name + packed: [True, 40] for name in WORKLOADS for packed in ("", "GZIP")}
    made = [columns for shard in (0, 1) for columns, _ in WORKLOADS["seq"].chunks(shard, 20)]
    assert lengths == {key: [int(n) for columns in made for n in columns[key].lengths] for key in ("items", "frames")}
