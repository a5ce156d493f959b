"""tfrecord-fast index: what it writes is what RecordIndex loads, and --check tells when it no longer fits."""

import json
import os
import tempfile

import pytest
from hypothesis import given, settings

import tfrecord_fast as tf
from tests.support.copying import COMPRESSIONS, names, quiet, records, run_fixture, run_json_fixture, write  # noqa: F401
from tests.support.other_files import OTHER_FILES
from tfrecord_fast import IndexedReader


@settings(max_examples=30, deadline=None)
@given(records)
def test_it_is_that_of_record_index(given_records):
    with tempfile.TemporaryDirectory() as folder:
        path = write(f"{folder}/a", given_records)
        assert quiet("index", path) == 0
        assert tf.RecordIndex.load(f"{path}.idx") == tf.RecordIndex.build(path)
        assert tf.IndexedReader(path, indexes=f"{path}.idx")[:].tolist() == given_records
        assert quiet("index", "--check", path) == 0


def test_each_file_has_its_own(tmp_path, run):
    for name in "ab":
        write(tmp_path / name, [name.encode()] * 3)
    status, out, err = run("index", tmp_path / "a", tmp_path / "b")
    assert (status, err) == (0, "") and out == f"{tmp_path}/a.idx: 3 records\n{tmp_path}/b.idx: 3 records\n"


def test_a_pattern_that_matches_indexes_means_their_files(tmp_path, run):
    write(tmp_path / "a", [b"x"])
    for _ in range(2):
        assert run("index", tmp_path / "*")[0] == 0
    assert names(tmp_path) == ["a", "a.idx"]


def test_cat_uses_it(tmp_path, run):
    write(tmp_path / "a", [b"%d" % i for i in range(1000)])
    assert run("index", tmp_path / "a")[0] == 0
    assert '"900"' in run("cat", tmp_path / "a", "--skip", 900, "-n", 1)[1]


def test_its_name_can_be_given(tmp_path, run):
    write(tmp_path / "a", [b"x"])
    assert run("index", tmp_path / "a", "-o", tmp_path / "i")[0] == 0
    assert len(tf.RecordIndex.load(tmp_path / "i")) == 1 and names(tmp_path) == ["a", "i"]


def test_several_can_go_to_a_folder(tmp_path, run):
    write(tmp_path / "a", [b"x"])
    write(tmp_path / "b", [b"x"])
    (tmp_path / "there").mkdir()
    assert run("index", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "there")[0] == 0
    assert names(tmp_path / "there") == ["a.idx", "b.idx"]
    status, _, err = run("index", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "none")
    assert status == 2 and "folder" in err


def test_files_of_one_name_do_not_share_an_index(tmp_path, run):
    for folder in "xyz":
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "a", [b"x"])
    status, _, err = run("index", tmp_path / "x" / "a", tmp_path / "y" / "a", "-o", tmp_path / "z")
    assert status == 2 and "same name" in err and names(tmp_path / "z") == ["a"]


def test_a_file_is_not_replaced_by_an_index(tmp_path, run):
    path = write(tmp_path / "a", [b"x"])
    for out in (path, f"{tmp_path}/../{tmp_path.name}/a"):
        status, _, err = run("index", path, "-o", out)
        assert status == 2 and "replace" in err
    assert names(tmp_path) == ["a"] and len(tf.RecordIndex.build(path)) == 1


@pytest.mark.parametrize("kind", COMPRESSIONS[1:])
def test_compressed_files(tmp_path, run, kind):
    records = [b"x" * size for size in range(500)]
    path = write(tmp_path / "a", records, kind)
    assert run("index", path) == (0, f"{path}.idx: 500 records\n", "")
    assert IndexedReader(path, indexes=f"{path}.idx").take([300, 7]).tolist() == [records[300], records[7]]
    assert run("index", "--check", path) == (0, f"{path}.idx: 500 records, matches its file\n", "")
    assert run("cat", path, "--raw", "--skip", 498)[1] == f"{records[498].decode()}\n{records[499].decode()}\n"


@pytest.mark.parametrize("name", OTHER_FILES)
def test_what_is_no_tfrecord_file_is_named(tmp_path, run, name):
    made, kind = OTHER_FILES[name]
    (tmp_path / "a").write_bytes(made if isinstance(made, bytes) else made.encode())
    status, _, err = run("index", tmp_path / "a")
    assert status == 2 and kind in err and names(tmp_path) == ["a"]


def test_damage_ends_a_file_not_the_command(tmp_path, run):
    bad, good = write(tmp_path / "a", [b"x" * 100] * 3), write(tmp_path / "b", [b"x"])
    os.truncate(bad, 150)
    status, out, err = run("index", bad, good)
    assert status == 1 and "record 1" in err and names(tmp_path) == ["a", "b", "b.idx"] and "b.idx: 1 record" in out


def test_a_missing_file_is_usage(tmp_path, run):
    status, _, err = run("index", tmp_path / "none")
    assert status == 2 and "No such file" in err


def test_an_index_that_can_not_be_written_is_named(tmp_path, run):
    status, _, err = run("index", write(tmp_path / "a", [b"x"]), "-o", tmp_path / "no" / "a.idx")
    assert status == 2 and f"{tmp_path}/no/a.idx: " in err


def test_standard_input_has_no_index(run):
    assert run("index", "-")[0] == 2


@pytest.fixture
def indexed(tmp_path, run):
    path = write(tmp_path / "a", [b"x" * 10] * 5)
    assert run("index", path)[0] == 0
    return path


def test_check_finds_what_was_added(indexed, run):
    write(indexed, [b"x" * 10] * 6)
    status, out, err = run("index", "--check", indexed)
    assert (status, out) == (1, "") and "5 records, but the file has 6" in err


def test_check_finds_what_has_moved(indexed, run):
    write(indexed, [b"x" * 10] * 3 + [b"x" * 11, b"x" * 9])
    status, _, err = run("index", "--check", indexed)
    assert status == 1 and "record 3 at byte 78, with 26 bytes" in err and "with 27" in err


def test_check_finds_none_and_what_is_no_index(indexed, run):
    with open(f"{indexed}.idx", "w") as file:
        file.write("0 x\n")
    status, _, err = run("index", "--check", indexed)
    assert status == 1 and "cannot read the index" in err
    os.unlink(f"{indexed}.idx")
    status, _, err = run("index", "--check", indexed)
    assert status == 2 and "missing index" in err and not os.path.exists(f"{indexed}.idx")


def test_json_is_an_object_per_file(indexed, run, run_json):
    assert run_json("index", indexed) == [
        {"path": indexed, "index": f"{indexed}.idx", "records": 5, "ok": True, "error": None}
    ]
    write(indexed, [b"x"])
    status, out, _ = run("index", indexed, "--check", "--json")
    assert status == 1 and json.loads(out)["ok"] is False and "5 records" in json.loads(out)["error"]["reason"]
