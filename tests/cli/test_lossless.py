"""Examples and SequenceExamples of any content go through other formats and come back as the same messages."""

import json
import sys
import tempfile

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tfrecord_fast.cli import main
from tfrecord_fast.examples.messages.wire import example_of, has_lists, sequence_of, to_example, to_sequence

pytest.importorskip("google.protobuf")

VALUES = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False) | st.just(float("nan")),  # which NaN it is, is not kept
    "bytes": st.binary(max_size=5) | st.sampled_from([b"5", b"", b"null", "ü".encode()]),
}
# Names that the formats use themselves come first.
NAMES = st.sampled_from(["context", "feature_lists", "empty", "f", "base64", "a", "", "ü b"]) | st.text(max_size=3)


@st.composite
def files(draw, lists=True, kinds=tuple(VALUES)):
    """Records of a file: each name has one kind in all of them, but may be absent, unset or empty in any. What comes
    before under the same name, of whatever kind, does not count."""
    names = NAMES.filter(lambda name: not any("\ud800" <= c <= "\udfff" for c in name))
    features = draw(st.dictionaries(names, st.sampled_from(kinds), max_size=4))
    steps = draw(st.dictionaries(names, st.sampled_from(kinds), max_size=2)) if lists else {}

    def value(kind):
        if draw(st.integers(0, 5)) == 0:
            return b""
        return wire.feature(kind, draw(st.lists(VALUES[kind], max_size=draw(st.sampled_from([0, 1, 3])))))

    def chosen(table):
        return [(name, kind) for name, kind in table.items() if draw(st.booleans())]

    def preceded(entries, before):
        """The same with one more entry, of one of their names, before all."""
        return [(draw(st.sampled_from(entries))[0], before()), *entries] if entries and draw(st.booleans()) else entries

    def any_value():
        return value(draw(st.sampled_from(sorted(VALUES))))

    records = []
    for _ in range(draw(st.integers(1, 4))):
        some = [(name.encode(), value(kind)) for name, kind in chosen(features)]
        if lists and draw(st.booleans()):
            runs = [(n.encode(), [value(k) for _ in range(draw(st.integers(0, 3)))]) for n, k in chosen(steps)]
            runs = preceded(runs, lambda: [any_value()])
            records.append(wire.sequence_example(preceded(some, any_value), runs))
        else:
            records.append(wire.example(preceded(some, any_value)))
    return records


def message(record):
    """What it says, by protobuf; that no features are set equals features of which there are none."""
    made = tf.train.SequenceExample.FromString(record)
    made.context.SetInParent()
    return made.SerializeToString(deterministic=True)


def set_features(record):
    """The message without its features of no kind, which tables do not tell from absent ones."""
    return message(to_example({key: value for key, value in example_of(record).items() if value.kind != "none"}))


def through(records, name, *options):
    """The records after they went through a file of this name."""
    with tempfile.TemporaryDirectory() as folder:
        with tf.io.TFRecordWriter(f"{folder}/in") as writer:
            writer.write_batch(records)
        assert main(["convert", f"{folder}/in", f"{folder}/{name}", *options]) == 0
        assert main(["convert", f"{folder}/{name}", f"{folder}/back.tfrecord"]) == 0
        return list(tf.data.TFRecordDataset(f"{folder}/back.tfrecord"))


@given(files())
def test_records_read_and_written_in_python_are_the_same(records):
    for record in records:
        made = to_sequence(*sequence_of(record)) if has_lists(record) else to_example(example_of(record))
        assert message(made) == message(record) and has_lists(made) == has_lists(record)


@given(files())
@settings(deadline=None)
def test_json_lines_are_lossless(records):
    back = through(records, "a.jsonl")
    assert [message(one) for one in back] == [message(one) for one in records]
    assert [has_lists(one) for one in back] == [has_lists(one) for one in records]


@given(files())
@settings(deadline=None, max_examples=30)
def test_json_lines_are_lossless_without_orjson(records):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "orjson", None)
        back = through(records, "a.jsonl.gz")
    assert [message(one) for one in back] == [message(one) for one in records]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@given(files(lists=False))
