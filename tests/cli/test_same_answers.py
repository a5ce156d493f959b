"""Two commands, or one in two ways, say the same of the same records."""

import functools
import gzip
import json
import os
import struct
import types

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tests.support.frames import FRAME, frames
from tfrecord_fast.cli.commands.stats.collecting import Collected
from tfrecord_fast.cli.commands.stats.table import duplicates_text
from tfrecord_fast.examples.messages.wire import example_of

GROUP = wire.varint(9 << 3 | 3) + wire.varint(9 << 3 | 4)  # field 9, an empty group


def write(path, *records):
    path.write_bytes(frames(records))
    return str(path)


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


@pytest.fixture
def run(capfd):
    return functools.partial(run_here, capfd)


@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_a_schema_file_does_not_change_what_nulls_mean(tmp_path, run, extension):
    pytest.importorskip("pyarrow")
    odd = wire.feature("int64", [])
    one = example(id=("int64", [1]), a=("int64", [5]))
    ident = wire.feature("int64", [2])
    old = write(tmp_path / "old.tfrecord", one, wire.example([(b"id", ident), (b"a", odd)]))
    new = write(tmp_path / "new.tfrecord", one, wire.example([(b"id", ident)]))
    schema, out, back = (tmp_path / name for name in (f"old.{extension}", f"new.{extension}", "back.tfrecord"))
    assert run("convert", old, schema)[0] == 0
    assert run("convert", new, out, "--schema", schema)[0] == 0
    assert run("convert", out, back)[0] == 0
    got = [example_of(one) for one in tf.data.TFRecordDataset(str(back))]
    assert "a" not in got[1], got[1]


def test_an_index_of_the_last_records_hides_none(tmp_path, run):
    path = write(tmp_path / "a.tfrecord", *[b"record%d" % i for i in range(5)])
    (tmp_path / "a.tfrecord.idx").write_text("".join(f"{i * (7 + FRAME)} {7 + FRAME}\n" for i in (3, 4)))
    assert run("cat", path, "--raw", "--skip", 1)[1] == "record1\nrecord2\nrecord3\nrecord4\n"


@pytest.mark.parametrize("text", ["", "cut"])
def test_an_index_that_lacks_records_hides_none(tmp_path, run, text):
    path = write(tmp_path / "a.tfrecord", *[b"record%d" % i for i in range(5)])
    lines = "" if text == "" else "".join(f"{i * (7 + FRAME)} {7 + FRAME}\n" for i in range(2))
    (tmp_path / "a.tfrecord.idx").write_text(lines)
    assert run("cat", path, "--raw", "--skip", 1)[1] == "record1\nrecord2\nrecord3\nrecord4\n"


def test_the_index_of_a_file_of_a_like_name_is_not_taken(tmp_path, run):
    few = write(tmp_path / "x.tfrecord", b"aa", b"bb")
    many = write(tmp_path / "x.tfrecord-00000-of-00001", *[b"c%d" % i for i in range(5)])
    tf.RecordIndex.build(few).save(tmp_path / "x.idx")
    assert run("cat", many, "--raw", "--skip", 1)[1] == "c1\nc2\nc3\nc4\n"


def test_an_index_that_can_not_be_read_is_no_traceback(tmp_path, run):
    path = write(tmp_path / "a.tfrecord", b"one", b"two")
    (tmp_path / "a.tfrecord.idx").write_text("hello\n")
    status, out, err = run("cat", path, "--raw", "--skip", 1)  # raises InvalidArgumentError
    assert (status, out) == (0, "two\n") or (status and len(err.splitlines()) == 1)


def test_damage_hides_no_intact_record_before_it_with_an_index(tmp_path, run):
    records = [b"record%d" % i for i in range(10)]
    path = write(tmp_path / "a.tfrecord", *records)
    data = bytearray((tmp_path / "a.tfrecord").read_bytes())
    data[5 * (7 + FRAME) + 12] ^= 1
    (tmp_path / "a.tfrecord").write_bytes(data)
    without = run("cat", path, "--raw", "--skip", 1)[:2]
    tf.RecordIndex.build(path).save(f"{path}.idx")
    assert without == (1, "record1\nrecord2\nrecord3\nrecord4\n")
    assert run("cat", path, "--raw", "--skip", 1)[:2] == without


def test_drift_of_long_texts_is_not_called_exact(tmp_path, run):
    a, b = (example(t=("bytes", [b"p" * 64 + last])) for last in (b"1", b"2"))
    one, two = write(tmp_path / "1", *[a] * 9, b), write(tmp_path / "2", a, *[b] * 9)
    (drift,) = json.loads(run("stats", "--json", one, "--against", two)[1])["drift"]
    assert not drift["exact"]  # those of one beginning and size count as one; that is told


@pytest.mark.parametrize("steps", [[b""], []], ids=["a step without a kind", "no steps"])
@pytest.mark.parametrize("turned", [False, True])
def test_lists_of_several_files_are_those_of_one(tmp_path, run, steps, turned):
    records = [wire.sequence_example([], [(b"x", one)]) for one in ([wire.feature("int64", [1])], steps)]
    records = records[::-1] if turned else records
    whole = write(tmp_path / "whole", *records)
    parts = [write(tmp_path / str(i), one) for i, one in enumerate(records)]
    expected = json.loads(run("schema", "--json", whole)[1])["sequence_features"]
    assert json.loads(run("schema", "--json", *parts)[1])["sequence_features"] == expected


