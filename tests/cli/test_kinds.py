"""What a file holds, or what it is instead of a TFRecord file: the same name from every command and reader."""

import functools
import struct
import subprocess

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import COMMAND, run_here
from tests.support.other_files import OTHER_FILES
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tfrecord_fast.files.naming.foreign_formats import foreign_format

EXAMPLE = wire.example([(b"a", wire.feature("int64", [1])), (b"b", wire.feature("bytes", [b"x"]))])

RECORDS = {
    "Example": EXAMPLE,
    "SequenceExample": wire.sequence_example([], [(b"s", [wire.feature("int64", [1])])]),
    "ELWC": wire.field(1, EXAMPLE) + wire.field(2, EXAMPLE),
    "nested Examples": wire.varint(3 << 3) + b"\x01" + wire.field(4, EXAMPLE),
    "TensorBoard event": b"\x09" + struct.pack("<d", 1.5) + wire.field(3, b"brain.Event:2"),
    "TensorProto": b"\x08\x01" + wire.field(2, b"") + wire.field(4, b"\0\0\0\0"),
    "text": b"words",
    "JSON": b'{"a": 1}',
    "PNG image": b"\x89PNG\r\n\x1a\n",
    "JPEG image": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "protobuf": b"\x20\x01",
    "opaque bytes": b"\xff\xfe\xfd",
    "empty": b"",
}


@pytest.fixture
def run(capsys):
    return functools.partial(run_here, capsys)


def write(path, *records, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(list(records))
    return path


@pytest.mark.parametrize("kind", RECORDS)
def test_info_and_verify_say_what_the_records_are(tmp_path, run, kind):
    path = write(tmp_path / "a", RECORDS[kind], b"", RECORDS[kind])
    assert run("verify", path) == (0, f"{path}: ok, 3 records ({kind})\n", "")
    assert f" {kind}\n" in run("info", path)[1]


def test_kinds_are_told_by_number(tmp_path, run):
    path = write(tmp_path / "a", RECORDS["text"], EXAMPLE, EXAMPLE)
    assert run("verify", path)[1] == f"{path}: ok, 3 records (Example, text)\n"


def test_a_record_far_behind_is_seen(tmp_path, run):
    path = write(tmp_path / "a", *[EXAMPLE] * 50_000, *[b"words"] * 50_000)
    assert run("verify", path)[1] == f"{path}: ok, 100,000 records (Example, text)\n"


def test_an_empty_file_is_told(tmp_path, run):
    (tmp_path / "a").touch()
    assert run("verify", tmp_path / "a") == (0, f"{tmp_path}/a: ok, 0 records (empty file)\n", "")
    path = write(tmp_path / "b", compression="GZIP")
    assert run("verify", path)[1] == f"{path}: ok, 0 records (no records)\n"


@pytest.fixture(params=OTHER_FILES)
def other(request, tmp_path):
    """(a file that is no TFRecord file, what it is)"""
    content, said = OTHER_FILES[request.param]
    (tmp_path / "it.tfrecord").write_bytes(content)
    return tmp_path / "it.tfrecord", said


def test_every_command_says_what_it_is_instead(other, tmp_path, run):
    path, said = other
    for command in ["info", "verify", "cat", "schema", "view", "convert out.tfrecord", "convert out.jsonl"]:
        name, *output = command.split()
        status, out, err = run(name, path, *(tmp_path / one for one in output))
        assert status == 2 and f"{path}: not a TFRecord file (looks like " in err and said in err
        assert "DAMAGED" not in out and len(list(tmp_path.iterdir())) == 1


USES = {
    "infer_features": tf.infer_features,
    "infer_sequence_features": tf.io.infer_sequence_features,
    "ShardReader": lambda path: list(tf.ShardReader(path, features="infer")),
    "IndexedReader": lambda path: tf.IndexedReader(path, features="infer")[0],
    "read_table": tf.read_table,
    "read_table, all": lambda path: tf.read_table(path, infer_records=None),
}


def test_every_reader_that_infers_says_what_it_is_instead(other):
    path, said = other
    for use in USES:
        if use == "IndexedReader" and path.read_bytes()[:2] == b"\x1f\x8b":
            continue  # compressed files have no index
        with pytest.raises(tf.errors.DataLossError) as caught:
            USES[use](path)
        assert said in str(caught.value) and str(path) in str(caught.value)


def test_standard_input_is_told_too():
    for name in ("lfs", "text.gz", "parquet"):
        content, said = OTHER_FILES[name]
        done = subprocess.run([*COMMAND, "verify", "-"], input=content, capture_output=True)
        assert done.returncode == 2 and said in done.stderr.decode()


def test_objects_are_told_too(run):
    pytest.importorskip("fsspec")
    content, said = OTHER_FILES["lfs"]
    with tf.io.gfile.GFile("memory://kinds/a", "wb") as file:
        file.write(content)
    status, _, err = run("verify", "memory://kinds/a")
    assert status == 2 and said in err


def test_damage_stays_damage(tmp_path, run):
    path = write(tmp_path / "a", EXAMPLE)
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    status, out, _ = run("verify", path)
    assert status == 1 and "DAMAGED after 0 records" in out


def test_array_record_as_its_own_writer_writes_it(tmp_path):
    module = pytest.importorskip("array_record.python.array_record_module")
    writer = module.ArrayRecordWriter(str(tmp_path / "a"), "group_size:1")
    writer.write(b"x")
    writer.close()
    data = (tmp_path / "a").read_bytes()
    assert foreign_format(data, len(data)) == "an ArrayRecord file"


def test_parquet_and_arrow_as_pyarrow_writes_them(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"a": [1]})
    parquet.write_table(table, tmp_path / "a")
    assert foreign_format((tmp_path / "a").read_bytes()) == "a Parquet file"
    for make, name in ((pa.ipc.new_file, "file"), (pa.ipc.new_stream, "stream")):
        with make(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
        assert foreign_format((tmp_path / name).read_bytes()) in ("an Arrow IPC file", "an Arrow IPC stream")


KINDS = {"Example": "Example", "SequenceExample": "SequenceExample", "Event": "TensorBoard event", "ELWC": "ELWC"}


@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["file"])
def test_real_files_have_their_names(row, run):
    path = REAL_FILES / row["file"]
    status, out, _ = run("verify", path)
    said = KINDS.get(row["kind"], {"other": ("text", "protobuf"), "empty": ("no records",)}.get(row["kind"]))
    if said is None:
        assert status == 1 and "DAMAGED" in out
    else:
        said = (said,) if isinstance(said, str) else said
        assert status == 0 and out in [f"{path}: ok, {n} ({kind})\n" for kind in said for n in [number(row)]]


def number(row):
    count = int(row["records"])
    return f"{count:,} record" + ("" if count == 1 else "s")
