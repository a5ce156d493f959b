"""Whatever the engine, its rows are those of the local reader, and an error names the file."""

import contextlib
import functools
import glob
import os

import pytest

import tfrecord_fast as tf
from tests.integrations.engine_cases import KINDS, PARTS, SEQUENCES, WRONG, write_kinds, write_sequences
from tests.support.engine_rows import FEATURES, plain_rows, rows_of
from tests.support.frames import frames

from .engines import DIVIDING, ENGINES, TAKING_FEATURES

ID = {"id": tf.io.FixedLenFeature([], tf.int64)}


@pytest.fixture(scope="module")
def started():
    """Returns an engine by its name; each is started once."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda name: stack.enter_context(ENGINES[name].running()))


@pytest.fixture(params=ENGINES)
def engine(request, started):
    return started(request.param)


def each(names):
    return pytest.mark.parametrize("engine", names, indirect=True)


def local(folder, *features, **options):
    return rows_of(tf.read_table(f"{folder}/*", *features, **options))


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return write_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    return write_sequences(tmp_path_factory.mktemp("sequences"))


@pytest.mark.parametrize("compression", ["", "GZIP", "ZSTD"])
def test_the_rows_are_those_of_the_local_reader(engine, written, compression):
    assert plain_rows(engine.read(f"{written(compression)}/*")) == local(written(compression))


@each(TAKING_FEATURES)
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_columns_are_those_of_the_features(engine, written, compression):
    expected = local(written(compression), FEATURES)
    assert plain_rows(engine.read(f"{written(compression)}/*", FEATURES)) == expected


@each(DIVIDING)
@pytest.mark.parametrize("compression", ["", "GZIP", "ZSTD"])
def test_tasks_divide_files_without_compression(engine, written, compression):
    plan = engine.plan(written(compression), split_bytes=20_000)
    assert plain_rows(engine.rows(plan)) == local(written(compression))
    assert engine.tasks(plan) > 4 if compression == "" else engine.tasks(plan) <= 4


@each(DIVIDING)
@pytest.mark.parametrize("parts", PARTS)
def test_every_row_is_in_one_of_any_number_of_tasks(engine, kinds, parts):
    size = sum(map(os.path.getsize, glob.glob(f"{kinds}/*")))
    plan = engine.plan(kinds, split_bytes=-(-size // parts) + 1000 * (parts < 4))
    assert abs(engine.tasks(plan) - parts) <= 3
    assert plain_rows(engine.rows(plan)) == local(kinds)


@each(TAKING_FEATURES)
@pytest.mark.parametrize("kind", [*KINDS, "bfloat16"])
def test_each_kind_of_feature(engine, kinds, kind):
    features = KINDS[kind] if kind in KINDS else {"absent": tf.io.FixedLenFeature([2], tf.bfloat16, [1, 2])}
    if engine is ENGINES["duckdb"] and kind == "cast":  # DuckDB has no float16
        features = {"small": features["small"]}
    assert plain_rows(engine.read(f"{kinds}/*", features)) == local(kinds, features)


@each(TAKING_FEATURES)
@pytest.mark.parametrize("features", ["infer", SEQUENCES], ids=["inferred", "given"])
def test_sequence_examples(engine, sequences, features):
    assert plain_rows(engine.read(f"{sequences}/*", features)) == local(sequences, features)


@each([name for name in DIVIDING if name in TAKING_FEATURES])
def test_tasks_divide_sequence_examples(engine, sequences):
    plan = engine.plan(sequences, SEQUENCES, split_bytes=1000)
    assert engine.tasks(plan) > 3 and plain_rows(engine.rows(plan)) == local(sequences, SEQUENCES)


@each(TAKING_FEATURES)
def test_columns_are_chosen(engine, written):
    rows = engine.read(f"{written()}/*", FEATURES, columns=["price", "id"])
    assert list(rows[0]) == ["price", "id"]
    assert plain_rows(rows) == local(written(), FEATURES, columns=["price", "id"])


def test_files_without_records_have_no_rows(engine, tmp_path):
    for name in ("a", "c"):
        (tmp_path / name).touch()
    (tmp_path / "b").write_bytes(frames(tf.encode_examples({"id": [7]})))
    assert engine.read(f"{tmp_path}/*") == [{"id": 7}]


@each(TAKING_FEATURES)
def test_nothing_but_files_without_records_is_a_table_without_rows(engine, tmp_path):
    (tmp_path / "a").touch()
    assert engine.read(str(tmp_path / "a"), ID) == []


@each(DIVIDING)
def test_small_files_share_tasks(engine, tmp_path):
    for i in range(2000):
        (tmp_path / f"{i:05d}").write_bytes(frames(tf.encode_examples({"i": [i]})))
    plan = engine.plan(str(tmp_path), split_bytes=8000)
    assert 5 <= engine.tasks(plan) <= 20
    assert sorted(row["i"] for row in engine.rows(plan)) == list(range(2000))


def test_a_missing_file_is_named_before_anything_is_read(engine, tmp_path):
    with pytest.raises(Exception, match="none/x"):
        engine.plan(str(tmp_path / "none" / "x"))


def write_beside(folder, damage):
    for name in ("a", "c"):
        with tf.ExampleWriter(folder / name) as writer:
            writer.write({"a": [1] * 50})
    damage(folder / "bad")


@each(TAKING_FEATURES)
@pytest.mark.parametrize("damage", WRONG)
def test_a_file_that_does_not_fit_the_features_is_named(engine, tmp_path, damage):
    write_beside(tmp_path, damage)
    with pytest.raises(Exception, match=str(tmp_path / "bad")):
        engine.read(f"{tmp_path}/*", {"a": ID["id"]})


@pytest.mark.parametrize("damage", WRONG)
def test_a_file_that_does_not_fit_the_others_is_named(engine, tmp_path, damage):
    write_beside(tmp_path, damage)
    if damage.__name__ in ("_absent", "_shape"):  # then it fits
        assert len(engine.read(f"{tmp_path}/*")) == 150
        return
    with pytest.raises(Exception, match=str(tmp_path / "bad")):
        engine.read(f"{tmp_path}/*")


@each(["dask", "ray"])
def test_a_file_that_changes_after_the_plan_is_an_error(engine, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames(tf.encode_examples({"a": [1, 2]})))
    plan = engine.plan(str(path))
    path.write_bytes(frames(tf.encode_examples({"a": [3, 4, 5]})))
    with pytest.raises(Exception, match="has changed since it was divided"):
        engine.rows(plan)


@each(TAKING_FEATURES)
def test_real_files(engine, data_dir):
    compared = 0
    for path in sorted(glob.glob(f"{data_dir}/**", recursive=True)):
        if os.path.isdir(path) or os.path.getsize(path) > 1 << 20:
            continue
        try:
            expected = tf.read_table(path)
        except (tf.errors.OpError, OSError, ValueError):
            continue
        if expected.num_rows:
            assert plain_rows(engine.read(path)) == rows_of(expected), path
            compared += 1
    assert compared >= 15
