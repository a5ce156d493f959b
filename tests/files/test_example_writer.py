"""ExampleWriter: names, rows over shards, and files that are complete where they are, whatever happens."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.descriptors import descriptors
from tests.support.interrupts import is_interrupted
from tests.support.paths import ROOT
from tfrecord_fast.files.writing import output_files
from tfrecord_fast.files.writing.example_writer import shard_paths

pytestmark = pytest.mark.alone

KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]
ROUNDS = int(os.environ.get("TFRECORD_FAST_ROUNDS", "20"))
FEATURES = {"i": tf.FixedLenFeature([], tf.int64)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "train.tfrecord"


def numbers(path, kind=None):
    """The values of "i" in a file, in order."""
    records = [record for batch in tf.data.TFRecordDataset(str(path), kind).batch(1000) for record in batch]
    return tf.parse_example(records, FEATURES)["i"].tolist() if records else []


def names(folder):
    return sorted(entry.name for entry in Path(folder).iterdir())


# ---- Names ----


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("train.tfrecord", ["train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord"]),
        ("train.tfrecord.gz", ["train-00000-of-00002.tfrecord.gz", "train-00001-of-00002.tfrecord.gz"]),
        ("train", ["train-00000-of-00002", "train-00001-of-00002"]),
        ("a.b/train.x", ["a.b/train-00000-of-00002.x", "a.b/train-00001-of-00002.x"]),
        ("{shard}", ["00000", "00001"]),
        ("{shard}-of-{num_shards}", ["00000-of-00002", "00001-of-00002"]),
        ("p{shard:02d}of{num_shards:d}", ["p00of2", "p01of2"]),
        (Path("a") / "b", ["a/b-00000-of-00002", "a/b-00001-of-00002"]),
        (b"train", ["train-00000-of-00002", "train-00001-of-00002"]),
        ("a{b}", ["a{b}-00000-of-00002", "a{b}-00001-of-00002"]),
    ],
)
def test_names_of_two_shards(pattern, expected):
    assert shard_paths(pattern, 2) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("train.tfrecord", "train.tfrecord"),
        ("a{b}.tfrecord", "a{b}.tfrecord"),
        ("t-{shard}-of-{num_shards}", "t-00000-of-00001"),
    ],
)
def test_one_shard_has_the_name_given_unless_it_is_a_pattern(given, expected):
    assert shard_paths(given, 1) == [expected]


@pytest.mark.parametrize("pattern", ["{num_shards}", "{shard}{other}", "{shard", "{shard.x}"])
def test_a_pattern_that_names_no_shards_is_a_value_error(pattern):
    with pytest.raises(ValueError, match="shard"):
        shard_paths(pattern, 2)


@pytest.mark.parametrize("number", [0, -1])
def test_no_shards_are_a_value_error(path, number):
    with pytest.raises(ValueError, match="at least 1"):
        tf.ExampleWriter(path, num_shards=number)


def test_a_name_of_255_bytes_can_be_written(tmp_path):
    name = "ü" * 127 + "x"
    with tf.ExampleWriter(tmp_path / name) as writer:
        writer.write({"i": [1]})
    assert names(tmp_path) == [name]


# ---- Rows ----


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shards", [1, 3, 16])
def test_record_i_goes_to_shard_i_mod_n_over_all_calls(tmp_path, kind, shards):
    with tf.ExampleWriter(tmp_path / "{shard}", num_shards=shards, options=kind) as writer:
        writer.write({"i": np.arange(5)})
        writer.write_example({"i": 5})
        writer.write({"i": []})
        writer.write_batch(tf.encode_examples({"i": range(6, 40)}).tolist())
        writer.write({"i": np.arange(40, 100)})
    for shard in range(shards):
        assert numbers(tmp_path / f"{shard:05d}", kind) == list(range(shard, 100, shards))


@pytest.fixture
def two_and_one(tmp_path):
    """A writer of two shards that was given three rows."""
    writer = tf.ExampleWriter(tmp_path / "x", num_shards=2)
    writer.write({"i": [1, 2, 3]})
    return writer


def test_close_reports_the_records_of_each_file(two_and_one, tmp_path):
    names = [str(tmp_path / f"x-0000{shard}-of-00002") for shard in range(2)]
    assert [(file.path, file.records) for file in two_and_one.close()] == list(zip(names, [2, 1], strict=True))


def test_close_reports_the_bytes_of_each_file(two_and_one):
    written = two_and_one.close()
    assert [file.bytes for file in written] == [os.path.getsize(file.path) for file in written]


def test_close_reports_the_same_again(two_and_one):
    written = two_and_one.close()
    assert two_and_one.close() == written and two_and_one.closed


def test_a_shard_without_rows_is_an_empty_file(tmp_path):
    tf.ExampleWriter(tmp_path / "x", num_shards=2, options="GZIP").close()
    assert [numbers(path, "GZIP") for path in sorted(tmp_path.iterdir())] == [[], []]


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda writer: writer.write({"i": [1], "j": [1, 2]}), tf.errors.InvalidArgumentError),
        (lambda writer: writer.write_batch([b"", 7]), TypeError),
    ],
    ids=["columns of unequal length", "a batch with a number in it"],
)
def test_what_is_refused_writes_nothing_and_the_writer_stays_usable(path, write, error):
    with tf.ExampleWriter(path) as writer:
        with pytest.raises(error):
            write(writer)
        writer.write({"i": [7]})
    assert numbers(path) == [7]


def test_threads_that_share_a_writer_lose_nothing(tmp_path):
    with tf.ExampleWriter(tmp_path / "x", num_shards=3, options="GZIP") as writer:

        def write(mine):
            for i in range(50):
                writer.write({"i": np.arange(20) + 1000 * mine + 20 * i})

        threads = [threading.Thread(target=write, args=(mine,)) for mine in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = [n for path in tmp_path.iterdir() for n in numbers(path)]
    assert sorted(found) == [1000 * mine + i for mine in range(4) for i in range(1000)]


def test_any_number_of_threads_writes_the_same_files(tmp_path):
    made = {"i": np.arange(40_000), "x": np.random.default_rng(7).normal(size=(40_000, 8)).astype(np.float32)}
    for threads in (1, 3):
        pattern = tmp_path / f"{threads}-{{shard}}"
        with tf.ExampleWriter(pattern, num_shards=2, options="GZIP", num_threads=threads) as writer:
            writer.write(made)
    for shard in range(2):
        assert (tmp_path / f"1-{shard:05d}").read_bytes() == (tmp_path / f"3-{shard:05d}").read_bytes()


@pytest.mark.parametrize(("num_threads", "of_each"), [(5, 3), (4, 2), (1, 1)])
def test_the_files_of_a_writer_share_its_threads(tmp_path, monkeypatch, num_threads, of_each):
    given, make = [], output_files.TFRecordWriter

    def noted(*args, num_threads):
        given.append(num_threads)
        return make(*args, num_threads=num_threads)

    monkeypatch.setattr(output_files, "TFRecordWriter", noted)
    tf.ExampleWriter(tmp_path / "x", num_shards=2, options="GZIP", num_threads=num_threads).close()
    assert given == [of_each, of_each]


def test_rows_that_take_longer_than_those_after_them_stay_in_their_place(tmp_path):
    """Each row is a block: many integers, which take time, and one long string, which does not, in turns."""
    count, rows = 250_000, 40
    splits = np.cumsum([0] + [count, 0] * (rows // 2))
    ints = tf.RaggedTensor.from_row_splits(np.arange(splits[-1]) % 10_000, splits)
    made = {"i": np.arange(rows), "ints": ints, "text": [b"", bytes(500_000)] * (rows // 2)}
    with tf.ExampleWriter(tmp_path / "a", num_threads=3) as writer:
        writer.write(made)
    assert numbers(tmp_path / "a") == list(range(rows))


# ---- Only complete files have their names ----


def test_until_close_there_are_hidden_files_only(tmp_path):
    writer = tf.ExampleWriter(tmp_path / "x", num_shards=2)
    writer.write({"i": range(100_000)})
    hidden = names(tmp_path)
    assert len(hidden) == 2 and all(name.startswith(".x-0") and name.endswith(".tmp") for name in hidden)
    writer.close()
    assert names(tmp_path) == ["x-00000-of-00002", "x-00001-of-00002"]


@pytest.mark.parametrize("sync", [False, True])
def test_an_existing_file_of_that_name_stays_until_close(path, sync):
    path.write_bytes(b"before")
    with tf.ExampleWriter(path, sync=sync) as writer:
        writer.write({"i": [1]})
        assert path.read_bytes() == b"before"
    assert numbers(path) == [1]


def test_an_existing_file_of_that_name_stays_after_an_exception(path):
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), tf.ExampleWriter(path) as writer:
        writer.write({"i": [1]})
        raise ZeroDivisionError
    assert path.read_bytes() == b"before" and names(path.parent) == ["train.tfrecord"]


def test_abort_leaves_nothing(tmp_path):
    writer = tf.ExampleWriter(tmp_path / "x", num_shards=3)
    writer.write({"i": [1]})
    assert descriptors(tmp_path) == 3
    writer.abort()
    assert names(tmp_path) == [] and writer.closed and descriptors(tmp_path) == 0


@pytest.mark.parametrize("late", [lambda w: w.close(), lambda w: w.write({"i": [1]})], ids=["close", "write"])
def test_after_abort_the_writer_says_so(path, late):
    writer = tf.ExampleWriter(path)
    writer.abort()
    with pytest.raises(tf.errors.FailedPreconditionError, match="aborted"):
        late(writer)


def test_a_writer_that_is_dropped_leaves_nothing_and_says_so(tmp_path):
    writer = tf.ExampleWriter(tmp_path / "x", num_shards=2)
    writer.write({"i": [1]})
    with pytest.warns(RuntimeWarning, match="x-00000-of-00002 and 1 more: not closed, so nothing was written") as said:
        del writer
        gc.collect()
    assert names(tmp_path) == [] and said[0].filename == __file__


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("use", [lambda w: None, lambda w: (w.write({"i": [1]}), w.abort()), lambda w: w.close()])
def test_a_writer_that_loses_nothing_is_dropped_in_silence(path, use):
    writer = tf.ExampleWriter(path)
    use(writer)
    del writer
    gc.collect()


@pytest.mark.parametrize("kind", [ValueError, TypeError, TimeoutError])
def test_a_signal_that_raises_while_records_are_written_ends_the_writer(tmp_path, monkeypatch, kind):
    """The batch is in one of the files by then."""
    writer = tf.ExampleWriter(tmp_path / "x", num_shards=2)
    writer.write({"i": [1]})
    monkeypatch.setattr(writer._shards[1], "write", lambda records: signal.raise_signal(signal.SIGALRM))
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(kind("time is up")))
    try:
        with pytest.raises(kind, match="time is up"):
            writer.write_batch([b"", b"", b""])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert writer.closed and names(tmp_path) == []
    with pytest.raises(tf.errors.FailedPreconditionError):
        writer.write({"i": [2]})


def test_after_close_the_writer_says_so(path):
    writer = tf.ExampleWriter(path)
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"Writer is closed\."):
        writer.write({"i": [1]})


def test_abort_after_close_leaves_the_file(path):
    writer = tf.ExampleWriter(path)
    writer.close()
    writer.abort()
    assert path.exists()


def test_a_forked_process_that_drops_the_writer_leaves_its_files_alone(path):
    writer = tf.ExampleWriter(path)
    writer.write({"i": [1, 2]})
    child = os.fork()
    if child == 0:
        del writer
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    writer.write({"i": [3]})
    writer.close()
    assert numbers(path) == [1, 2, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_a_forked_process_cannot_write_and_the_other_continues(path, kind):
    writer = tf.ExampleWriter(path, options=kind)
    writer.write({"i": [1, 2]})
    calls = [
        lambda: writer.write({"i": [7]}),
        lambda: writer.write_example({"i": 7}),
        lambda: writer.write_batch(tf.encode_examples({"i": [7]})),
        writer.close,
    ]
    child = os.fork()
    if child == 0:
        refused = 0
        for call in calls:
            try:
                call()
            except tf.errors.FailedPreconditionError:
                refused += 1
        os._exit(0 if refused == len(calls) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not path.exists()
    writer.write({"i": [3]})
    writer.close()
    assert numbers(path) == [1, 2, 3]


def test_a_forked_process_learns_what_was_closed_before(path):
    writer = tf.ExampleWriter(path)
    writer.write({"i": [1, 2]})
    written = writer.close()
    child = os.fork()
    if child == 0:
        os._exit(0 if writer.close() == written else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_writer_that_was_interrupted_while_it_was_made_is_dropped_in_silence(path, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    made = 0
    while is_interrupted(lambda: tf.ExampleWriter(path), tf.ExampleWriter.__init__.__wrapped__, made):
        gc.collect()
        assert os.listdir(tmp_path) == []
        made += 1
    assert made > 5
    assert said == []


KILLED = """
import os, random, signal, sys, tempfile, time
import numpy as np
import tfrecord_fast as tf
from tests.support.compression import decompress
from tests.support.frames import expect

