"""Paths from a dataset are taken as they are needed: there may be no end to them, and each may take long to come."""

import itertools
import os

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.interleaving import interleave
from tests.support.lettered_files import ALL, records_of

Dataset = tf.data.Dataset
Records = tf.data.TFRecordDataset
NAMES = ("a-0", "a-1", "a-2", "b-0")


@pytest.fixture
def paths(folder):
    return [str(folder / name) for name in NAMES]


ENDLESS = {
    "repeat": lambda paths: Dataset.from_tensor_slices(paths).repeat(),
    "from_tensors": lambda paths: Dataset.from_tensors(paths).repeat(),
    "shuffle(1)": lambda paths: Dataset.from_tensor_slices(paths).shuffle(1).repeat(),
    "list_files": lambda paths: Dataset.list_files(paths, shuffle=False).repeat(),
    "map": lambda paths: Dataset.from_tensor_slices(paths).map(lambda path: path).repeat(),
    "generator": lambda paths: Dataset.from_generator(lambda: itertools.cycle(paths)),
    "choose": lambda paths: Dataset.choose_from_datasets(
        [Dataset.from_tensor_slices(paths).repeat()], Dataset.from_tensors(0).repeat()
    ),
}
READ = {
    "records": (lambda names: Records(names), [ALL, ALL, ALL]),
    "batch": (lambda names: Records(names).batch(5).unbatch(), [ALL, ALL, ALL]),
    "prefetch": (lambda names: Records(names).batch(5).prefetch(2).unbatch(), [ALL, ALL, ALL]),
    "map": (lambda names: Records(names).batch(5).map(lambda batch: batch).unbatch(), [ALL, ALL, ALL]),
    "take": (lambda names: Records(names).take(99).batch(5).unbatch(), [ALL, ALL, ALL]),
    "skip": (lambda names: Records(names).skip(len(ALL)), [ALL, ALL, ALL]),
    "shuffle(1)": (lambda names: Records(names).shuffle(1), [ALL, ALL, ALL]),
    "shard": (lambda names: Records(names).shard(len(ALL), 0).take(2), [ALL[:1], ALL[:1]]),
    "ignore_errors": (lambda names: Records(names).ignore_errors(), [ALL, ALL, ALL]),
    "flat_map": (lambda names: names.flat_map(Records), [ALL, ALL, ALL]),
    "interleave": (lambda names: names.interleave(Records, cycle_length=1), [ALL, ALL, ALL]),
}


@pytest.mark.parametrize("names", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_there_may_be_no_end_to_the_paths(paths, names, read):
    if names is ENDLESS["from_tensors"] and read in (READ["flat_map"], READ["interleave"]):
        names = ENDLESS["repeat"]
    make, expected = read
    wanted = list(itertools.chain(*expected))
    assert list(itertools.islice(make(names(paths)), len(wanted))) == wanted


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_parallel_reads_keep_their_order_without_end(paths, slots):
    files = [records_of(name, count) for name, count in zip(NAMES, [5, 2, 4, 3], strict=True)]
    names = Dataset.from_tensor_slices(paths).repeat()
    expected = interleave(files * 4, slots)[:30]
    assert list(Records(names, num_parallel_reads=slots).take(30)) == expected
    assert list(Records(names, num_parallel_reads=slots).batch(10).take(3).unbatch()) == expected


def test_batches_run_on_from_file_to_file(paths):
    names = Dataset.from_tensor_slices(paths).map(lambda path: path)
    batches = list(Records(names).batch(4))
    assert [batch.tolist() for batch in batches] == [ALL[:4], ALL[4:8], ALL[8:12], ALL[12:]]
    assert {type(batch) for batch in batches} == {tf.RecordBatch}
    assert [len(batch) for batch in Records(names).batch(4, drop_remainder=True)] == [4, 4, 4]


@pytest.mark.parametrize("batched", [False, True], ids=["records", "batches"])
def test_a_function_is_asked_for_a_path_when_the_file_before_it_ends(paths, batched):
    asked = []
    names = Dataset.from_tensor_slices(paths).map(lambda path: asked.append(path) or path)
    records = Records(names)
    iterator = iter(records.batch(2) if batched else records)
    assert asked == []
    next(iterator)
    assert asked == [os.fsencode(paths[0])]
    assert len(list(iterator)) == (6 if batched else 13)
    assert len(asked) == len(paths)


def test_an_error_among_the_paths_comes_in_its_turn(paths):
    def fail(path):
        if path.endswith(b"a-1"):
            raise ValueError("no such name")
        return path

    iterator = iter(Records(Dataset.from_tensor_slices(paths).map(fail)))
    assert list(itertools.islice(iterator, 5)) == records_of("a-0", 5)
    with pytest.raises(ValueError, match="no such name"):
        next(iterator)
    assert list(iterator) == records_of("a-2", 4) + records_of("b-0", 3)


@pytest.mark.parametrize("batch", [1, 4, 9])
def test_the_records_before_damage_are_given(folder, paths, batch):
    (folder / "a-2").write_bytes(frames(records_of("a-2", 4))[:-1])
    names = Dataset.from_tensor_slices(paths).map(lambda path: path)
    found = []
    with pytest.raises(tf.DataLossError) as caught:
        for records in Records(names).batch(batch):
            found += records.tolist()
    assert found == ALL[: (10 // batch) * batch]
    assert caught.value.path == str(folder / "a-2") and caught.value.record_index == 3


def test_ignored_errors_drop_the_rest_of_their_file_only(folder, paths):
    (folder / "a-0").write_bytes(frames(records_of("a-0", 5))[:-1])
    names = Dataset.from_tensor_slices(paths).map(lambda path: path)
    assert list(Records(names).ignore_errors()) == ALL[:4] + ALL[5:]


def test_paths_that_can_be_listed_are_read_by_one_stream(paths):
    names = Dataset.from_tensor_slices(paths)
    assert repr(Records(names.repeat(2).take(7)).shuffle(9).batch(2)).startswith("<Dataset native[")
    assert "native" not in repr(Records(names.repeat()).shuffle(9))
