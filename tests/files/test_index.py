"""RecordIndex: the text form of tfrecord2idx, and what is wrong with it."""

import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.frames import FRAME, expect, frames, offsets
from tests.support.index_files import RECORDS, text_index
from tests.support.real_files import manifest
from tfrecord_fast import IndexedReader, RecordIndex, TFRecordDataset
from tfrecord_fast.errors import DataLossError, InvalidArgumentError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    return path


# ---- RecordIndex ----


def test_saved_index_is_what_tfrecord2idx_writes(path, tmp_path):
    RecordIndex.build(path).save(tmp_path / "a.idx")
    assert (tmp_path / "a.idx").read_bytes() == text_index(path.read_bytes())


def test_an_index_says_how_many_records_it_knows(path):
    assert repr(RecordIndex.build(path)) == f"<RecordIndex of {len(RECORDS)} records>"


@pytest.mark.parametrize("row", [row for row in manifest() if not row["compression"]], ids=lambda row: row["file"])
def test_index_of_real_file_is_what_tfrecord2idx_writes(row, data_dir, tmp_path):
    data = (data_dir / row["file"]).read_bytes()
    records, error = expect(data)
    if error is not None:
        with pytest.raises(DataLossError) as caught:
            IndexedReader(data_dir / row["file"]).take(range(1))
        assert (caught.value.offset, caught.value.record_index) == error[:2]
        return
    index = RecordIndex.build(data_dir / row["file"])
    index.save(tmp_path / "idx")
    assert (tmp_path / "idx").read_bytes() == text_index(data)
    assert list(IndexedReader(data_dir / row["file"], indexes=tmp_path / "idx")) == records


@pytest.mark.parametrize("row", [row for row in manifest() if row["compression"]], ids=lambda row: row["file"])
def test_compressed_real_files(row, data_dir, tmp_path):
    records = list(TFRecordDataset(data_dir / row["file"]))
    index = RecordIndex.build(data_dir / row["file"])
    index.save(tmp_path / "idx")
    reader = IndexedReader(data_dir / row["file"], indexes=tmp_path / "idx")
    assert len(index) == int(row["records"])
    assert list(reader) == records and reader[::-1].tolist() == records[::-1]


def test_loaded_index_equals_the_built_one(path, tmp_path):
    built = RecordIndex.build(path)
    built.save(tmp_path / "idx")
    assert RecordIndex.load(tmp_path / "idx") == built


def test_offsets_and_sizes_are_int64_and_count_the_frame(path):
    index = RecordIndex.build(path)
    assert index.offsets.dtype == index.sizes.dtype == np.int64
    assert index.offsets.tolist() == offsets(RECORDS)[:-1]
    assert index.sizes.tolist() == [len(record) + FRAME for record in RECORDS]


def test_arrays_outlive_the_index_and_are_read_only(path):
    sizes = RecordIndex.build(path).sizes
    assert sizes[0] == 3 + FRAME
    with pytest.raises(ValueError, match="read-only"):
        sizes[0] = 1


def test_indexes_compare_by_value(path):
    index = RecordIndex.build(path)
    assert index == RecordIndex(index.offsets, index.sizes.tolist())
    assert index != RecordIndex([0], [19])
    assert index != index.offsets.tolist()
    with pytest.raises(TypeError):
        hash(index)


def test_index_pickles(path):
    index = RecordIndex.build(path)
    assert pickle.loads(pickle.dumps(index)) == index


