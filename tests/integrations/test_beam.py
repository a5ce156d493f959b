"""Apache Beam reads what the local reader reads."""

import bz2
import glob
import lzma
import os

import pytest

pytest.importorskip("apache_beam")

import apache_beam as beam
import numpy as np
import pyarrow
from apache_beam.coders import StrUtf8Coder
from apache_beam.io.filesystem import CompressionTypes, FileMetadata
from apache_beam.options.value_provider import RuntimeValueProvider, StaticValueProvider

import tfrecord_fast as tf
from tests.support.engine_rows import FEATURES, plain_rows, rows_of
from tests.support.frames import frames
from tests.support.pipelines import collected, processes
from tfrecord_fast.integrations.beam import ReadAllFromTFRecord, ReadFromTFRecord


def read(*arguments, **options):
    return collected(ReadFromTFRecord(*arguments, **options))[0]


def read_all(names, *arguments, **options):
    return collected(beam.Create(names), ReadAllFromTFRecord(*arguments, **options))[0]


def local(folder, features=FEATURES):
    return rows_of(tf.read_table(sorted(glob.glob(f"{folder}/*")), features))


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "ZLIB"])
@pytest.mark.parametrize("features", ["infer", FEATURES], ids=["inferred", "given"])
def test_the_rows_are_those_of_the_local_reader(written, kind, features):
    folder = written(kind)
    expected = local(folder, features)
    assert plain_rows(read(folder, features)) == expected
    batches = read(f"{folder}/*", features, batch=100)
    assert all(isinstance(batch, pyarrow.RecordBatch) and batch.num_rows <= 100 for batch in batches)
    assert rows_of(pyarrow.Table.from_batches(batches)) == expected


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "ZLIB"])
def test_read_all(written, kind):
    folder = written(kind)
    expected = local(folder)
    assert plain_rows(read_all([folder], FEATURES)) == expected
    assert plain_rows(read_all(sorted(glob.glob(f"{folder}/*")), FEATURES, split_bytes=30_000)) == expected
    [batch] = read_all([f"{folder}/1*"], FEATURES, batch=1000)
    assert batch.num_rows == 600 and batch.schema == ReadAllFromTFRecord(FEATURES).schema


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "ZLIB"])
def test_records_as_they_are(written, kind):
    expected = sorted(record for batch in tf.ShardReader(f"{written(kind)}/*") for record in batch)
    assert sorted(read(written(kind))) == sorted(read_all([written(kind)])) == expected


def test_values_of_rows(written):
    [row] = [row for row in read(written(), FEATURES) if row["id"] == 1]
    assert type(row["id"]) is int and type(row["price"]) is float and row["name"] == b"0-1"
    assert row["vector"].shape == (2, 3) and row["vector"].dtype == np.float32
    assert all(type(tag) is bytes for tag in row["tags"]) and row["counts"].dtype == np.int64


def test_a_thousand_small_files(tmp_path):
    for i in range(1000):
        (tmp_path / f"{i:05d}").write_bytes(frames(tf.encode_examples({"i": [i]})))
    batches = read(tmp_path, "infer", batch=100)
    assert sorted(i for batch in batches for i in batch.column("i").to_pylist()) == list(range(1000))
    assert sorted(row["i"] for row in read_all([str(tmp_path)], {"i": FEATURES["id"]})) == list(range(1000))


def test_real_files(data_dir):
    compared = 0
    for path in sorted(glob.glob(f"{data_dir}/**", recursive=True)):
        try:
            expected = tf.read_table(path)
        except Exception:
            continue
        if expected.num_rows == 0 or os.path.isdir(path) or os.path.getsize(path) > 4 << 20:
            continue
        reading = ReadFromTFRecord(path, "infer", batch=256)
        found = pyarrow.Table.from_batches(collected(reading)[0], reading.schema)
        assert rows_of(found) == rows_of(expected), path
        assert plain_rows(read(path, "infer")) == rows_of(expected), path
        compared += 1
    assert compared >= 15


def test_processes_as_workers(written):
    """They unpickle what reads, and run it at once."""
    with processes() as pipeline:
        found = pipeline | ReadFromTFRecord(f"{written()}/*", FEATURES) | beam.Map(lambda row: row["id"])
        ids = tf.read_table(f"{written()}/*", FEATURES).column("id").to_pylist()
        found | beam.combiners.Count.Globally() | beam.Map(check, len(ids))
        found | "Sum" >> beam.CombineGlobally(sum) | "CheckSum" >> beam.Map(check, sum(ids))


