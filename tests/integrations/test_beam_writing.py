"""What Beam writes is read again, by whatever reads TFRecord files."""

import glob
import os
from typing import NamedTuple

import pytest

pytest.importorskip("apache_beam")

import apache_beam as beam
import numpy as np
import pandas
import pyarrow
from apache_beam.coders import StrUtf8Coder
from apache_beam.dataframe.convert import to_dataframe, to_pcollection
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_stream import TestStream as Stream
from apache_beam.transforms.combiners import CountCombineFn

import tfrecord_fast as tf
from tests.support.engine_rows import FEATURES, columns_of, rows_of
from tests.support.pipelines import RUNNER, collected
from tfrecord_fast.integrations.beam import ReadFromTFRecord, WriteToTFRecord

NUMBER = {"i": tf.io.FixedLenFeature([], tf.int64)}


def write(elements, *arguments, **options):
    return collected(beam.Create(elements), WriteToTFRecord(*arguments, **options))


def files(folder):
    return sorted(os.listdir(folder))


def ids(folder):
    return sorted(tf.read_table(str(folder / "*"), NUMBER).column("i").to_pylist())


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "ZLIB"])
@pytest.mark.parametrize("batch", [None, 100])
def test_what_is_read_is_written_and_read_again(tmp_path, written, kind, batch):
    reading = ReadFromTFRecord(f"{written()}/*", FEATURES, batch=batch)
    collected(reading, WriteToTFRecord(f"{tmp_path}/part", num_shards=3, options=kind))
    assert files(tmp_path) == [f"part-{i:05d}-of-00003" for i in range(3)]
    expected = rows_of(tf.read_table(f"{written()}/*", FEATURES))
    found = rows_of(tf.read_table(f"{tmp_path}/*", FEATURES, compression_type=kind))
    if batch is None:  # in a dict, a list without a value has no kind: it is read as if it were not there
        expected = [row.replace("'tags': []", "'tags': None") for row in expected]
    assert found == sorted(expected)


def test_beams_own_reader_and_ours_read_what_the_other_writes(tmp_path):
    records = [b"%d" % i for i in range(1000)]
    write(records, f"{tmp_path}/ours", file_name_suffix=".gz")
    assert sorted(collected(beam.io.ReadFromTFRecord(f"{tmp_path}/ours*"))[0]) == sorted(records)
    collected(beam.Create(records), beam.io.WriteToTFRecord(f"{tmp_path}/theirs", file_name_suffix=".gz"))
    assert sorted(collected(ReadFromTFRecord(f"{tmp_path}/theirs*"))[0]) == sorted(records)


class Named(NamedTuple):
    i: int


