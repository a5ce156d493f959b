"""vahidk's functions on messages, its command, its workers, and what is wrong with descriptions, next to theirs."""

import os
import sys

import numpy as np
import pytest

import tfrecord_fast.integrations.vahidk as ours
from tests.support.frames import frames
from tests.support.their_tfrecord import tfrecord as theirs
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.vahidk import reader
from tfrecord_fast.integrations.vahidk.tools import tfrecord2idx

TYPES = {"byte": "bytes_list", "float": "float_list", "int": "int64_list"}
MESSAGES = theirs.example_pb2


def feature(**values):
    (name, given), *_ = values.items()
    made = MESSAGES.Feature()
    getattr(made, name).value.extend(given)
    return made


def features(**given):
    return MESSAGES.Features(feature=given)


SOME = features(
    i=feature(int64_list=[1, 2, 3]),
    f=feature(float_list=[0.5]),
    b=feature(bytes_list=[b"xy"]),
    n=feature(int64_list=[7]),
)
STEPS = MESSAGES.FeatureLists(
    feature_list={
        "t": MESSAGES.FeatureList(feature=[feature(int64_list=[1, 2]), feature(int64_list=[3, 4])]),
        "w": MESSAGES.FeatureList(feature=[feature(bytes_list=[b"a"])]),
    }
)


@pytest.mark.parametrize(
    "description",
    [None, [], {}, ["f", "i"], {"i": "int"}, {"b": "byte", "f": "float", "i": "int"}, {"n": None}],
)
def test_features_are_extracted_alike(description):
    mine = reader.extract_feature_dict(SOME, description, TYPES)
    other = theirs.reader.extract_feature_dict(SOME, description, TYPES)
    assert sorted(mine) == sorted(other)
    for key, value in mine.items():
        np.testing.assert_array_equal(value, other[key])
    assert mine["i"].dtype == np.int64 if "i" in mine else True
    if isinstance(description, dict | list | tuple) and description:
        assert list(mine) == list(description)


@pytest.mark.parametrize("description", [None, ["t"], {"w": "byte", "t": "int"}])
def test_feature_lists_are_extracted_alike(description):
    mine = reader.extract_feature_dict(STEPS, description, TYPES)
    other = theirs.reader.extract_feature_dict(STEPS, description, TYPES)
    assert sorted(mine) == sorted(other)
    for key, steps in mine.items():
        assert type(steps) is list and len(steps) == len(other[key])
        for pair in zip(steps, other[key], strict=True):
            np.testing.assert_array_equal(*pair)


@pytest.mark.parametrize("message", [SOME, STEPS])
def test_a_key_that_is_missing_is_an_error_alike(message):
    for package in (ours, theirs):
        with pytest.raises(KeyError, match=r"Key x doesn't exist \(select from \["):
            package.reader.extract_feature_dict(message, ["x"], TYPES)


@pytest.mark.parametrize(
    ("key", "name", "said"),
    [
        ("i", "byte", "incompatible type 'byte' for 'i' (should be 'int')"),
        ("b", "float", "incompatible type 'float' for 'b' (should be 'byte')"),
        ("f", "int", "incompatible type 'int' for 'f' (should be 'float')"),
    ],
)
def test_another_type_is_an_error_alike(key, name, said):
    for package in (ours, theirs):
        with pytest.raises(TypeError, match=r"[Ii]ncompatible type") as caught:
            package.reader.extract_feature_dict(SOME, {key: name}, TYPES)
        if package is ours:
            assert str(caught.value) == said
    with pytest.raises(TypeError) as caught:
        reader.process_feature(SOME.feature[key], name, {name: TYPES[name]}, key)
    assert str(caught.value).endswith(
        f"(should be {TYPES['int' if key == 'i' else 'byte' if key == 'b' else 'float']!r})"
    )


def test_what_has_no_values_has_no_type():
    with pytest.raises(InvalidArgumentError, match=r"^feature 'x' has no list of values, so that its type is unknown$"):
        reader.process_feature(MESSAGES.Feature(), None, TYPES, "x")


def test_what_is_no_message_is_refused():
    with pytest.raises(TypeError, match=r"^expected a Features or a FeatureLists message, got dict$"):
        reader.extract_feature_dict({}, None, TYPES)


# ---- Descriptions ----


def write(path, *records):
    writer = ours.TFRecordWriter(str(path))
    for record in records:
        writer.write(*record)
    writer.close()
    return str(path)


def test_a_description_is_no_string(tmp_path):
    path = write(tmp_path / "a", ({"x": (1, "int")},))
    with pytest.raises(TypeError, match="a description must be a dict or a list of keys, got the string 'x'"):
        list(ours.tfrecord_loader(path, None, "x"))
    with pytest.raises(KeyError, match="unknown type 'text' for 'x': expected one of 'byte', 'float', 'int'"):
        list(ours.tfrecord_loader(path, None, {"x": "text"}))


