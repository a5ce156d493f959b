"""What the system refuses is an OSError with errno and file name, and what flush acknowledged is in the file."""

import contextlib
import errno
import os
import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.support.frames import drain, frames
from tests.support.mounts import mounted, refused, unmount

KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]
NOISE = os.urandom(60_000)  # does not compress, and is held back until flush or the next write

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses /dev/full and mounts")


@pytest.fixture
def read_only(tmp_path):
    """A folder that nothing can be created in, not even by root if root runs the tests."""
    folder = tmp_path / "read_only"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)
    elif mounted(folder, "size=1m,ro") is not None:
        yield folder
        unmount(folder)
    else:
        pytest.skip("root may write everywhere, and a read-only tmpfs can't be mounted")


def write_until_refused(writer):
    """The error of the write that failed."""
    for _ in range(1000):
        try:
            writer.write(os.urandom(20_000))
        except OSError as error:
            return error
    raise AssertionError("nothing was refused")


# ---- A device that is full ----


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_device_refuses_flush(kind):
    writer = tf.io.TFRecordWriter("/dev/full", kind)
    writer.write(b"abc")
    with pytest.raises(OSError) as caught:
        writer.flush()
    assert refused(caught.value, errno.ENOSPC, "/dev/full")
    with pytest.raises(OSError):
        writer.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_device_refuses_close_and_the_writer_is_still_closed(kind):
    writer = tf.io.TFRecordWriter("/dev/full", kind)
    writer.write(b"abc")
    with pytest.raises(OSError) as caught:
        writer.close()
    assert refused(caught.value, errno.ENOSPC, "/dev/full")
    assert writer.closed and writer.close() is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_device_refuses_write_once_the_buffer_is_full(kind):
    writer = tf.io.TFRecordWriter("/dev/full", kind)
    assert refused(write_until_refused(writer), errno.ENOSPC, "/dev/full")
    with pytest.raises(OSError):
        writer.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_device_refuses_a_batch(kind):
    writer = tf.io.TFRecordWriter("/dev/full", kind)
    with pytest.raises(OSError) as caught:
        for _ in range(10):  # blocks are compressed and written by other threads
            writer.write_batch([os.urandom(30_000) for _ in range(100)])
    assert refused(caught.value, errno.ENOSPC, "/dev/full")
    with pytest.raises(OSError):
        writer.close()


def test_the_with_statement_lets_the_refusal_through():
    with pytest.raises(OSError, match=r"No space left") as caught, tf.io.TFRecordWriter("/dev/full") as writer:
        writer.write(b"abc")
    assert refused(caught.value, errno.ENOSPC, "/dev/full")


def test_the_with_statement_keeps_the_first_exception():
    with pytest.raises(ZeroDivisionError), tf.io.TFRecordWriter("/dev/full") as writer:
        writer.write(b"abc")
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "call",
    [lambda w: w.flush(), lambda w: w.write(b"x"), lambda w: w.write_batch([b"x"]), lambda w: w.close()],
    ids=["flush", "write", "write_batch", "close"],
)
def test_after_a_refusal_every_call_refuses_again(call):
    writer = tf.io.TFRecordWriter("/dev/full")
    writer.write(b"abc")
    with pytest.raises(OSError, match=r"No space left"):
        writer.flush()
    with pytest.raises(OSError, match=r"No space left"):
        call(writer)
    with contextlib.suppress(OSError):
        writer.close()


def test_a_dropped_writer_reports_what_it_could_not_write(capfd):
    code = "import tfrecord_fast as tf; w = tf.io.TFRecordWriter('/dev/full'); w.write(b'abc'); del w"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "No space left" in done.stderr


# ---- A disk that fills up ----


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_disk_that_fills_up_what_flush_acknowledged_stays(small_disk, kind):
    path = small_disk / "out"
    writer = tf.io.TFRecordWriter(path, kind)
    acknowledged = []
    with pytest.raises(OSError, match=r"No space left") as caught:
        for n in range(1000):
            record = os.urandom(20_000 + n)
            writer.write(record)
            writer.flush()
            acknowledged.append(record)
    assert refused(caught.value, errno.ENOSPC, path)
    with pytest.raises(OSError, match=r"No space left"):
        writer.close()
    records, _ = drain(tf.data.TFRecordDataset(path, kind))
    assert len(acknowledged) > 20 and records[: len(acknowledged)] == acknowledged
    assert len(records) <= len(acknowledged) + 1


