"""`tfrecord-fast schema`: features as code."""

import json

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.cli import app


def write(path, *records):
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(list(records))
    return str(path)


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def test_prints_code_that_parses(tmp_path, capfd):
    path = write(
        tmp_path / "a", example(a=("int64", [1]), v=("bytes", [])), example(a=("int64", [2]), v=("bytes", [b"x"]))
    )
    assert app.run(["schema", path]) == 0
    space = {"tf": tf}
    exec(capfd.readouterr().out, space)
    assert space["features"] == tf.infer_features(path)


def test_json_and_sequences(tmp_path, capfd):
    message = wire.sequence_example([(b"c", wire.feature("int64", [1]))], [(b"s", [wire.feature("float", [1.0, 2.0])])])
    assert app.run(["schema", "--json", write(tmp_path / "a", message)]) == 0
    assert json.loads(capfd.readouterr().out)["sequence_features"]["s"] == {
        "feature": "FixedLenSequenceFeature",
        "dtype": "float32",
        "shape": [2],
    }


@pytest.mark.parametrize("second", [example(a=("float", [1.0])), b"\x0a\x05ab"])
def test_conflict_or_malformed_record_is_status_one(tmp_path, capfd, second):
    path = write(tmp_path / "a", example(a=("int64", [1])), second)
    assert app.run(["schema", path]) == 1
    assert "record 1" in capfd.readouterr().err