def test_one_damaged_record_is_named_and_the_others_come(tmp_path):
    good = [f"{i}" for i in range(5)]
    path = write(tmp_path / "a", *(({"x": (name.encode(), "byte")},) for name in good))
    records = [bytes(one) for one in ours.tfrecord_iterator(path)]
    (tmp_path / "b").write_bytes(frames([*records[:3], b"\xff no example", *records[3:]]))
    found = []
    with pytest.raises(InvalidArgumentError, match=r"/b: could not parse .*\(record 3\)$"):
        found.extend(row["x"] for row in ours.tfrecord_loader(str(tmp_path / "b"), None))
    rows = ours.tfrecord_loader(str(tmp_path / "b"), None, ["x"])
    assert [bytes(next(rows)["x"]) for _ in range(3)] == [b"0", b"1", b"2"]


EMPTY_FEATURE = b"\x0a\x07\x0a\x05\x0a\x01x\x12\x00"  # an Example whose feature "x" has no list
EMPTY_STEP = b"\x12\x09\x0a\x07\x0a\x01t\x12\x02\x0a\x00"  # a SequenceExample whose list "t" has one such step


def test_a_feature_without_a_list_is_an_error_that_names_it(tmp_path):
    path = write(tmp_path / "a", ({"x": (1, "int")},))
    (record,) = [bytes(one) for one in ours.tfrecord_iterator(path)]
    (tmp_path / "b").write_bytes(frames([record, record, EMPTY_FEATURE]))
    rows = ours.tfrecord_loader(str(tmp_path / "b"), None)
    assert [next(rows)["x"].tolist() for _ in range(2)] == [[1], [1]]
    with pytest.raises(InvalidArgumentError, match=r"/b: feature 'x' has no list of values.*\(record 2\)$"):
        next(rows)


def test_a_step_without_a_list_is_an_error_that_names_it(tmp_path):
    path = write(tmp_path / "a", ({"x": (1, "int")}, {"t": ([[1], [2]], "int")}))
    (record,) = [bytes(one) for one in ours.tfrecord_iterator(path)]
    (tmp_path / "b").write_bytes(frames([record, EMPTY_STEP]))
    rows = ours.tfrecord_loader(str(tmp_path / "b"), None, None, sequence_description={})
    assert [step.tolist() for step in next(rows)[1]["t"]] == [[1], [2]]
    with pytest.raises(InvalidArgumentError, match=r"/b: feature list 't' has steps without values.*\(record 1\)$"):
        next(rows)


@pytest.mark.parametrize("steps", ["text", b"text", {"a": 1}])
def test_feature_lists_are_lists(tmp_path, steps):
    with ours.TFRecordWriter(str(tmp_path / "a")) as writer:
        with pytest.raises(TypeError, match=f"feature list 't': expected a list of steps, got {type(steps).__name__}"):
            writer.write({}, {"t": (steps, "byte")})
        with pytest.raises(TypeError, match=r"feature list 't': .*expected bytes, got str"):
            writer.write({}, {"t": ([[b"a"], ["b"]], "byte")})


# ---- The command ----


def test_the_command_makes_indexes_as_theirs_does(tmp_path, monkeypatch):
    for i in range(3):
        write(tmp_path / f"{i}.tfrecord", *(({"x": (j, "int")},) for j in range(i + 1)))
    (tmp_path / "other.txt").write_text("no records")
    assert tfrecord2idx.main([str(tmp_path / "1.tfrecord"), str(tmp_path / "one")]) == 0
    assert tfrecord2idx.main([str(tmp_path)]) == 0
    for i in range(3):
        theirs.tools.tfrecord2idx.create_index(str(tmp_path / f"{i}.tfrecord"), str(tmp_path / "theirs"))
        assert (tmp_path / f"{i}.tfindex").read_text() == (tmp_path / "theirs").read_text()
    assert (tmp_path / "one").read_text() == (tmp_path / "1.tfindex").read_text()
    monkeypatch.setattr(sys, "argv", ["tfrecord2idx", str(tmp_path / "2.tfrecord"), str(tmp_path / "two")])
    assert tfrecord2idx.main() == 0 and (tmp_path / "two").read_text() == (tmp_path / "2.tfindex").read_text()
    assert sorted(name for name in os.listdir(tmp_path) if "tfindex" in name) == [f"{i}.tfindex" for i in range(3)]


def test_the_command_says_how_it_is_used(tmp_path, capsys):
    write(tmp_path / "a.tfrecord", ({"x": (1, "int")},))
    for arguments in ([], ["a", "b", "c"], [str(tmp_path / "a.tfrecord")]):
        assert tfrecord2idx.main(arguments) == 2
        assert capsys.readouterr().err == tfrecord2idx._USAGE


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    assert tfrecord2idx.main([str(tmp_path / "none"), str(tmp_path / "idx")]) == 1
    assert capsys.readouterr().err.startswith("tfrecord2idx: ") and not os.listdir(tmp_path)
    (tmp_path / "a.tfrecord").write_bytes(frames([b"x"])[:-1])
    assert tfrecord2idx.main([str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("tfrecord2idx: ") and str(tmp_path / "a.tfrecord") in said and said.endswith("\n")


# ---- Workers ----
