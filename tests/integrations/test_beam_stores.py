"""Files in Beam's file systems, and in stores that this package reads itself."""

import bz2
import errno
import gzip
import os

import fsspec
import pytest

pytest.importorskip("apache_beam")

import apache_beam as beam

import tfrecord_fast as tf
from tests.support.engine_rows import FEATURES, plain_rows, rows_of
from tests.support.frames import frames, offsets
from tests.support.pipelines import Elsewhere, collected
from tfrecord_fast.integrations.beam import ReadAllFromTFRecord, ReadFromTFRecord, WriteToTFRecord

RECORDS = [b"%d" % i * 10 for i in range(100)]


def url(path):
    return f"elsewhere:/{path}"


def read(*arguments, **options):
    return collected(ReadFromTFRecord(*arguments, **options))[0]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a").write_bytes(frames(RECORDS))
    return tmp_path / "a"


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "ZLIB"])
@pytest.mark.parametrize("features", ["infer", FEATURES], ids=["inferred", "given"])
def test_rows(written, kind, features):
    expected = rows_of(tf.read_table(f"{written(kind)}/*", features))
    del Elsewhere.opened[:]
    assert plain_rows(read(url(f"{written(kind)}/*.tfrecord"), features)) == expected
    assert {os.path.basename(name) for name in Elsewhere.opened} == {f"{i}.tfrecord" for i in range(4)}
    if features != "infer":
        found = collected(beam.Create([url(written(kind)) + "/"]), ReadAllFromTFRecord(features))[0]
        assert plain_rows(found) == expected


@pytest.mark.parametrize("size", [100, 1000, 1 << 20])
@pytest.mark.parametrize("compression_type", [None, ""])
def test_files_are_divided(path, size, compression_type):
    source = ReadFromTFRecord(url(path), compression_type=compression_type)._source
    found = [list(bundle.source.read(bundle.source.get_range_tracker(None, None))) for bundle in source.split(size)]
    assert [record for part in found for record in part] == RECORDS
    assert len(found) == 1 if size == 1 << 20 else len(found) > 2


@pytest.mark.parametrize("change", [gzip.compress, bz2.compress], ids=["GZIP", "BZIP2"])
def test_compressed_files_are_not_divided(path, change):
    name = path.with_suffix(".bz2") if change is bz2.compress else path
    name.write_bytes(change(path.read_bytes()))
    [bundle] = ReadFromTFRecord(url(name))._source.split(50)
    assert list(bundle.source.read(bundle.source.get_range_tracker(None, None))) == RECORDS


def test_an_error_has_the_place_in_the_file(path):
    data, places = bytearray(path.read_bytes()), offsets(RECORDS)
    data[places[70] + 13] ^= 1
    path.write_bytes(data)
    for size in (400, 1 << 20):
        with pytest.raises(tf.errors.DataLossError) as caught:
            for bundle in ReadFromTFRecord(url(path))._source.split(size):
                list(bundle.source.read(bundle.source.get_range_tracker(None, None)))
        assert (caught.value.offset, caught.value.record_index) == (places[70], 70)
        assert str(path) in str(caught.value) and str(places[70]) in str(caught.value)


def test_a_record_that_does_not_fit_is_named(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"a": [[1]] * 70 + [[1, 2]] + [[1]] * 29})
    source = ReadFromTFRecord(url(tmp_path / "a"), {"a": FEATURES["id"]})._source
    for size in (400, 1 << 20):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"/a\b.*record 70\b"):
            for bundle in source.split(size):
                list(bundle.source.read(bundle.source.get_range_tracker(None, None)))


def test_a_damaged_header_is_named_where_the_file_is_divided(path):
    data, places = bytearray(path.read_bytes()), offsets(RECORDS)
    data[places[70] + 1] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=f"{path}.*record 70 at byte {places[70]}"):
        list(ReadFromTFRecord(url(path))._source.split(400))


def test_a_file_that_has_changed_is_an_error(path):
    bundles = list(ReadFromTFRecord(url(path))._source.split(400))
    path.write_bytes(frames([*RECORDS, b"one more"]))
    for bundle in bundles[:2]:
        with pytest.raises(OSError) as caught:
            list(bundle.source.read(bundle.source.get_range_tracker(None, None)))
        assert caught.value.errno == errno.ESTALE and str(path) in str(caught.value)


def test_folders_leave_hidden_files_out(path):
    (path.parent / "_manifest.json").write_text("{}")
    (path.parent / ".hidden").mkdir()
    (path.parent / ".hidden" / "b").write_text("x")
    assert sorted(read(f"{url(path.parent)}/")) == sorted(RECORDS)


def test_what_is_not_there(tmp_path):
    for name in (url(tmp_path / "none"), url(tmp_path / "none*"), f"{url(tmp_path)}/none/"):
        with pytest.raises(FileNotFoundError, match="none"):
            ReadFromTFRecord(name)
    with pytest.raises(Exception, match="nowhere"):
        ReadFromTFRecord("nowhere://bucket/a")


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD"])
def test_writing(tmp_path, kind):
    collected(
        beam.Create([{"i": i} for i in range(100)]), WriteToTFRecord(url(tmp_path / "a"), options=kind, num_shards=2)
    )
    assert sorted(os.listdir(tmp_path)) == ["a-00000-of-00002", "a-00001-of-00002"]
    assert sorted(tf.read_table(f"{tmp_path}/*").column("i").to_pylist()) == list(range(100))


def test_stores_of_this_package(path):
    """With the options of a store, or where Beam has no file system."""
    with fsspec.open("memory://beam/a", "wb") as file:
        file.write(path.read_bytes())
    assert sorted(read("memory://beam/a")) == sorted(read("memory://beam/a", storage_options={})) == sorted(RECORDS)
    [first, *others] = ReadFromTFRecord("memory://beam/a")._source.split(400)
    assert others and next(iter(first.source.read(first.source.get_range_tracker(None, None)))) == RECORDS[0]


def test_the_display_data_has_no_credentials():
    shown = ReadFromTFRecord("https://me:hush@host/a.tfrecord?X-Amz-Signature=hush", validate=False).display_data()
    assert shown["source_dd"].display_data() == {"file_pattern": "['https://host/a.tfrecord']"}
