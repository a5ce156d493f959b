"""`tfrecord-fast schema`: features as code and in others' forms; what files disagree on."""

import functools
import json

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest


def write(path, *records):
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(list(records))
    return str(path)


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


@pytest.fixture
def run(capfd):
    return functools.partial(run_here, capfd, "schema")


@pytest.fixture
def some(tmp_path):
    first = example(a=("int64", [1]), v=("bytes", []), s=("bytes", [b"words"]), p=("float", [0.5, 2.0]))
    second = example(a=("int64", [2]), v=("bytes", [b"x", b"y"]), s=("bytes", [b"more"]))
    return write(tmp_path / "some", first, second)


SEQUENCE = wire.sequence_example([(b"c", wire.feature("int64", [1]))], [(b"s", [wire.feature("float", [1.0, 2.0])])])


def test_prints_code_that_parses(tmp_path, run):
    path = write(
        tmp_path / "a", example(a=("int64", [1]), v=("bytes", [])), example(a=("int64", [2]), v=("bytes", [b"x"]))
    )
    status, out, _ = run(path)
    space = {"tf": tf}
    exec(out, space)
    assert status == 0 and space["features"] == tf.infer_features(path)


def test_comments_say_presence_lengths_and_a_value(some, run):
    assert run(some)[1].splitlines() == [
        "features = {",
        "    'a': tf.io.FixedLenFeature([], tf.int64),   # e.g. 1",
        "    'p': tf.io.VarLenFeature(tf.float32),       # in 1 of 2, 2 values, e.g. [0.5, 2.0]",
        "    's': tf.io.FixedLenFeature([], tf.string),  # e.g. \"words\"",
        '    \'v\': tf.io.VarLenFeature(tf.string),        # 0–2 values, e.g. ["x", "y"]',
        "}",
    ]


def test_a_feature_without_values_is_told(tmp_path, run):
    out = run(write(tmp_path / "a", wire.example([(b"k", b""), (b"a", wire.feature("int64", [1]))])))[1]
    assert "    # 'k': no record has a value" in out


def test_json_and_sequences(tmp_path, run):
    made = json.loads(run("--json", write(tmp_path / "a", SEQUENCE))[1])
    assert made["kind"] == "SequenceExample" and made["records"] == 1
    assert made["sequence_features"]["s"] == {
        "feature": "FixedLenSequenceFeature",
        "dtype": "float32",
        "records": 1,
        "shape": [2],
        "min_values": 2,
        "max_values": 2,
        "example": [1.0, 2.0],
    }


def test_json_says_presence_and_lengths(some, run):
    made = json.loads(run("--format", "json", some)[1])
    assert made["features"]["p"]["records"] == 1 and made["features"]["v"]["feature"] == "VarLenFeature"
    assert (made["features"]["v"]["min_values"], made["features"]["v"]["max_values"]) == (0, 2)
    assert made["features"]["v"]["example"] == ["x", "y"] and made["files"] == [some]


@pytest.mark.parametrize("second", [example(a=("float", [1.0])), b"\x0a\x05ab"])
def test_conflict_or_malformed_record_is_status_one(tmp_path, run, second):
    path = write(tmp_path / "a", example(a=("int64", [1])), second)
    status, _, err = run(path)
    assert status == 1 and "record 1" in err


def test_a_conflict_across_files_names_both(tmp_path, run):
    one = write(tmp_path / "1", example(a=("int64", [1]), b=("int64", [1])))
    two = write(tmp_path / "2", example(a=("float", [1.0]), b=("int64", [1])))
    status, out, err = run(one, two)
    assert status == 1 and f"feature 'a' is float in {two}, but int64 in {one}" in err and "'b': tf.io.Fixed" in out


def test_files_together_count_together(tmp_path, run):
    one = write(tmp_path / "1", example(a=("int64", [1]), b=("int64", [1, 2])))
    two = write(tmp_path / "2", example(a=("int64", [1])), example(a=("int64", [3]), b=("int64", [1, 2, 3])))
    status, out, err = run(one, two)
    assert (status, err) == (0, "") and "in 2 of 3, 2–3 values" in out


def test_kinds_of_files_are_not_merged(tmp_path, run):
    one, two = write(tmp_path / "1", example(a=("int64", [1]))), write(tmp_path / "2", SEQUENCE)
    three, four = write(tmp_path / "3", example(z=("int64", [1]))), write(tmp_path / "4", example(a=("int64", [1])))
    status, out, err = run(one, two, three, four)
    assert status == 0 and "the files hold 3 groups of unrelated records" in err
    assert f"# 1 file of SequenceExamples: {two}" in out and f"# 1 file of Examples: {three}" in out
    assert f"# 2 files of Examples: {one}, …" in out and out.count("'a'") == 1