ELEMENTS = {
    "bytes": [bytes(record) for record in tf.encode_examples({"i": range(4)})],
    "memoryview": [memoryview(bytes(record)) for record in tf.encode_examples({"i": range(4)})],
    "dict": [{"i": i} for i in range(4)],
    "dict of arrays": [{"i": np.array(i)} for i in range(4)],
    "row": [beam.Row(i=i) for i in range(4)],
    "named tuple": [Named(i) for i in range(4)],
    "batch": [pyarrow.RecordBatch.from_pydict({"i": [0, 1]}), pyarrow.RecordBatch.from_pydict({"i": [2, 3]})],
    "table": [pyarrow.table({"i": [0, 1, 2, 3]})],
    "frame": [pandas.DataFrame({"i": [0, 1, 2, 3]})],
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_elements(tmp_path, kind):
    found, _ = collected(beam.Impulse(), beam.FlatMap(lambda _: ELEMENTS[kind]), WriteToTFRecord(f"{tmp_path}/a"))
    assert ids(tmp_path) == [0, 1, 2, 3] and found == [f"{tmp_path}/a-00000-of-00001"]


@pytest.mark.parametrize(
    ("element", "text"), [(7, "element"), ([1, 2], "element"), (None, "element"), ({"i": object()}, "'i'")], ids=str
)
def test_elements_that_can_not_be_written_leave_nothing(tmp_path, element, text):
    with pytest.raises(Exception, match=text):
        write([{"i": 1}, element], f"{tmp_path}/a")
    assert [name for name in files(tmp_path) if not name.startswith(".")] == []


def test_coders(tmp_path):
    write(["ä", "b"], f"{tmp_path}/a", coder=StrUtf8Coder())
    assert sorted(record for batch in tf.ShardReader(f"{tmp_path}/a*") for record in batch) == [b"b", "ä".encode()]


@pytest.mark.parametrize(
    ("suffix", "options", "head"),
    [
        ("", {}, None),
        (".gz", {}, b"\x1f\x8b"),
        (".zst", {}, b"]*M\x18"),  # a mark of TFRecordWriter's, before the block
        (".bz2", {}, b"BZh"),
        (".gz", {"compression_type": CompressionTypes.UNCOMPRESSED}, None),
        ("", {"compression_type": CompressionTypes.GZIP}, b"\x1f\x8b"),
        ("", {"compression_type": "ZSTD"}, b"]*M\x18"),
        ("", {"compression_type": CompressionTypes.BZIP2}, b"BZh"),
        ("", {"options": tf.io.TFRecordOptions("GZIP", compression_level=1)}, b"\x1f\x8b"),
    ],
)
def test_compressions(tmp_path, suffix, options, head):
    write([b"x" * 100], f"{tmp_path}/a", file_name_suffix=suffix, **options)
    [path] = glob.glob(f"{tmp_path}/*")
    with open(path, "rb") as file:
        assert file.read().startswith(head or (100).to_bytes(8, "little"))
    if suffix or options.get("compression_type") != CompressionTypes.BZIP2:
        assert collected(ReadFromTFRecord(path, compression_type=options.get("compression_type")))[0] == [b"x" * 100]


def test_names(tmp_path):
    write([b"x"], f"{tmp_path}/a", file_name_suffix=".tfrecord", shard_name_template="")
    write([b"x"], f"{tmp_path}/b", shard_name_template="_SS_of_NN", num_shards=1)
    assert files(tmp_path) == ["a.tfrecord", "b_00_of_01"]


def test_a_second_write_replaces_the_shards_of_the_first(tmp_path):
    for value in (1, 2):
        write([{"i": value}] * 10, f"{tmp_path}/a", num_shards=2)
    assert ids(tmp_path) == [2] * 10 and len(files(tmp_path)) == 2


def test_nothing_to_write(tmp_path):
    write([], f"{tmp_path}/a")
    assert files(tmp_path) == ["a-00000-of-00001"]
    assert collected(ReadFromTFRecord(f"{tmp_path}/a*"))[0] == []


def test_what_is_written_is_counted(tmp_path, written):
    _, counters = collected(ReadFromTFRecord(f"{written()}/*"), WriteToTFRecord(f"{tmp_path}/a"))
    assert counters["records_written"] == counters["records_read"] == 6600
    assert counters["bytes_written"] == counters["bytes_read"]


def test_windows_of_a_stream(tmp_path):
    stream = Stream()
    for at in (0, 70):
        stream = stream.advance_watermark_to(at).add_elements([{"i": at + i} for i in range(3)])
    with beam.Pipeline(options=PipelineOptions(streaming=True)) as pipeline:
        pipeline | stream.advance_watermark_to_infinity() | WriteToTFRecord(f"{tmp_path}/a", triggering_frequency=60)
    assert ids(tmp_path) == [0, 1, 2, 70, 71, 72] and len(files(tmp_path)) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"compression_type": "rar"}, ValueError, "rar"),
        ({"options": "rar"}, ValueError, "rar"),
        ({"options": 7}, ValueError, "7"),
        ({"options": "GZIP", "compression_type": "ZSTD"}, tf.errors.InvalidArgumentError, "options"),
        ({"file_path_prefix": 7}, TypeError, "file_path_prefix"),
        ({"shard_name_template": "x"}, ValueError, "shard_name_template"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_at_once(tmp_path, arguments, error, text):
    with pytest.raises(error, match=text):
        WriteToTFRecord(**{"file_path_prefix": f"{tmp_path}/a", **arguments})


# ---- Rows and data frames ----

SCALARS = {name: FEATURES[name] for name in ("id", "price")}


def test_rows_of_beam(written):
    """They have a schema: its transforms take columns by their names."""

    def read():
        return ReadFromTFRecord(f"{written()}/1*", FEATURES, as_rows=True)

    total = beam.GroupBy().aggregate_field("id", max, "last").aggregate_field("id", CountCombineFn(), "count")
    [found] = collected(read(), total)[0]
    assert (found.last, found.count) == (10_000_599, 600)
    names = collected(read(), beam.Select("name", "counts"))[0]
    assert sorted((row.name, list(row.counts)) for row in names) == sorted(
        zip(*(columns_of(10)[name] for name in ("name", "counts")), strict=True)
    )


def test_data_frames(tmp_path, written):
    """Beam's, whose columns are those of the schema; what is made of them is written again."""
    with beam.Pipeline(runner=RUNNER) as pipeline:
        frame = to_dataframe(pipeline | ReadFromTFRecord(f"{written()}/1*", SCALARS, as_rows=True))
        frame["i"] = frame.id % 7
        few = frame[frame.price > 0.5][["i"]]
        to_pcollection(few) | WriteToTFRecord(f"{tmp_path}/a")
    columns = columns_of(10)
    assert ids(tmp_path) == sorted((columns["id"] % 7)[columns["price"] > 0.5].tolist())


def test_a_column_that_rows_do_not_have_is_told_at_once(written):
    sparse = {"sparse": tf.io.SparseFeature("counts", "price", tf.float32, 9)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="support a column"):
        ReadFromTFRecord(written(), sparse, as_rows=True)