def test_empty_file_has_an_empty_index(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    RecordIndex.build(tmp_path / "a").save(tmp_path / "idx")
    assert (tmp_path / "idx").read_bytes() == b""
    assert len(RecordIndex.load(tmp_path / "idx")) == 0


@pytest.mark.parametrize("kind", [str, os.fsencode, lambda path: path, lambda path: f"file://{path}"])
def test_index_takes_any_kind_of_path(path, kind):
    assert len(RecordIndex.build(kind(path))) == len(RECORDS)


@given(st.lists(st.integers(0, 400_000), min_size=1, max_size=30))
def test_index_is_right_for_records_of_any_size(tmp_path_factory, sizes):
    data = frames([bytes(size) for size in sizes])
    path = tmp_path_factory.mktemp("sizes") / "a"
    path.write_bytes(data)
    RecordIndex.build(path).save(f"{path}.idx")
    assert open(f"{path}.idx", "rb").read() == text_index(data)


def test_index_of_small_records_between_large_ones_is_right(tmp_path):
    sizes = [3] * 5000 + [300_000] * 40 + [7] * 9000 + [150_000, 5] * 30
    data = frames([bytes(size) for size in sizes])
    (tmp_path / "a").write_bytes(data)
    assert (RecordIndex.build(tmp_path / "a").sizes - FRAME).tolist() == sizes


def test_large_text_survives_the_round_trip(tmp_path):
    sizes = np.random.default_rng(0).integers(16, 10**9, 200_000)
    index = RecordIndex(np.cumsum(sizes) - sizes, sizes)
    index.save(tmp_path / "idx")
    lines = [f"{offset} {size}\n" for offset, size in zip(index.offsets.tolist(), sizes.tolist(), strict=True)]
    assert (tmp_path / "idx").read_text() == "".join(lines)
    assert RecordIndex.load(tmp_path / "idx") == index


@pytest.mark.parametrize("text", ["0 19\n19 16\n", "0 19\n19 16", "0 19\r\n19 16\r\n", " 0\t19 \n\n19  16\n\n"])
def test_blanks_and_line_ends_of_other_writers_are_taken(tmp_path, text):
    (tmp_path / "idx").write_text(text, newline="")
    assert RecordIndex.load(tmp_path / "idx") == RecordIndex([0, 19], [19, 16])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 19\n19\n", 'line 2: expected "offset size", got "19"'),
        ("0 19 7\n", "line 1: expected"),
        ("0,19\n", "line 1: expected"),
        ("0 19\n19 x\n", 'line 2: expected "offset size", got "19 x"'),
        ("0 19\n\n19 -16\n", "line 3: expected"),
        ("0 19\n19 99999999999999999999\n", "line 2: expected"),
        ("0 19\n9223372036854775800 100\n", "line 2: size 100 is more"),
        ("0 15\n", "line 1: size 15 is less than the 16"),
        ("0 19\n18 19\n", "line 2: offset 18 lies before byte 19"),
        ("0 19\n0 19\n", "line 2: offset 0 lies before byte 19"),
        ("0 19\n" + " " * 3_000_000 + "\n", "a line of more than"),
        ("7" * 3_000_000, "line 1: expected .*…"),
        ("0 19\n\0\xff\n", 'line 2: .* got "\\?'),
    ],
)
def test_wrong_text_is_named_by_its_line(tmp_path, text, words):
    (tmp_path / "bad.idx").write_text(text)
    with pytest.raises(InvalidArgumentError, match=f"bad.idx: {words}"):
        RecordIndex.load(tmp_path / "bad.idx")


@pytest.mark.parametrize("arrays", [([0], [15]), ([0, 5], [19, 19]), ([-1], [19]), ([0, 1], [19]), ([2**63 - 1], [16])])
def test_impossible_arrays_are_refused(arrays):
    with pytest.raises(InvalidArgumentError):
        RecordIndex(*arrays)


def test_saving_replaces_and_leaves_nothing_else(path, tmp_path):
    (tmp_path / "idx").write_text("old")
    RecordIndex.build(path).save(tmp_path / "idx")
    assert (tmp_path / "idx").read_bytes() == text_index(path.read_bytes())
    assert sorted(os.listdir(tmp_path)) == ["a.tfrecord", "idx"]


def test_saving_writes_through_a_link(path, tmp_path):
    (tmp_path / "idx").symlink_to(tmp_path / "target")
    RecordIndex.build(path).save(tmp_path / "idx")
    assert (tmp_path / "idx").is_symlink()
    assert len(RecordIndex.load(tmp_path / "target")) == len(RECORDS)


def test_saving_in_a_missing_folder_names_the_path(path, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        RecordIndex.build(path).save(tmp_path / "no" / "idx")
    assert caught.value.filename == str(tmp_path / "no" / "idx")


@pytest.mark.parametrize("make", [RecordIndex.build, RecordIndex.load, lambda path: len(IndexedReader(path))])
def test_missing_file_is_named(tmp_path, make):
    with pytest.raises(FileNotFoundError) as caught:
        make(tmp_path / "missing")
    assert caught.value.filename == str(tmp_path / "missing")


def test_pipe_cannot_be_indexed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    holder = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(InvalidArgumentError, match="not a regular file"):
            RecordIndex.build(tmp_path / "pipe")
    finally:
        os.close(holder)