def check(found, expected):
    assert found == expected


def test_columns(written):
    [row] = read(f"{written()}/1*", FEATURES, columns=["vector", "id"])[:1]
    assert list(row) == ["vector", "id"]
    assert ReadFromTFRecord(written(), columns=["price"], features="infer").schema.names == ["price"]


def test_names_of_files(written):
    found = read(f"{written()}/*", FEATURES, columns=["id"], with_filename=True)
    assert {os.path.basename(name): row["id"] // 10_000_000 for name, row in found} == {
        f"{i}.tfrecord": i for i in range(4)
    }
    name, batch = read_all([f"{written()}/1.tfrecord"], FEATURES, batch=600, with_filename=True)[0]
    assert name == f"{written()}/1.tfrecord" and batch.num_rows == 600


def test_names_that_are_known_later(written, monkeypatch):
    assert len(read(StaticValueProvider(str, written()), "infer")) == 6600
    monkeypatch.setattr(RuntimeValueProvider, "runtime_options", None)
    later = RuntimeValueProvider("names", str, "")
    source = ReadFromTFRecord(later, FEATURES)._source
    with pytest.raises(tf.errors.InvalidArgumentError, match="infer"):
        ReadFromTFRecord(later, "infer")
    RuntimeValueProvider.set_runtime_options({"names": f"{written()}/1*"})
    assert len(list(source.read(source.get_range_tracker(None, None)))) == 600


def test_beams_own_list_of_files(written):
    files = [FileMetadata(path, os.path.getsize(path)) for path in glob.glob(f"{written()}/*")]
    assert len(read_all(files)) == 6600


def test_coders(tmp_path):
    (tmp_path / "a").write_bytes(frames(["ä".encode(), b"b"]))
    assert sorted(read(tmp_path / "a", coder=StrUtf8Coder())) == ["b", "ä"]
    assert read_all([str(tmp_path)], coder=StrUtf8Coder(), with_filename=True)[0][0] == str(tmp_path / "a")


@pytest.mark.parametrize("kind", [CompressionTypes.BZIP2, CompressionTypes.LZMA])
def test_compressions_that_only_beam_has(tmp_path, kind):
    data = frames(tf.encode_examples({"i": range(100)}))
    module, extension = (bz2, ".bz2") if kind == CompressionTypes.BZIP2 else (lzma, ".xz")
    (tmp_path / "named").with_suffix(extension).write_bytes(module.compress(data))
    (tmp_path / "unnamed").write_bytes(module.compress(data))
    assert sorted(row["i"] for row in read(f"{tmp_path}/named*", "infer")) == list(range(100))
    assert sorted(row["i"] for row in read(tmp_path / "unnamed", "infer", compression_type=kind)) == list(range(100))


def test_compressions_that_are_told(written):
    for kind in ("GZIP", CompressionTypes.GZIP):
        assert len(read(written("GZIP"), compression_type=kind)) == 6600
    with pytest.raises(Exception, match="tfrecord"):
        read(written("GZIP"), compression_type=CompressionTypes.UNCOMPRESSED)
    with pytest.raises(ValueError, match="rar"):
        ReadFromTFRecord(written(), compression_type="rar")


@pytest.mark.parametrize("transform", ["one", "all"])
def test_what_is_read_is_counted(written, transform):
    if transform == "one":
        reading = [ReadFromTFRecord(written())]
    else:
        reading = [beam.Create([written()]), ReadAllFromTFRecord()]
    records, counters = collected(*reading)
    assert counters["records_read"] == len(records) == 6600
    assert counters["bytes_read"] == sum(map(len, records))


def test_damage_that_is_passed_over_is_counted(tmp_path):
    data = bytearray(frames(tf.encode_examples({"a": range(100)})))
    data[len(data) // 2] ^= 1
    (tmp_path / "a").write_bytes(data)
    found, counters = collected(ReadFromTFRecord(tmp_path, "infer", on_corrupt="skip"))
    assert len(found) == 99 and counters["damaged_stretches"] == 1 and 0 < counters["damaged_bytes"] < 100


def test_sizes_are_known(written):
    size = sum(map(os.path.getsize, glob.glob(f"{written()}/*")))
    assert ReadFromTFRecord(written())._source.estimate_size() == size


def test_files_without_records(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "another").touch()
    assert read(tmp_path) == [] == read_all([str(tmp_path / "a")])
    (tmp_path / "b").write_bytes(frames([b"x"]))
    assert read(tmp_path) == [b"x"]
