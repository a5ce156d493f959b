"""errors: the classes, what they carry, and what they say."""

import copy
import pickle

import pytest

import tfrecord_fast as tf
from tests.support.frames import frame, frames
from tfrecord_fast import errors


@pytest.fixture
def error(tmp_path):
    """A real one: the third record's data is damaged."""
    path = tmp_path / "damaged.tfrecord"
    data = bytearray(frames([b"one", b"", b"three"]))
    data[-5] ^= 1
    path.write_bytes(data)
    with pytest.raises(errors.DataLossError) as caught:
        list(tf.data.TFRecordDataset(path))
    return caught.value


def test_data_loss_says_where(error, tmp_path):
    assert error.path == str(tmp_path / "damaged.tfrecord")
    assert (error.offset, error.record_index) == (19 + 16, 2)
    assert isinstance(error.path, str) and isinstance(error.reason, str)
    assert str(error) == error.message == f"{error.path}: {error.reason} (record 2 at byte 35)"


def test_data_loss_says_what(error):
    assert error.reason == "corrupted record at 35: the CRC of its 5 data bytes is wrong"


def test_data_loss_is_a_tfrecord_error_and_not_an_os_error(error):
    assert isinstance(error, errors.TFRecordError) and not isinstance(error, (OSError, ValueError))
    assert tf.DataLossError is errors.DataLossError


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_data_loss_pickles_and_copies(error, again):
    other = again(error)
    assert type(other) is errors.DataLossError and str(other) == str(error)
    assert vars(other) == vars(error)


def test_data_loss_in_an_object_without_a_name_is_of_a_stream():
    with pytest.raises(errors.DataLossError) as caught:
        list(tf.data.TFRecordDataset(bytearray(frame(b"abc")[:-1])))
    assert caught.value.path == "<memory>" and caught.value.offset == 0


def test_what_is_not_known_is_none_and_is_left_out():
    error = errors.DataLossError(None, None, None, "damaged")
    assert str(error) == "damaged" and error.path is None
    assert str(errors.DataLossError("a", None, None, "damaged")) == "a: damaged"


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("InvalidArgumentError", (errors.TFRecordError, ValueError)),
        ("FailedPreconditionError", (errors.TFRecordError, ValueError)),
        ("OutOfRangeError", (errors.TFRecordError, IndexError)),
        ("DataLossError", (errors.TFRecordError,)),
        ("TFRecordError", (Exception,)),
    ],
)
def test_errors_are_also_pythons_own(name, bases):
    assert issubclass(getattr(errors, name), bases) and all(issubclass(getattr(errors, name), base) for base in bases)


def test_tensorflows_names_are_kept():
    assert errors.OpError is errors.TFRecordError and errors.NotFoundError is FileNotFoundError


def test_all_is_sorted_and_every_name_exists():
    assert errors.__all__ == sorted(errors.__all__) and all(hasattr(errors, name) for name in errors.__all__)
