"""Beam reads features of each kind, and says which file is wrong and which argument."""

import pytest

pytest.importorskip("apache_beam")

import apache_beam as beam
from apache_beam.coders import StrUtf8Coder

import tfrecord_fast as tf
from tests.integrations.engine_cases import KINDS, PARTS, SEQUENCES, WRONG, write_kinds, write_sequences
from tests.support.engine_rows import FEATURES, plain_rows, rows_of
from tests.support.pipelines import collected
from tfrecord_fast.integrations.beam import ReadAllFromTFRecord, ReadFromTFRecord

NOT_IN_ROWS = ("sparse", "names", "inferred")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return write_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    return write_sequences(tmp_path_factory.mktemp("sequences"))


def read(*arguments, **options):
    return collected(ReadFromTFRecord(*arguments, **options))[0]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_feature(kinds, kind):
    expected = rows_of(tf.read_table(f"{kinds}/*", KINDS[kind]))
    assert plain_rows(read(kinds, KINDS[kind])) == expected
    batches = read(kinds, KINDS[kind], batch=64)
    assert sorted(row for batch in batches for row in rows_of(batch)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_feature_in_rows_of_beam(kinds, kind):
    if kind in NOT_IN_ROWS:
        with pytest.raises(tf.errors.InvalidArgumentError, match="support a column"):
            ReadFromTFRecord(kinds, KINDS[kind], as_rows=True)
        return
    rows = read(kinds, KINDS[kind], as_rows=True)
    assert plain_rows([row.as_dict() for row in rows]) == rows_of(tf.read_table(f"{kinds}/*", KINDS[kind]))


@pytest.mark.parametrize("parts", PARTS)
def test_any_number_of_bundles(kinds, parts):
    source = ReadFromTFRecord(kinds, "infer", batch=64)._source
    bundles = list(source.split(-(-source.estimate_size() // parts) + 1000 * (parts < 4)))
    assert abs(len(bundles) - parts) <= 3
    batches = [batch for one in bundles for batch in one.source.read(one.source.get_range_tracker(None, None))]
    assert sorted(row for batch in batches for row in rows_of(batch)) == rows_of(tf.read_table(f"{kinds}/*"))


@pytest.mark.parametrize("features", ["infer", SEQUENCES], ids=["inferred", "given"])
def test_sequence_examples(sequences, features):
    assert plain_rows(read(sequences, features)) == rows_of(tf.read_table(f"{sequences}/*", features))


@pytest.mark.parametrize("make", WRONG)
@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
def test_a_wrong_file_is_named(tmp_path, make, given):
    for name in ("a", "c"):
        with tf.ExampleWriter(tmp_path / name) as writer:
            writer.write({"a": [1] * 50})
    make(tmp_path / "bad")
    features = {"a": tf.io.FixedLenFeature([], tf.int64)} if given else "infer"
    if make.__name__ in ("_absent", "_shape") and not given:  # then it is right
        assert len(read(tmp_path, features)) == 150
        return
    with pytest.raises(Exception, match=str(tmp_path / "bad")):
        read(tmp_path, features)
    if given:
        with pytest.raises(Exception, match=str(tmp_path / "bad")):
            collected(beam.Create([str(tmp_path)]), ReadAllFromTFRecord(features))


@pytest.mark.parametrize("make", [one for one in WRONG if one.id in ("kind", "absent", "shape", "text", "no_example")])
def test_a_first_file_that_is_wrong_is_named_where_the_pipeline_is_made(tmp_path, make):
    make(tmp_path / "bad")
    with pytest.raises(tf.errors.OpError, match=str(tmp_path / "bad")):
        ReadFromTFRecord(tmp_path, {"a": tf.io.FixedLenFeature([], tf.int64)})
    ReadFromTFRecord(tmp_path, {"a": tf.io.FixedLenFeature([], tf.int64)}, validate=False)


def test_an_error_says_which_record(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"a": [[1]] * 70 + [[1, 2]] + [[1]] * 29})
    features = {"a": tf.io.FixedLenFeature([], tf.int64)}
    for options in ({}, {"batch": 64}):
        with pytest.raises(Exception, match=r"(?s)a.*record 70\b"):
            read(tmp_path, features, **options)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"file_pattern": "none/x"}, FileNotFoundError, "none/x"),
        ({"file_pattern": "none/*"}, FileNotFoundError, "none"),
        ({"file_pattern": 7}, TypeError, "int"),
        ({"columns": ["nothing"]}, tf.errors.InvalidArgumentError, "nothing"),
        ({"features": None, "columns": ["id"]}, tf.errors.InvalidArgumentError, "columns needs features"),
        ({"features": None, "batch": 7}, tf.errors.InvalidArgumentError, "batch needs features"),
        ({"features": None, "as_rows": True}, tf.errors.InvalidArgumentError, "as_rows needs features"),
        ({"batch": 0}, ValueError, "batch"),
        ({"batch": "x"}, TypeError, "batch"),
        ({"batch": 7, "as_rows": True}, tf.errors.InvalidArgumentError, "as_rows"),
        ({"features": "all"}, tf.errors.InvalidArgumentError, "all"),
        ({"features": ["id"]}, TypeError, "list"),
        ({"features": StrUtf8Coder()}, TypeError, "coder="),
        ({"coder": StrUtf8Coder()}, TypeError, "one of the two"),
        ({"validate": False}, tf.errors.InvalidArgumentError, "infer"),
        ({"shard": (0, 2)}, TypeError, "Beam divides the files"),
        ({"seed": 1}, TypeError, "no order"),
        ({"nonsense": 1}, TypeError, "nonsense"),
        ({"num_threads": 0}, ValueError, "num_threads"),
        ({"max_record_bytes": -1}, ValueError, "max_record_bytes"),
        ({"on_corrupt": "x"}, tf.errors.InvalidArgumentError, "on_corrupt"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_at_once(kinds, arguments, error, text):
    with pytest.raises(error, match=text):
        ReadFromTFRecord(**{"file_pattern": kinds, "features": "infer", **arguments})


def test_read_all_is_given_its_features(kinds):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no file is known"):
        ReadAllFromTFRecord("infer")
    with pytest.raises(ValueError, match="split_bytes"):
        ReadAllFromTFRecord(split_bytes=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="nothing"):
        ReadAllFromTFRecord(FEATURES, columns=["nothing"])


def test_names_without_files_when_the_pipeline_runs(tmp_path):
    with pytest.raises(Exception, match="none"):
        read(tmp_path / "none", validate=False)
    with pytest.raises(Exception, match="none"):
        collected(beam.Create([str(tmp_path / "none")]), ReadAllFromTFRecord())
    assert collected(beam.Create([f"{tmp_path}/none*"]), ReadAllFromTFRecord())[0] == []


def test_a_file_that_changes_after_it_was_listed_is_an_error(tmp_path):
    (tmp_path / "a").touch()
    for content in ([1, 2], [3, 4, 5]):
        with tf.ExampleWriter(tmp_path / "a") as writer:
            writer.write({"a": content})
        if content == [1, 2]:
            [bundle] = ReadFromTFRecord(tmp_path / "a")._source.split(1000)
    with pytest.raises(OSError, match="has changed since it was divided"):
        list(bundle.source.read(bundle.source.get_range_tracker(None, None)))
