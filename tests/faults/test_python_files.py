"""File objects of Python that lie, fail, keep what they are given, or call back."""

import gc
import io
import threading
import weakref

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.processes import run_code

COUNTS = ["-1", "'abc'", "2**70", "-2**70", "10**9", "1.5", "b'x'", "True", "float('nan')", "object()", "[]"]
DATA = frames([b"record %d" % i for i in range(2000)])


def outcome(code):
    """What the code prints; it has to end by itself, with status 0."""
    done = run_code(code, timeout=20)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("value", COUNTS)
@pytest.mark.parametrize("method", ["readinto", "readinto1"])
def test_a_count_of_readinto_that_can_not_be_is_an_error(method, value):
    code = f"""
        class File(io.RawIOBase):
            def {method}(self, buffer): return {value}
            def readable(self): return True
        try: print(list(tf.data.TFRecordDataset(File())))
        except Exception as error: print("error")
    """
    assert outcome(code) == "error"


@pytest.mark.parametrize("value", ["'abc'", "None", "7", "b'x' * 10**7", "np.arange(3)", "object()"])
def test_a_result_of_read_that_can_not_be_is_an_error(value):
    code = f"""
        class File:
            def read(self, size): return {value}
        try: print(list(tf.data.TFRecordDataset(File())))
        except Exception as error: print("error")
    """
    assert outcome(code) == "error"


def test_wider_items_than_bytes_are_no_result_of_read():
    """Not even if their memory is that of records."""
    code = f"""
        class File:
            def read(self, size): return np.frombuffer({frames([b"x" * 4])!r}, "i4")
        try: print(list(tf.data.TFRecordDataset(File())))
        except TypeError as error: print(error)
    """
    assert outcome(code) == "read() of a file object returned numpy.ndarray, not bytes"


def test_a_count_of_write_that_can_not_be_is_an_error():
    code = f"""
        class File:
            def write(self, data): return value
        for compression in ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]:
            for value in [{", ".join(COUNTS)}]:
                writer = tf.io.TFRecordWriter(File(), compression)
                try:
                    writer.write(os.urandom(100_000))
                    writer.close()
                    print("taken", compression, value)
                except Exception as error: pass
        print("no other")
    """
    assert outcome(code) == "no other"


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
def test_a_write_that_returns_nothing_has_taken_all(compression):
    taken = []
    with tf.io.TFRecordWriter(type("File", (), {"write": lambda self, data: taken.append(data)})(), compression) as w:
        for i in range(3000):
            w.write(b"%d" % i * 100)
    # The parts are kept as they were given: nothing writes over them later.
    data = io.BytesIO(b"".join(taken))
    assert list(tf.data.TFRecordDataset(data, compression)) == [b"%d" % i * 100 for i in range(3000)]


def test_a_raw_file_that_returns_nothing_would_have_to_wait():
    class Raw(io.RawIOBase):
        def write(self, data):
            return None

    writer = tf.io.TFRecordWriter(Raw())
    writer.write(b"abc")
    with pytest.raises(BlockingIOError):
        writer.close()


def test_a_buffer_that_readinto_keeps_stays_valid():
    kept = []

    class Keeps(io.BytesIO):
        def readinto1(self, buffer):
            kept.append(buffer)
            return super().readinto(buffer)

    assert list(tf.data.TFRecordDataset(Keeps(DATA))) == list(tf.data.TFRecordDataset(io.BytesIO(DATA)))
    gc.collect()
    assert b"".join(kept).startswith(DATA[:100])
    for buffer in kept:
        buffer[:] = bytes(len(buffer))  # nobody else's memory


def test_a_sink_of_ones_own_class_of_error_raises_it():
    class QuotaError(OSError):
        pass

    class Sink:
        def write(self, data):
            raise QuotaError(28, "no room", "me")

    writer = tf.io.TFRecordWriter(Sink())
    with pytest.raises(QuotaError, match="no room"):
        writer.write(b"x" * 100_000)