def tensor(dtype, values, count=1):
    shape = wire.field(2, wire.varint(1 << 3) + wire.varint(count))
    return wire.varint(1 << 3) + wire.varint(dtype) + wire.field(2, shape) + values


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        (23, wire.field(17, wire.varint(2**64 - 1)), [2**64 - 1]),  # uint64_val
        (19, wire.field(13, wire.varint(0x3800)), [0.5]),  # half_val
        (8, wire.field(9, struct.pack("<2f", 1, 2)), ["(1+2j)"]),  # scomplex_val
        (18, wire.field(12, struct.pack("<2d", 1, 2)), ["(1+2j)"]),  # dcomplex_val
    ],
    ids=["uint64", "half", "complex64", "complex128"],
)
def test_values_of_tensors_are_theirs(tmp_path, run, dtype, values, expected):
    status, out, _ = run("cat", "--json", write(tmp_path / "a", tensor(dtype, values)))
    made = json.loads(out)
    assert status == 0 and made["kind"] == "TensorProto" and made["values"] == expected, made


def test_where_takes_a_record_that_ends_in_a_group(tmp_path, run):
    """The scanner takes it, parse_example does not: InvalidArgumentError, a traceback (cli/records/selecting.py)."""
    path = write(tmp_path / "a", example(a=("int64", [1])) + GROUP)
    status, out, err = run("cat", path, "--where", "a == 1")
    assert (status, bool(out)) == (0, True) or (status and len(err.splitlines()) == 1)


def test_where_compares_with_bytes_that_are_not_utf8(tmp_path, run):
    """The shell's argument b"caf\\xe9" comes as "caf\\udce9" (where.py: surrogatepass)."""
    path = write(tmp_path / "a", example(a=("bytes", [b"caf\xe9"])))
    status, out, _ = run("cat", "--base64", path, "--where", 'a == "caf\udce9"')
    assert (status, len(out.splitlines())) == (0, 1)


def test_an_unknown_field_2_makes_no_sequence_example(tmp_path, run):
    """examples/messages/wire.py: has_lists does not look at the wire type, the core does."""
    odd = example(a=("int64", [1])) + wire.varint(2 << 3) + wire.varint(1)
    lists = wire.sequence_example([], [(b"x", [wire.feature("int64", [1])])])
    path = write(tmp_path / "a", odd, lists)
    assert run("convert", path, tmp_path / "a.jsonl", "--drop-unknown-fields")[0] == 0
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0]) == {"a": 1}


def test_records_are_compared_once():
    """compare() has begun it in a thread; a second call beside it moves the same vector of hashes (FlushHashes)."""
    calls = []

    class Collector:
        def repeated(self):
            calls.append(1)
            return types.SimpleNamespace(copies=0, halvings=0, different=0, repeated=0, most=0, pairs=[])

    made = Collected(Collector())
    made.compare()
    assert duplicates_text(made) == "none" and made.repeats is not None and len(calls) == 1


@pytest.mark.parametrize("how", ["cut", "damaged"])
def test_a_damaged_gzip_of_json_lines_is_a_line(tmp_path, run, how):
    rows = "".join(json.dumps({"a": i, "b": str(i * i)}) + "\n" for i in range(2000)).encode()
    data = bytearray(gzip.compress(rows, mtime=0))
    if how == "cut":
        del data[len(data) // 2 :]  # EOFError
    else:
        data[20:40] = b"\xff" * 20  # zlib.error, mostly
    (tmp_path / "a.jsonl.gz").write_bytes(data)
    status, _, err = run("convert", tmp_path / "a.jsonl.gz", tmp_path / "out.tfrecord")
    assert status in (1, 2) and len(err.splitlines()) == 1 and not (tmp_path / "out.tfrecord").exists()


def test_a_schema_whose_features_are_a_list_is_a_line(tmp_path, run):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "s.json").write_text('{"features": []}')
    status, _, err = run("convert", tmp_path / "a.csv", tmp_path / "out.tfrecord", "--schema", tmp_path / "s.json")
    assert status == 2 and len(err.splitlines()) == 1  # AttributeError: convert.py, _types_in


def test_a_key_that_comes_twice_counts_once_everywhere(tmp_path, run):
    twice = wire.example([(b"a", wire.feature("float", [1.0])), (b"a", wire.feature("int64", [7]))])
    unset = wire.example([(b"a", wire.feature("int64", [5])), (b"a", b"")])
    path = write(tmp_path / "a", twice, unset, example(a=("int64", [9])), twice + example(b=("int64", [1])))
    assert run("convert", path, tmp_path / "a.jsonl")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert lines == [{"a": 7}, {"a": {"empty": "none"}}, {"a": 9}, {"a": 7, "b": 1}]
    assert len(run("cat", "--base64", path, "--where", "a == 7")[1].splitlines()) == 2
    stats = json.loads(run("stats", "--json", path)[1])["features"]["a"]
    schema = json.loads(run("schema", "--json", path)[1])["features"]["a"]
    assert (stats["kind"], stats["present"], stats["unset"], stats["values"]) == ("int64", 3, 1, 3)
    assert (schema["records"], schema["min_values"], schema["max_values"]) == (3, 1, 1)
    assert run("dedup", "--by", "a", path, tmp_path / "out.tfrecord")[0] == 1  # record 1 has no value
    assert os.path.exists(tmp_path / "out.tfrecord") is False