@settings(deadline=None)
def test_columns_are_lossless(name, records):
    pytest.importorskip("pyarrow")
    assume(any(value.kind != "none" for record in records for value in example_of(record).values()))  # a column
    assert [message(one) for one in through(records, name)] == [set_features(one) for one in records]


STATES = {"absent": None, "unset": b"", "empty": wire.feature("int64", []), "value": wire.feature("int64", [5])}


def test_absent_and_empty_features_are_told_apart():
    pytest.importorskip("pyarrow.orc")
    for name in ["a.parquet", "a.arrow", "a.orc"]:
        for several in [False, True]:
            for chosen in range(1, 16):
                some = [value for number, value in enumerate(STATES.values()) if chosen >> number & 1] * 2
                records = [
                    wire.example([(b"id", wire.feature("int64", [7]))] + ([] if s is None else [(b"a", s)]))
                    for s in some
                ]
                if several:
                    records.append(wire.example([(b"a", wire.feature("int64", [1, 2]))]))
                assert [message(one) for one in through(records, name)] == [set_features(one) for one in records]


WHOLE = [row for row in manifest() if "Example" in row["kind"] and int(row["records"]) <= 5000]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.arrow"])
@pytest.mark.parametrize("row", WHOLE, ids=lambda row: row["file"])
def test_real_files_come_back(row, name):
    pytest.importorskip("pyarrow")
    if row["kind"] == "SequenceExample" and name != "a.jsonl":
        pytest.skip("they are refused")
    records = list(tf.data.TFRecordDataset(str(REAL_FILES / row["file"])))[:500]
    expected = message if name == "a.jsonl" else set_features
    assert [message(one) for one in through(records, name)] == [expected(one) for one in records]


def lines_of(tmp_path, records, *options):
    with tf.io.TFRecordWriter(tmp_path / "in") as writer:
        writer.write_batch(records)
    assert main(["convert", str(tmp_path / "in"), str(tmp_path / "a.jsonl"), *options]) == 0
    return [json.loads(line) for line in (tmp_path / "a.jsonl").open()]


def test_a_sequence_example_as_people_read_it(tmp_path):
    record = wire.sequence_example(
        [(b"id", wire.feature("int64", [7]))],
        [(b"s", [wire.feature("float", [1.0, 2.0]), b"", wire.feature("float", [])])],
    )
    [line] = lines_of(tmp_path, [record])
    assert line == {"context": {"id": 7}, "feature_lists": {"s": [[1.0, 2.0], {"empty": "none"}, {"empty": "float"}]}}


@pytest.mark.parametrize(("form", "expected"), [("null", None), ("string", "NaN"), ("mark", {"f": "NaN"})])
def test_nan_may_be_null_or_text(tmp_path, form, expected):
    records = [wire.example([(b"x", wire.feature("float", [float("nan")])), (b"y", wire.feature("float", [1, 2]))])]
    records.append(wire.example([(b"y", wire.feature("float", [float("nan"), 0.5]))]))
    first, second = lines_of(tmp_path, records, "--nan", form)
    assert first == {"x": expected, "y": [1.0, 2.0]} and second == {"y": [expected, 0.5]}


def test_nan_is_for_json(tmp_path, capsys):
    (tmp_path / "in").touch()
    assert main(["convert", str(tmp_path / "in"), str(tmp_path / "a.csv"), "--nan", "null"]) == 2
    assert "--nan requires a JSON lines output" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"feature_lists": {"a": [[1]]}, "b": 1}', "expected only 'feature_lists' and 'context'"),
        ('{"context": 5, "feature_lists": {}}', "'context', an object of features"),
        ('{"feature_lists": {"a": [[1], ["x"]]}}', "feature list 'a': conflicting kinds"),
        ('{"a": {"empty": "int64"}}\n{"a": "x"}', "no integers here, text elsewhere"),
        ('{"a": {"empty": "other"}}', "an Example cannot hold"),
    ],
)
def test_json_that_is_no_record_is_told(tmp_path, capsys, text, words):
    (tmp_path / "in.jsonl").write_text(text)
    assert main(["convert", str(tmp_path / "in.jsonl"), str(tmp_path / "a.tfrecord")]) == 1
    assert words in capsys.readouterr().err