folder, kind, seed, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SHARDS = 16
columns = {"i": np.arange(4000), "x": np.random.default_rng(1).normal(size=(4000, 16)).astype(np.float32)}
batch = tf.encode_examples(columns, num_threads=1)
complete = [(batch[shard::SHARDS].tolist() * 2, None) for shard in range(SHARDS)]

def write(folder):
    with tf.ExampleWriter(folder + "/{shard}", num_shards=SHARDS, options=kind, num_threads=2) as writer:
        writer.write(columns)
        writer.write_batch(batch)

# A machine under load is slow: the first child dies before its files are complete, some later one does not.
start = time.monotonic()
with tempfile.TemporaryDirectory() as elsewhere:
    write(elsewhere)
longest = 4 * (time.monotonic() - start)
delays = random.Random(seed)
found = 0
for _ in range(rounds):
    child = os.fork()
    while child == 0:
        write(folder)
    time.sleep(delays.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith("."):
            assert name.endswith(".tmp"), name
        else:
            found += 1
            data = open(path, "rb").read()
            data = decompress(kind, data) if kind else data
            assert data is not None and expect(data) == complete[int(name)], name
        if delays.random() < 0.5:
            os.unlink(path)
print(found)
"""


@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="too slow there to be killed at work")
@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_killed_at_any_moment_no_name_holds_anything_but_a_complete_file(tmp_path, kind):
    seed = random.randrange(2**32)
    command = [sys.executable, "-c", KILLED, str(tmp_path), kind, str(seed), str(-(-ROUNDS // 2))]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, f"seed {seed}: {run.stderr}"
    assert int(run.stdout) > 0


def their_numbers(paths):
    dataset = tf.data.TFRecordDataset(paths, "GZIP")
    features = {"i": tf.io.FixedLenFeature([], tf.int64)}
    return [int(tf.io.parse_single_example(record, features)["i"]) for record in dataset]


def test_tensorflow_reads_the_files(tensorflow, tmp_path):
    with tf.ExampleWriter(tmp_path / "x", num_shards=2, options="GZIP") as writer:
        writer.write({"i": range(100)})
    paths = [file.path for file in writer.close()]
    assert tensorflow(their_numbers, paths) == [*range(0, 100, 2), *range(1, 100, 2)]


@pytest.mark.parametrize("extension, head", [(".gz", b"\x1f\x8b"), (".zst", b"\x5d\x2a\x4d\x18"), ("", b"\x0e\x00")])
def test_the_extension_decides_the_compression(tmp_path, extension, head):
    path = tmp_path / f"a.tfrecord{extension}"
    for options, first in ((None, head), ("", b"\x0e\x00"), ("GZIP", b"\x1f\x8b")):
        with tf.ExampleWriter(path, options=options) as writer:
            writer.write({"a": [1, 2]})
        assert path.read_bytes().startswith(first)
        assert tf.read_table(path).to_pydict() == {"a": [1, 2]}


def test_a_key_keeps_its_kind(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [1, 2], "x": [[], []], "y": [None, None]})
        writer.write({"id": np.array([3], np.uint8), "x": ["a"], "y": [0.5]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="'id' has bytes values, but had int64 values"):
            writer.write({"id": ["four"], "z": [1]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="'y' has int64 values, but had float values"):
            writer.write({"id": [4], "y": [1]})
        writer.write({"id": [5], "x": [b"b"], "y": np.array([1], np.float16)})
    assert tf.read_table(tmp_path / "a")["id"].to_pylist() == [1, 2, 3, 5]