def test_a_limit_counts_over_all_files(tmp_path, run):
    paths = [write(tmp_path / str(i), *[example(a=("int64", [1]))] * 5) for i in range(3)]
    assert json.loads(run("--json", "-n", 7, *paths)[1])["records"] == 7


@pytest.mark.parametrize("limit", ["-1", "x", "1.5"])
def test_a_limit_that_is_no_number_of_records_is_usage(some, run, limit):
    assert run(some, "-n", limit)[0] == 2


def test_arrow_is_the_schema_of_read_table(some, run):
    pytest.importorskip("pyarrow")
    assert run("--format", "arrow", some)[1] == tf.read_table(some).schema.to_string() + "\n"


def test_tfmd_is_read_by_its_own_parser(some, run):
    text_format = pytest.importorskip("google.protobuf.text_format")
    schema = pytest.importorskip("tensorflow_metadata.proto.v0.schema_pb2")
    made = text_format.Parse(run("--format", "tfmd", some)[1], schema.Schema())
    a, p, s, v = made.feature
    assert (a.name, a.type, a.presence.min_fraction, list(a.shape.dim)) == ("a", schema.INT, 1.0, [])
    assert (p.type, p.presence.min_fraction, p.value_count.min, p.value_count.max) == (schema.FLOAT, 0.0, 2, 2)
    assert s.type == schema.BYTES and (v.value_count.min, v.value_count.max) == (0, 2)


def test_tfds_code_reads_the_records(some, run, tmp_path):
    out = run("--format", "tfds", some)[1]
    assert "'s': tfds.features.Text()" in out
    assert "'v': tfds.features.Sequence(tfds.features.Tensor(shape=(), dtype=np.object_))" in out


@pytest.mark.parametrize("form", ["tfds", "tfmd"])
def test_what_a_format_does_not_know_is_usage(tmp_path, run, form):
    status, out, err = run("--format", form, write(tmp_path / "a", SEQUENCE))
    assert (status, out) == (2, "") and "SequenceExamples" in err


@pytest.mark.parametrize("key", [b"a\xff", b"\xed\xa0\x80"])
@pytest.mark.parametrize("form", ["arrow", "tfds", "tfmd"])
def test_a_name_that_is_not_utf8_is_a_line_that_says_it(tmp_path, run, form, key):
    path = write(tmp_path / "a", wire.example([(key, wire.feature("int64", [1]))]))
    status, out, err = run("--format", form, path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    shown = key.decode("utf-8", "backslashreplace")
    assert err.startswith(f"tfrecord-fast: {path}: feature '{shown}': the name is not UTF-8")


@pytest.mark.parametrize(
    ("names", "lists", "why"), [([b"a\0b"], [], "Arrow cuts names at a NUL"), ([b"a"], [b"a"], "same column name, 'a'")]
)
def test_names_that_arrow_can_not_hold_are_a_line_that_says_it(tmp_path, run, names, lists, why):
    feature = wire.feature("int64", [1])
    record = wire.sequence_example([(name, feature) for name in names], [(name, [feature]) for name in lists])
    status, out, err = run("--format", "arrow", write(tmp_path / "a", record))
    assert (status, out, err.count("\n")) == (2, "", 1) and why in err


def test_a_name_with_a_newline_is_one_line_of_an_arrow_schema(tmp_path, run):
    path = write(tmp_path / "a", example(**{"a\nb": ("int64", [1]), "\x1b[1m": ("int64", [1])}))
    assert run("--format", "arrow", path)[1] == "\\x1b[1m: int64\na\\nb: int64\n"


def test_names_that_are_not_utf8_stay_in_code_and_json(tmp_path, run):
    path = write(tmp_path / "a", wire.example([(b"a\xff", wire.feature("int64", [1])), (b"\0", b"")]))
    space = {"tf": tf}
    exec(run(path)[1], space)
    assert space["features"] == tf.infer_features(path)
    assert list(json.loads(run("--json", path)[1])["features"]) == ["\0", "a\udcff"]


def test_a_schema_that_can_not_be_expressed_does_not_hide_the_next(tmp_path, run):
    paths = [write(tmp_path / "1", SEQUENCE), write(tmp_path / "2", example(z=("int64", [1])))]
    status, out, _ = run("--format", "tfmd", *paths)
    assert status == 2 and 'name: "z"' in out


@pytest.mark.parametrize("row", [row for row in manifest() if "Example" in row["kind"]], ids=lambda row: row["file"])
def test_real_files_have_code_that_parses(row, run):
    status, out, err = run(REAL_FILES / row["file"])
    space = {"tf": tf}
    exec(out, space)
    assert (status, err) == (0, "")
    made = json.loads(run("--json", REAL_FILES / row["file"])[1])
    assert made["records"] == int(row["records"]) and made["kind"] == row["kind"]
    if row["kind"] == "Example":
        assert space["features"] == tf.infer_features(REAL_FILES / row["file"], max_records=None)
        assert len(made["features"]) >= int(row["n_features"] or 0)
