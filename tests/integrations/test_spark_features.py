"""Spark reads columns of each type of its own, and names files that do not fit them."""

import pytest

import tfrecord_fast as tf
from tests.integrations.engine_cases import SEQUENCES, WRONG, write_kinds, write_sequences
from tests.integrations.spark_kit import load, rows
from tests.support.engine_rows import rows_of
from tests.support.frames import frames

TYPES = {
    "id": "BIGINT",
    "maybe": "INT",
    "vector": "ARRAY<FLOAT>",
    "pair": "ARRAY<BINARY>",
    "small": "SMALLINT",
    "raw": "BINARY",
    "tags": "ARRAY<STRING>",
    "counts": "ARRAY<TINYINT>",
    "index": "ARRAY<BIGINT>",
    "value": "ARRAY<DOUBLE>",
    "steps": "ARRAY<INT>",
    "schlüssel 😀": "BIGINT",
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return write_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    return write_sequences(tmp_path_factory.mktemp("sequences"))


def schema_of(names):
    return ", ".join(f"`{name}` {TYPES[name]}" for name in names)


def expected_of(folder, frame):
    """What the local reader reads, with the types of the frame."""
    found = tf.read_table(f"{folder}/*", columns=frame.columns)
    return rows_of(found.cast(frame.limit(0).toArrow().schema))


def test_each_type(spark, kinds):
    frame = load(spark, kinds, schema_of(TYPES), splitBytes=20_000)
    assert rows(frame) == expected_of(kinds, frame)


@pytest.mark.parametrize("name", ["maybe", "tags", "schlüssel 😀"])
def test_one_column_alone(spark, kinds, name):
    frame = load(spark, kinds, schema_of([name]))
    assert rows(frame) == expected_of(kinds, frame)


def test_small_data_make_several_tasks_unless_they_are_very_small(spark, tmp_path):
    for count, tasks in ((1, 1), (40, 5)):
        with tf.io.TFRecordWriter(tmp_path / "a") as writer:
            for _ in range(count):
                writer.write(b"x" * (1 << 20))
        frame = load(spark, tmp_path, recordType="ByteArray")
        assert frame.rdd.getNumPartitions() == tasks and frame.count() == count


def test_sequence_examples(spark, sequences):
    lists = {"frames": "FLOAT", "words": "BINARY", "rows": "INT"}
    given = ", ".join(["id BIGINT, label ARRAY<BINARY>", *(f"{key} ARRAY<ARRAY<{one}>>" for key, one in lists.items())])
    expected = rows_of(tf.read_table(f"{sequences}/*", SEQUENCES))
    for split_bytes in (2000, 1 << 30):
        frame = load(spark, sequences, given, recordType="SequenceExample", splitBytes=split_bytes)
        assert rows(frame) == expected


@pytest.mark.parametrize("make", WRONG)
def test_a_wrong_file_is_named_at_the_driver(spark, tmp_path, make):
    for name in ("a", "c"):
        with tf.ExampleWriter(tmp_path / name) as writer:
            writer.write({"a": [1] * 50})
    make(tmp_path / "bad")
    if make.__name__ == "_absent":  # columns may lack values, if they may be null
        assert load(spark, tmp_path, "a BIGINT").where("a is null").count() == 50
    with pytest.raises(Exception, match=f"(?s){tmp_path}/bad.*"):
        load(spark, tmp_path, "a BIGINT NOT NULL").collect()


@pytest.mark.parametrize(("kind", "values"), [("BOOLEAN", [0, 1, 2]), ("ARRAY<BOOLEAN>", [[0], [1, 1], [1, -1]])])
def test_a_number_that_is_no_truth_is_an_error(spark, tmp_path, kind, values):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"a": values})
    with pytest.raises(Exception, match=r"(?s)'a'.*neither 0 nor 1"):
        load(spark, tmp_path, f"a {kind}").collect()
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"a": values[:2]})
    found = sorted(row.a for row in load(spark, tmp_path, f"a {kind}").collect())
    assert found == ([False, True] if kind == "BOOLEAN" else [[False], [True, True]])


@pytest.mark.parametrize("schema", ["a BINARY, b BINARY", "a BIGINT"])
def test_records_as_they_are_have_one_column(spark, tmp_path, schema):
    (tmp_path / "a").write_bytes(frames([b"x"]))
    with pytest.raises(Exception, match="needs one column, of type binary"):
        load(spark, tmp_path, schema, recordType="ByteArray").collect()
    assert [row.text for row in load(spark, tmp_path, "text STRING", recordType="ByteArray").collect()] == ["x"]