@pytest.mark.parametrize("kind", KINDS)
def test_on_a_full_disk_close_refuses(small_disk, kind):
    (small_disk / "rest").write_bytes(bytes((1 << 20) - (16 << 10)))
    writer = tf.io.TFRecordWriter(small_disk / "out", kind)
    writer.write(NOISE)
    with pytest.raises(OSError, match=r"No space left"):
        writer.close()
    assert writer.closed


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_on_file_size_is_refused_with_its_errno(tmp_path, kind):
    code = f"""
import errno, os, resource, tfrecord_fast as tf
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
path = {str(tmp_path / "out")!r}
writer = tf.io.TFRecordWriter(path, {kind!r})
written = 0
try:
    while True:
        writer.write(os.urandom(10_000))
        writer.flush()
        written += 1
except OSError as error:
    print(error.errno == errno.EFBIG, error.filename == path, written, flush=True)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "9"]
    records, _ = drain(tf.data.TFRecordDataset(tmp_path / "out", kind))
    assert len(records) == 9


# ---- A pipe that its reader closed ----


@pytest.fixture
def broken_pipe(tmp_path):
    """The path of a FIFO whose reader closes it after the writer has opened it."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return path, lambda: os.close(reader)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("last", ["flush", "close"])
def test_a_pipe_that_its_reader_closed_is_broken(broken_pipe, kind, last):
    path, hang_up = broken_pipe
    writer = tf.io.TFRecordWriter(path, kind)
    hang_up()
    writer.write(b"abc")
    with pytest.raises(BrokenPipeError) as caught:
        getattr(writer, last)()
    assert refused(caught.value, errno.EPIPE, path)
    if last == "flush":
        with pytest.raises(BrokenPipeError):
            writer.close()


def test_a_pipe_that_its_reader_closed_refuses_write_once_the_buffer_is_full(broken_pipe):
    path, hang_up = broken_pipe
    writer = tf.io.TFRecordWriter(path)
    hang_up()
    assert refused(write_until_refused(writer), errno.EPIPE, path)
    with pytest.raises(BrokenPipeError):
        writer.close()


# ---- Creating and opening ----


def test_a_read_only_folder_refuses_immediately(read_only):
    with pytest.raises(OSError) as caught:
        tf.io.TFRecordWriter(read_only / "out")
    assert caught.value.errno in (errno.EROFS, errno.EACCES) and caught.value.filename == str(read_only / "out")


def test_a_folder_cannot_be_written_as_a_file(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        tf.io.TFRecordWriter(tmp_path)
    assert caught.value.filename == str(tmp_path)


@pytest.mark.parametrize(
    "use", [tf.io.TFRecordWriter, lambda path: list(tf.data.TFRecordDataset(path))], ids=["write", "read"]
)
def test_a_file_in_the_path_is_not_a_folder(tmp_path, use):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError) as caught:
        use(tmp_path / "file" / "below")
    assert caught.value.filename == str(tmp_path / "file" / "below")


@pytest.mark.skipif("undefined" in tf.build_info()["sanitizers"], reason="the sanitizer needs descriptors itself")
@pytest.mark.parametrize(
    "use", ["tf.io.TFRecordWriter(path)", "list(tf.data.TFRecordDataset(path))"], ids=["write", "read"]
)
def test_too_many_open_files_are_an_error_with_its_errno(use):
    code = f"""
import errno, resource, tempfile, tfrecord_fast as tf
path = tempfile.mktemp()
tf.io.TFRecordWriter(path).close()
tf.data  # imports need descriptors too
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
try:
    {use}
except OSError as error:
    print(error.errno == errno.EMFILE, error.filename == path)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 2


@pytest.mark.parametrize("kind", ["", None, "GZIP"])
def test_a_read_that_fails_is_an_error_with_its_errno(kind):
    """Reading at the start of the process's own memory fails with EIO."""
    with pytest.raises(OSError) as caught:
        list(tf.data.TFRecordDataset("/proc/self/mem", kind))
    assert caught.value.errno == errno.EIO and caught.value.filename == "/proc/self/mem"


def test_files_of_unknown_size_are_read():
    """Files in /proc are regular and of size 0."""
    records, error = drain(tf.data.TFRecordDataset("/proc/self/cmdline", ""))
    assert records == [] and error is not None


def test_a_descriptor_that_is_not_open_is_an_error():
    class Wrong:
        name = "closed"

        def read(self, size):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    with pytest.raises(OSError, match="Bad file descriptor"):
        list(tf.data.TFRecordDataset(Wrong()))


@pytest.mark.parametrize("buffering", [0, -1])
def test_a_closed_file_object_is_a_value_error(tmp_path, buffering):
    (tmp_path / "a").write_bytes(frames([b"one"]))
    with open(tmp_path / "a", "rb", buffering) as file:
        pass
    with pytest.raises(ValueError, match="closed"):
        list(tf.data.TFRecordDataset(file))
