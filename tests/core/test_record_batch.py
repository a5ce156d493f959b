"""RecordBatch: many records in one buffer, seen as a sequence of bytes."""

import copy
import gc
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.frames import frames

RECORDS = [b"one", b"", b"three", bytes(range(256))]


@pytest.fixture(params=["read", "made", "pickled", "sliced"])
def batch(request):
    """The same four records, however they came to be a batch."""
    if request.param == "read":
        return next(iter(tf.data.TFRecordDataset(bytearray(frames(RECORDS))).batch(10)))
    if request.param == "sliced":
        return tf._core.record_batch([b"x", *reversed(RECORDS), b"y"])[-2:0:-1]
    made = tf._core.record_batch(RECORDS)
    return pickle.loads(pickle.dumps(made)) if request.param == "pickled" else made


def test_len_and_nbytes_count_the_records_alone(batch):
    assert len(batch) == 4 and batch.nbytes == 3 + 5 + 256


def test_items_are_bytes(batch):
    assert [batch[i] for i in range(4)] == RECORDS
    assert all(type(batch[i]) is bytes for i in range(4))


def test_negative_indices_count_from_the_end(batch):
    assert [batch[i] for i in range(-4, 0)] == RECORDS


def test_any_index_object_is_an_index(batch):
    assert batch[np.int64(2)] == batch[np.uint8(2)] == batch[True + 1] == b"three"


@pytest.mark.parametrize("index", [4, -5, 2**62, 2**64, -(2**64)])
def test_an_index_out_of_range_is_an_index_error(batch, index):
    with pytest.raises(IndexError):
        batch[index]


@pytest.mark.parametrize("index", [4, -5, 2**62, 2**64, -(2**64)])
def test_a_view_out_of_range_is_an_index_error(batch, index):
    with pytest.raises(IndexError):
        batch.view(index)


@pytest.mark.parametrize("index", ["a", 1.0, None, (1,), [1]])
def test_what_is_not_an_index_is_a_type_error(batch, index):
    with pytest.raises(TypeError):
        batch[index]


def test_iterating_gives_bytes_again_and_again(batch):
    assert list(batch) == list(batch) == batch.tolist() == RECORDS


def test_what_it_holds_can_be_asked(batch):
    assert b"three" in batch and b"four" not in batch


def test_it_is_iterated_backwards(batch):
    assert list(reversed(batch)) == RECORDS[::-1]


def test_a_view_is_of_the_same_bytes(batch):
    assert batch.view(2) == b"three" and batch.view(-1) == RECORDS[-1] and batch.view(1).nbytes == 0


def test_a_view_is_a_memoryview_of_single_bytes(batch):
    view = batch.view(2)
    assert isinstance(view, memoryview)
    assert (view.format, view.ndim, view.nbytes, view.contiguous) == ("B", 1, 5, True)


def test_a_view_is_read_only(batch):
    view = batch.view(2)
    assert view.readonly
    with pytest.raises(TypeError):
        view[0] = 1


def test_views_and_slices_look_at_one_memory(batch):
    def address(view):
        return np.frombuffer(view, np.uint8).ctypes.data

    views = [batch.view(3), batch.view(-1), batch[2:].view(1), batch[::-1].view(0)]
    assert len({address(view) for view in views}) == 1


def test_a_view_outlives_its_batch():
    batch = next(iter(tf.data.TFRecordDataset(bytearray(frames(RECORDS * 1000))).batch(4000)))
    views = [batch[1:].view(i) for i in range(3)]
    del batch
    gc.collect()
    churn = [next(iter(tf.data.TFRecordDataset(bytearray(frames([b"?" * 300] * 4000))).batch(4000))) for _ in range(3)]
    assert [bytes(view) for view in views] == RECORDS[1:] and churn


def test_batches_outlive_their_iterator(tmp_path):
    path = tmp_path / "many"
    records = [b"%d" % i * 50 for i in range(20_000)]
    path.write_bytes(frames(records))
    batches = list(tf.data.TFRecordDataset(path).batch(333))
    gc.collect()
    assert [record for batch in batches for record in batch] == records


