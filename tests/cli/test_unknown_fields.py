"""Fields of records that no Example has: they make no other kind of a record, and none is lost without a word."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tfrecord_fast import _core
from tfrecord_fast.cli.commands.view import code, trees
from tfrecord_fast.examples.messages.wire import fields_of

LIST = wire.int64_list([1, 2])
KNOWN = wire.example([(b"a", wire.feature("int64", [1]))])


def nested(level, extra):
    """A record with one more field at one level of its messages."""
    parts = [b""] * 5
    parts[level] = extra
    feature = wire.field(3, LIST + parts[4]) + parts[3]
    entry = wire.field(1, b"b") + wire.field(2, feature) + parts[2]
    return wire.field(1, wire.field(1, entry) + parts[1]) + parts[0]


def stepped(level, extra):
    """The same of a SequenceExample, in its feature lists."""
    parts = [b""] * 5
    parts[level] = extra
    steps = wire.field(1, wire.feature("float", [1.0]) + parts[4]) + parts[3]
    entry = wire.field(1, b"b") + wire.field(2, steps) + parts[2]
    return wire.field(2, wire.field(1, entry) + parts[1]) + parts[0]


@pytest.fixture
def run(capfd, tmp_path):
    def call(records, output, *options):
        with tf.TFRecordWriter(tmp_path / "in.tfrecord") as writer:
            writer.write_batch(records)
        status, _, err = run_here(capfd, "convert", tmp_path / "in.tfrecord", tmp_path / output, *options)
        return status, err

    return call


@given(st.sampled_from([nested, stepped]), st.integers(0, 4), st.integers(0, 2**32))
def test_a_field_that_is_unknown_is_found_wherever_it_is(make, level, seed):
    extra = wire.unknown_field(random.Random(seed), groups=True)
    number = next(fields_of(extra)).number
    assert _core.unknown_fields([KNOWN, make(level, extra), KNOWN, make(level, extra)]) == (2, 1, number)
    assert _core.unknown_fields([KNOWN, make(level, b"")]) == (0, 0, 0)


@pytest.mark.parametrize("extra", [b"\x08\x01", b"\x15abcd"])
def test_a_known_number_of_another_wire_type_is_unknown(extra):
    assert _core.unknown_fields([nested(1, extra)])[0] == 1


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["int64", "float", "bytes"])
def test_what_writers_write_is_known(kind, packed):
    values = [b"x", b""] if kind == "bytes" else [1, 2]
    record = wire.sequence_example(
        [(b"c", wire.feature(kind, values, packed))], [(b"s", [wire.feature(kind, values, packed), b""])]
    )
    assert _core.unknown_fields([record, b"", KNOWN]) == (0, 0, 0)


@pytest.mark.parametrize("row", [row for row in manifest() if "Example" in row["kind"]], ids=lambda row: row["file"])
def test_real_files_have_none(row):
    for batch in tf.ShardReader([REAL_FILES / row["file"]]):
        assert _core.unknown_fields(batch)[0] == 0


@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize(("make", "kind"), [(nested, "Example"), (stepped, "SequenceExample")])
def test_all_commands_give_such_a_record_one_name(tmp_path, capfd, make, kind, level):
    with tf.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(make(level, wire.field(9, b"more")))

    def said(*command):
        return json.loads(run_here(capfd, *command, "--json", tmp_path / "a")[1])

    assert said("info")["kinds"] == [*said("stats")["kinds"]] == [kind]
    for form in ("auto", "example"):
        shown = said("cat", "--as", form)
        assert shown["kind"] == kind and shown["unknown_field"] == 9
        assert {"features", "feature_lists"} & shown.keys()
    assert said("cat", "--as", "proto")["kind"] == kind
    assert "unknown field 9;" in run_here(capfd, "cat", tmp_path / "a")[1]


def test_what_has_no_values_is_no_example_for_a_field_more(tmp_path, run):
    status, err = run([KNOWN, wire.field(1, b"") + wire.field(9, b"more")], "out.jsonl", "--drop-unknown-fields")
    assert status == 1 and "looks like another protobuf message" in err


def test_the_page_says_that_there_is_more():
    for make in (nested, stepped):
        kind, tree = trees.tree_of(make(0, wire.field(9, b"more")))
        name, leaf = tree.items[-1]
        assert "Example" in kind and name == "(unknown)" and "field 9" in leaf().values[0]
        assert "(unknown)" not in dict(trees.tree_of(make(0, b""))[1].items)


def test_code_makes_the_whole_record():
    record = KNOWN + wire.field(9, b"more")
    made = {}
    exec(code.code_of(record, "a", 0, is_indexed=False), made)
    assert made["record"] == record


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet", "out.arrow", "out.orc"])
def test_they_are_an_error_in_other_formats(tmp_path, run, name):
    if name != "out.jsonl":
        pytest.importorskip("pyarrow")
    status, err = run([KNOWN, KNOWN + wire.field(9, b"more")], name)
    assert status == 2 and "field 9 is unknown and would be lost" in err
    assert "in.tfrecord" in err and "record 1" in err and not (tmp_path / name).exists()


def test_they_are_counted_if_they_may_be_dropped(tmp_path, run):
    records = [KNOWN, KNOWN + wire.field(9, b"more"), KNOWN + wire.fixed32(7, b"abcd")]
    status, err = run(records, "out.jsonl", "--drop-unknown-fields")
    assert status == 0 and (tmp_path / "out.jsonl").read_text() == '{"a":1}\n' * 3
    assert err.startswith("tfrecord-fast: unknown fields of 2 records were omitted; the first: ")
    assert "field 9 is unknown (record 1)" in err and "in.tfrecord" in err
    assert run([KNOWN], "out.jsonl", "--drop-unknown-fields") == (0, "")


def test_those_of_all_batches_are_counted(run):
    status, err = run([nested(0, b"\x78\x01")] * 40_000, "out.jsonl", "--drop-unknown-fields")
    assert status == 0 and "unknown fields of 40,000 records were omitted" in err and "record 0" in err


def test_from_tfrecord_to_tfrecord_they_stay(tmp_path, run):
    records = [KNOWN + wire.field(9, b"more")]
    assert run(records, "out.tfrecord") == (0, "")
    assert list(tf.python_io.tf_record_iterator(tmp_path / "out.tfrecord")) == records


def test_those_after_the_limit_do_not_matter(run):
    assert run([KNOWN, KNOWN + wire.field(9, b"more")], "out.jsonl", "-n", "1") == (0, "")