def test_after_a_failure_a_sink_is_given_nothing_more():
    calls = []

    class Sink:
        def write(self, data):
            calls.append(len(data))
            raise KeyboardInterrupt

        def flush(self):
            calls.append("flush")

    writer = tf.io.TFRecordWriter(Sink())
    with pytest.raises(KeyboardInterrupt):
        writer.write(b"x" * 100_000)
    with pytest.raises(tf.errors.FailedPreconditionError, match="earlier call"):
        writer.write(b"y")
    with pytest.raises(tf.errors.FailedPreconditionError, match="earlier call"):
        writer.close()
    assert len(calls) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit, OSError, ZeroDivisionError])
@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_leaving_a_with_statement_raises_what_the_sink_raised(error, compression):
    class Sink:
        def write(self, data):
            raise error("mine")

    with pytest.raises(error, match="mine"), tf.io.TFRecordWriter(Sink(), compression) as writer:
        for i in range(100):
            writer.write(b"%d" % i * 100_000)
            writer.flush()


def test_leaving_a_with_statement_raises_what_its_body_raised():
    class Sink:
        def write(self, data):
            raise OSError(28, "full")

    with pytest.raises(KeyError, match="mine"), tf.io.TFRecordWriter(Sink()) as writer:
        writer.write(b"1")
        raise KeyError("mine")


@pytest.mark.parametrize("call", ["write(b'x')", "write_batch([b'x'])", "flush()", "close()"])
def test_a_sink_that_calls_its_writer_gets_an_error(call):
    code = f"""
        class Sink:
            def write(self, data):
                try: self.writer.{call}
                except tf.errors.FailedPreconditionError as error: print("refused")
                return len(data)
        sink = Sink()
        writer = sink.writer = tf.io.TFRecordWriter(sink)
        writer.write(b"z" * 1_000_000)
        writer.close()
    """
    assert outcome(code).startswith("refused")


def test_a_source_that_calls_its_iterator_gets_an_error():
    code = """
        class Source:
            def read(self, size):
                try: next(self.iterator)
                except tf.errors.FailedPreconditionError: print("refused")
                return b""
        source = Source()
        source.iterator = iter(tf.data.TFRecordDataset(source))
        print(list(source.iterator))
    """
    *refusals, records = outcome(code).split("\n")
    assert set(refusals) == {"refused"} and records == "[]"


def collected(make):
    """Whether what `make` returns, in a cycle, is collected."""
    seen = weakref.ref(make())
    gc.collect()
    return seen() is None


class Cyclic(io.BytesIO):
    """A file object that may refer to what reads or writes it."""


def test_a_file_object_and_its_reader_are_collected():
    def make():
        file = Cyclic(DATA)
        file.iterator = iter(tf.data.TFRecordDataset(file))
        next(file.iterator)
        return file

    assert collected(make)


def test_a_file_object_and_its_shard_reader_are_collected():
    def make():
        file = Cyclic(DATA)
        file.reader = tf.ShardReader(file, batch_size=3)
        file.iterator = iter(file.reader)
        next(file.iterator)
        return file

    assert collected(make)


def test_a_file_object_and_its_writer_are_collected_and_the_writer_is_closed():
    written = []

    class Sink:
        def write(self, data):
            written.append(data)
            return len(data)

    def make():
        file = Sink()
        file.writer = tf.io.TFRecordWriter(file)
        file.writer.write(b"abc")
        return file

    assert collected(make)
    assert b"".join(written) == frames([b"abc"])


def test_threads_may_share_a_writer_on_a_file_object():
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file) as writer:
        threads = [
            threading.Thread(target=lambda i=i: [writer.write(b"%d" % i * 999) for _ in range(500)]) for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    got = list(tf.data.TFRecordDataset(io.BytesIO(file.getvalue())))
    assert sorted(got) == sorted(b"%d" % i * 999 for i in range(4) for _ in range(500))
