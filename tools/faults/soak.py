"""Uses the package over and over, in every way that starts or holds something, and expects nothing to grow.

    python -m tools.faults.soak [--minutes 10] [--seed 1]

Readers are opened, iterated, abandoned, resumed, pickled and left in cycles; processes fork in the middle; datasets
start threads and are dropped; writers are closed, aborted, dropped and interrupted. After a first part, which fills
pools and caches, memory, descriptors and threads are what they were. The last line is `N rounds, M wrong`.
"""

import argparse
import ctypes
import gc
import os
import pickle
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback

import numpy as np

import tfrecord_fast as tf
from tools.faults.forked import in_child
from tools.faults.work_kit import COLUMNS, COMPRESSIONS, FEATURES, RECORDS, ROWS, Inputs, Wrong, expect, expect_records

MIB = 1 << 20
GROWTH = 12 * MIB  # that a run may end with more than its first part did, however long it is


class Soak:
    """What is done, one method each."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.draw = random.Random(seed)
        inputs = os.path.join(folder, "inputs")
        os.mkdir(inputs)
        self.files = Inputs(inputs)
        self.work = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("do_")]

    def path(self):
        return self.files.records(self.draw.choice(COMPRESSIONS))

    def reader(self, **options):
        options = {"batch_size": self.draw.choice([1, 7, 60]), "num_threads": self.draw.choice([1, 2, 4]), **options}
        return tf.ShardReader([self.path(), self.path()], **options)

    def do_read_all(self):
        reader = self.reader(shuffle_buffer=self.draw.choice([0, 50]), num_epochs=2)
        expect("another count", sum(len(batch) for batch in reader) == 4 * len(RECORDS))

    def do_abandon(self):
        iterator = iter(self.reader(shuffle_buffer=self.draw.choice([0, 50]), deterministic=self.draw.random() < 0.5))
        for _ in range(self.draw.randint(0, 3)):
            next(iterator)

    def do_abandon_in_a_cycle(self):
        cycle = [iter(self.reader())]
        cycle.append(cycle)
        next(cycle[0])

    def do_resume(self):
        options = {"batch_size": 20, "shuffle_buffer": self.draw.choice([0, 50]), "seed": 3}
        path = self.path()
        reader = tf.ShardReader(path, **options)
        iterator = iter(reader)
        got = [record for _ in range(3) for record in next(iterator)]
        again = tf.ShardReader(path, **options)
        again.load_state_dict(reader.state_dict())
        expect_records(sorted(got + [record for batch in again for record in batch]), sorted(RECORDS))

    def do_pickle(self):
        reader = pickle.loads(pickle.dumps(self.reader()))
        batch = pickle.loads(pickle.dumps(next(iter(reader))))
        expect("another batch", batch[0] == RECORDS[0])

    def do_fork(self):
        iterator = iter(self.reader(batch_size=20))
        next(iterator)
        mine = in_child(lambda: sum(len(batch) for batch in tf.ShardReader(self.files.records(""))))
        expect("another count in the child", mine == len(RECORDS))
        next(iterator)

    def do_damage(self):
        path = os.path.join(self.folder, "damaged")
        with open(self.files.records(""), "rb") as file:
            data = bytearray(file.read())
        data[self.draw.randrange(len(data))] ^= 1
        with open(path, "wb") as file:
            file.write(data)
        reader = tf.ShardReader(path, on_corrupt="skip")
        got = sum(len(batch) for batch in reader)
        expect("damage was not noticed", reader.skipped and got < len(RECORDS))
        try:
            list(tf.data.TFRecordDataset(path, ""))
        except tf.errors.DataLossError:
            return
        raise Wrong("damage was not an error")

    def do_parse(self):
        for batch in tf.ShardReader(self.files.examples, FEATURES, batch_size=90, num_threads=2):
            expect("other columns", len(batch["i"]) == len(batch["s"]))

    def do_parse_what_does_not_fit(self):
        try:
            tf.parse_example(self.files.rows, {"i": tf.io.FixedLenFeature([2], tf.int64)})
        except tf.errors.InvalidArgumentError:
            return
        raise Wrong("rows that do not fit were parsed")

    def do_encode(self):
        rows = tf.encode_examples(COLUMNS, num_threads=2)
        expect("other rows", len(rows) == ROWS)

    def do_index(self):
        reader = tf.IndexedReader([self.files.records(""), self.files.records("")], num_threads=2)
        order = np.random.default_rng(self.draw.randrange(1000)).permutation(len(reader))[:50]
        expect_records(reader.take(order).tolist(), [RECORDS[i % len(RECORDS)] for i in order])
        path = os.path.join(self.folder, "saved.idx")
        tf.RecordIndex.build(self.files.records("")).save(path)

    def do_dataset(self):
        names = tf.data.Dataset.from_tensor_slices([self.files.examples] * 3)
        rows = names.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2)
        rows = rows.map(lambda record: tf.parse_single_example(record, FEATURES)["i"], num_parallel_calls=3)
        rows = rows.shuffle(20).batch(16).prefetch(2)
        if self.draw.random() < 0.5:
            iterator = iter(rows)
            for _ in range(self.draw.randint(0, 5)):
                next(iterator)
        else:
            expect("another count", sum(len(batch) for batch in rows) == 3 * ROWS)

    def do_dataset_that_fails(self):
        def fails(record):
            raise ZeroDivisionError

        try:
            list(tf.data.TFRecordDataset(self.files.examples).map(fails, num_parallel_calls=2).prefetch(2))
        except Exception:
            return
        raise Wrong("an error was lost")

    def do_write(self):
        path = os.path.join(self.folder, "written")
        kind = self.draw.choice(COMPRESSIONS)
        with tf.io.TFRecordWriter(path, kind, num_threads=2) as writer:
            writer.write_batch(RECORDS)
            writer.flush()
            writer.write(b"x")
        expect_records(list(tf.data.TFRecordDataset(path, kind)), [*RECORDS, b"x"])

    def do_write_and_drop(self):
        writer = tf.io.TFRecordWriter(os.path.join(self.folder, "dropped"), self.draw.choice(COMPRESSIONS))
        writer.write_batch(RECORDS)

    def do_write_shards(self):
        out = tempfile.mkdtemp(dir=self.folder)
        writer = tf.ExampleWriter(
            out + "/rows", num_shards=3, compression=self.draw.choice(COMPRESSIONS), num_threads=2
        )
        writer.write(COLUMNS)
        end = self.draw.choice(["close", "abort", "drop"])
        if end != "drop":
            getattr(writer, end)()
        del writer
        gc.collect()
        expect("other files", len(os.listdir(out)) == (3 if end == "close" else 0))
        shutil.rmtree(out)

    def do_threads(self):
        """Several threads read, encode and parse at the same time."""
        problems = []

        def run():
            try:
                for batch in tf.ShardReader(self.files.examples, FEATURES, num_threads=2):
                    tf.encode_examples({"i": batch["i"]}, num_threads=2)
            except Exception as error:
                problems.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect(f"a thread: {problems}", not problems)


def resident():
    """Bytes of memory that are held, without those that the allocator keeps for the next request.

    What it keeps depends on which threads came at the same time, and goes up for minutes: a leak of 20 MB would hide
    behind it.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not in other C libraries than GNU's
    if trim:
        trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def threads():
    """How many there are when those that wait for work have ended, at the latest after a few seconds."""
    fewest = len(os.listdir("/proc/self/task"))
    for _ in range(30):
        time.sleep(0.1)
        gc.collect()  # each time: a thread that was still at work when its iterator was dropped may leave a cycle
        fewest = min(fewest, len(os.listdir("/proc/self/task")))
    return fewest