@given(
    st.lists(st.binary(max_size=5), max_size=12),
    st.lists(st.slices(14), max_size=3),
)
def test_slices_of_slices_are_those_of_a_list(records, slices):
    batch = tf._core.record_batch(records)
    for part in slices:
        batch, records = batch[part], records[part]
        assert isinstance(batch, tf.RecordBatch)
        assert batch.tolist() == records and len(batch) == len(records)
        assert [bytes(batch.view(i)) for i in range(len(batch))] == records
        assert batch.nbytes == sum(map(len, records))


def test_a_slice_with_a_step_of_zero_is_a_value_error(batch):
    with pytest.raises(ValueError, match="zero"):
        batch[::0]


def test_it_becomes_an_array_of_objects(batch):
    array = np.asarray(batch)
    assert array.dtype == object and array.shape == (4,) and array.tolist() == RECORDS


def test_an_empty_slice_is_an_empty_array(batch):
    assert np.array(batch[:0]).shape == (0,)


def test_an_array_without_a_copy_is_refused(batch):
    with pytest.raises(ValueError, match="copy"):
        batch.__array__(copy=False)


def test_an_array_of_another_dtype_is_cast(batch):
    assert batch[:3].__array__(dtype="S5").tolist() == [b"one", b"", b"three"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_pickles(batch, protocol):
    again = pickle.loads(pickle.dumps(batch, protocol))
    assert isinstance(again, tf.RecordBatch) and again.tolist() == RECORDS


def test_it_is_copied_deeply(batch):
    assert copy.deepcopy(batch[1:3]).tolist() == RECORDS[1:3]


def test_a_pickle_holds_the_slice_alone():
    batch = tf._core.record_batch([b"x" * 100_000, b"small"])
    assert len(pickle.dumps(batch[1:])) < 1000


@pytest.mark.parametrize(
    "damaged",
    [
        (b"", b"\x05" + bytes(7)),
        (b"abc", b"\xff" * 8),
        (b"abc", b"\0" * 3),
        (b"abc", b""),
        (b"abc", struct.pack("<QQ", 2**64 - 1, 4)),  # which are three together
    ],
)
def test_a_damaged_pickle_is_an_error(damaged):
    restore, _ = tf._core.record_batch([b"abc"]).__reduce__()
    with pytest.raises(ValueError, match="damaged pickle"):
        restore(*damaged)


def test_repr_shows_the_size(batch):
    assert repr(batch) == "<RecordBatch of 4 records, 264 bytes>"


def test_a_batch_is_not_made_by_hand():
    with pytest.raises(TypeError):
        tf.RecordBatch()


def test_a_list_of_any_bytes_like_objects_becomes_a_batch():
    records = [b"a", bytearray(b"bc"), memoryview(b"def"), np.frombuffer(b"ghij", np.uint8)]
    assert tf._core.record_batch(records).tolist() == [b"a", b"bc", b"def", b"ghij"]


def test_an_array_of_objects_becomes_a_batch():
    assert tf._core.record_batch(np.array([b"a", b"b"], object)).tolist() == [b"a", b"b"]


def test_memory_that_may_change_is_copied():
    record = bytearray(b"abc")
    batch = tf._core.record_batch([record, memoryview(record), memoryview(record).toreadonly()])
    record[:] = b"xyz and more"
    assert batch.tolist() == [b"abc"] * 3


def test_an_empty_batch_is_a_batch():
    batch = tf._core.record_batch([])
    assert (len(batch), batch.nbytes, batch.tolist(), list(batch[:])) == (0, 0, [], [])


@given(st.lists(st.binary(max_size=5), max_size=20), st.data())
def test_rows_are_taken_in_any_order(records, data):
    rows = data.draw(st.lists(st.integers(0, len(records) - 1), max_size=30)) if records else []
    batch = tf._core.record_batch(records)
    assert tf._core.take_rows(batch, np.array(rows, np.int64)).tolist() == [records[row] for row in rows]
    assert tf._core.take_rows(batch[::-1], np.array(rows, np.int64)).tolist() == [records[::-1][row] for row in rows]


@pytest.mark.parametrize("row", [-1, 3, 2**62])
def test_rows_that_are_not_there_are_an_error(row):
    with pytest.raises(IndexError, match=str(row)):
        tf._core.take_rows(tf._core.record_batch([b"a"] * 3), np.array([0, row]))