def test_people_write_lists_of_lists(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"feature_lists": {"a": [[1], [2.5, 3], []]}, "context": {"n": null}}\n')
    assert main(["convert", str(tmp_path / "in.jsonl"), str(tmp_path / "a.tfrecord")]) == 0
    [record] = tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord"))
    assert sequence_of(record)[1]["a"] == [("float", [1.0]), ("float", [2.5, 3.0]), ("float", [])]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a":1,"a":2}', "twice"),
        ('{"a" : 1 , "a":2}', "twice"),
        ('{"a":"x:y","a":2}', "twice"),
        ('{"a":":","b":{"f":"NaN","f":"NaN"}}', "twice"),
        ('{"a":18446744073709551616}', "not an int64"),
        ('{"a":-9223372036854775809}', "not an int64"),
        ('{"a":[1,9223372036854775808]}', "not an int64"),
        ('{"a":[18446744073709551617,1.5]}', "would be rounded"),
        ('{"a":1e400}', "exceeds float32"),
        ('{"a":"\\ud800"}', "UTF-8"),
        ('{"a":16777217,"b":1}\n{"a":0.5}', "would be rounded"),
        ('{"a":1}\n{"a":16777217}\n{"a":0.5}', "would be rounded"),
    ],
)
def test_what_json_would_lose_is_an_error_whichever_library_reads_it(tmp_path, capsys, monkeypatch, line, said):
    (tmp_path / "a.jsonl").write_text(line + "\n")
    for _ in ("orjson", "json"):
        assert main(["convert", str(tmp_path / "a.jsonl"), str(tmp_path / "a.tfrecord")]) == 1
        assert said in capsys.readouterr().err
        monkeypatch.setitem(sys.modules, "orjson", None)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b:", 'c"']),
            st.integers(-(2**63), 2**63 - 1) | st.just(None),
            max_size=3,
        )
        | st.dictionaries(st.sampled_from(["f", "g"]), st.floats(width=32, allow_nan=False, allow_infinity=False))
        | st.dictionaries(
            st.sampled_from(["s", "t"]), st.text(st.characters(codec="utf-8"), max_size=8) | st.just(":")
        ),
        max_size=5,
    )
)
@settings(max_examples=100, deadline=None)
def test_orjson_and_json_read_the_same(rows):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        with open(f"{folder}/a.jsonl", "w") as file:
            file.writelines(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n" for i, row in enumerate(rows))
        made = []
        for module in ("orjson", "json"):
            assert main(["convert", f"{folder}/a.jsonl", f"{folder}/{module}.tfrecord"]) == 0
            made.append([*tf.data.TFRecordDataset(f"{folder}/{module}.tfrecord").as_numpy_iterator()])
            patch.setitem(sys.modules, "orjson", None)
        assert made[0] == made[1] and len(made[0]) == len(rows)


@pytest.mark.parametrize("texts", [['a",', "b"], ["a,", ",b", ","], ["\\", '"', ""], ['","'], [b"\xff", "x"], [""]])
def test_texts_with_the_signs_of_json_keep_their_borders(tmp_path, texts):
    values = [one if isinstance(one, bytes) else one.encode() for one in texts]
    records = [wire.example([(b"s", wire.feature("bytes", values))]), wire.example([])]
    records += [wire.example([(b"t", wire.feature("bytes", [one]))]) for one in values]
    with tf.io.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch(records)
    for source, target in (("a.tfrecord", "a.jsonl"), ("a.jsonl", "b.tfrecord")):
        assert main(["convert", str(tmp_path / source), str(tmp_path / target)]) == 0
    back = [*tf.data.TFRecordDataset(str(tmp_path / "b.tfrecord")).as_numpy_iterator()]
    assert [*map(message, back)] == [*map(message, records)]