def levels():
    return {"threads": threads(), "descriptors": descriptors(), "memory": resident()}


def soak(seconds, seed, say=print):
    """(rounds, wrong)."""
    rounds, wrong, told = 0, 0, set()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        work = Soak(folder, seed)

        def work_until(end, least):
            nonlocal rounds, wrong
            first = rounds
            while time.monotonic() < end or rounds < first + least:
                one = work.work[rounds % len(work.work)] if rounds < least else work.draw.choice(work.work)
                rounds += 1
                try:
                    one()
                except Exception as error:
                    wrong += 1
                    problem = f"{one.__name__}: {type(error).__name__}: {error}"
                    if problem not in told:  # once
                        say(f"round {rounds}, {problem}\n{traceback.format_exc()}")
                    told.add(problem)

        work_until(time.monotonic() + seconds / 4, 2 * len(work.work))
        before = levels()
        work_until(time.monotonic() + seconds * 3 / 4, 0)
        after = levels()
    for what, start in before.items():
        if after[what] > start + (GROWTH if what == "memory" else 0):
            wrong += 1
            say(f"{what} grew from {start} to {after[what]}")
    say(", ".join(f"{what} {before[what]} to {after[what]}" for what in before))
    return rounds, wrong


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tools.faults.soak", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    rounds, wrong = soak(args.minutes * 60, args.seed, lambda text: print(text, flush=True))
    print(f"{rounds} rounds, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
