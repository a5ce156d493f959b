"""The interpreter ends in peace, whatever threads, readers and writers it leaves behind."""

import gzip

import pytest

import tfrecord_fast as tf
from tests.support.processes import printed, run_code

pytestmark = pytest.mark.alone

DAEMONS = {
    "reading": "list(tf.data.TFRecordDataset('r'))",
    "reading a file object": "list(tf.data.TFRecordDataset(io.BytesIO(data)))",
    "reading a pure Python file": "list(tf.data.TFRecordDataset(File(data)))",
    "batches": "[tf.parse_example(b, {'a': tf.io.FixedLenFeature([], tf.int64, 0)}) for b in tf.ShardReader('e')]",
    "columns": "list(tf.ShardReader('e', {'a': tf.io.FixedLenFeature([], tf.int64, 0)}))",
    "writing": "tf.io.TFRecordWriter(os.devnull).write_batch([b'x' * 100] * 10000)",
    "writing compressed": "tf.io.TFRecordWriter(os.devnull, 'GZIP').write_batch([b'x' * 100] * 100000)",
    "encoding": "tf.encode_examples({'a': np.arange(100000)})",
    "an index": "tf.RecordIndex.build('r')",
    "random reads": "tf.IndexedReader('r').take(np.arange(1000))",
}
FILE = """
class File:
    def __init__(self, data): self.file = io.BytesIO(data)
    def read(self, n): return self.file.read(n)
    def readinto(self, b): return self.file.readinto(b)
    def write(self, b): return len(b)
data = open('r', 'rb').read()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exit")
    with tf.io.TFRecordWriter(folder / "r") as writer:
        writer.write_batch([b"x"] * 20_000)
    with tf.io.TFRecordWriter(folder / "e") as writer:
        writer.write_batch(tf.encode_examples({"a": range(20_000)}))
    return folder


@pytest.mark.parametrize("work", DAEMONS)
def test_daemon_threads_in_the_core_do_not_disturb_the_exit(folder, work):
    code = f"""
        def go():
            while True: {DAEMONS[work]}
        for _ in range(3): threading.Thread(target=go, daemon=True).start()
        time.sleep(0.2)
    """
    assert printed(FILE + "\n" + "\n".join(line[8:] for line in code.splitlines()), cwd=folder) == ""


def test_daemon_threads_that_write_to_file_objects_find_them_closed_at_exit(folder):
    code = """
def go():
    while True: tf.io.TFRecordWriter(File(b'')).write_batch([b'x' * 100] * 10000)
for _ in range(3): threading.Thread(target=go, daemon=True).start()
time.sleep(0.2)
"""
    done = run_code(FILE + code, cwd=folder)
    assert done.returncode == 0, done.stderr
    errors = [line for line in done.stderr.splitlines() if "Error" in line]
    assert {line.strip() for line in errors} <= {"tfrecord_fast.errors.FailedPreconditionError: Writer is closed."}


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("target", ["'w.tfrecord'", "open('w.tfrecord', 'wb')", "Sink()"])
def test_a_writer_that_is_open_at_exit_is_closed(tmp_path, target, compression):
    code = f"""
        class Sink(io.BytesIO):
            def write(self, data):
                with open('w.tfrecord', 'ab') as file: return file.write(data)
        writer = tf.io.TFRecordWriter({target}, {compression!r})
        writer.write_batch([b'abc'] * 5)
    """
    assert printed(code, cwd=tmp_path) == ""
    assert list(tf.data.TFRecordDataset(tmp_path / "w.tfrecord", compression)) == [b"abc"] * 5


def test_a_writer_in_a_cycle_is_closed_at_exit(tmp_path):
    code = """
        class Holder: pass
        holder = Holder()
        holder.self = holder
        holder.writer = tf.io.TFRecordWriter('w.tfrecord.gz', 'GZIP')
        holder.writer.write(b'abc')
        del holder
    """
    assert printed(code, cwd=tmp_path) == ""
    assert gzip.decompress((tmp_path / "w.tfrecord.gz").read_bytes())[12:15] == b"abc"


def test_a_failure_to_close_at_exit_is_reported(tmp_path):
    code = """
        class Sink:
            def write(self, data): raise OSError(28, 'no room')
        writer = tf.io.TFRecordWriter(Sink())
        writer.write(b'abc')
    """
    done = run_code(code, cwd=tmp_path)
    assert done.returncode == 0
    assert "no room" in done.stderr


@pytest.mark.parametrize(
    "source", ["'r'", "io.BytesIO(data)", "File(data)", "open('r', 'rb')"], ids=["path", "BytesIO", "Python", "file"]
)
def test_an_iterator_that_is_open_at_exit_is_dropped(folder, source):
    code = f"iterator = iter(tf.data.TFRecordDataset({source}).batch(10).prefetch(2)); next(iterator)"
    assert printed(FILE + code, cwd=folder) == ""


@pytest.mark.parametrize("end", ["writer.close()", ""])
def test_an_example_writer_that_outlives_its_module_leaves_nothing_wrong(tmp_path, end):
    code = f"""
        import sys
        sys.writer = writer = tf.io.ExampleWriter('w.tfrecord', num_shards=2)
        writer.write({{'a': [1, 2]}})
        {end}
    """
    done = run_code(code, cwd=tmp_path)
    assert done.returncode == 0
    assert (
        done.stderr == "" if end else "RuntimeWarning: w-00000-of-00002.tfrecord and 1 more: not closed" in done.stderr
    )
    assert len(list(tmp_path.iterdir())) == (2 if end else 0)


def test_an_example_writer_that_a_thread_does_not_let_go_of_holds_nobody_up(tmp_path):
    code = """
        import threading, time
        writer = tf.io.ExampleWriter('w.tfrecord')
        held = threading.Event()
        def hold():
            with writer._lock:
                held.set()
                time.sleep(600)
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
    """
    done = run_code(code, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
