"""A reader that is resumed meets the damage that the uninterrupted one meets, and meets it at the same place."""

import contextlib
import gzip
import os
import random

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

RECORDS = [b"%04d" % i for i in range(1000)]


def taken(reader):
    """([(batch, the state after it)], the error, or None)."""
    batches = []
    try:
        for batch in reader:
            batches.append((batch.tolist(), reader.state_dict()))
    except tf.DataLossError as error:
        return batches, str(error)
    return batches, None


def check_each(make, states=lambda of: of):
    """Resumes after each batch; gives the error."""
    whole, error = taken(make())
    for given, (_, state) in states(list(enumerate(whole, 1))):
        resumed = make()
        resumed.load_state_dict(state)
        rest, again = taken(resumed)
        assert ([batch for batch, _ in rest], again) == ([batch for batch, _ in whole[given:]], error)
    return error


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("byte", [0, -12], ids=["data", "header"])
@pytest.mark.parametrize(
    "options",
    [{"batch_size": 50}, {"batch_size": 40, "shuffle_buffer": 100, "seed": 3}],  # 700 records are whole batches
    ids=["in order", "shuffled"],
)
def test_damage_comes_when_reading_gets_there(tmp_path, pack, byte, options):
    path, data = tmp_path / "a", bytearray(frames(RECORDS))
    data[data.index(RECORDS[700]) + byte] ^= 1
    path.write_bytes(pack(bytes(data)))
    assert "record 700" in check_each(lambda: tf.ShardReader(path, **options))


def write(path, compression, draw):
    records = [b"%05d" % i + draw.randbytes(draw.choice([0, 10, 3000])) for i in range(draw.choice([50, 400]))]
    if compression == "one part":
        path.write_bytes(gzip.compress(frames(records)))
    else:
        with tf.io.TFRecordWriter(path, compression) as writer:
            writer.write_batch(records)


def damage(path, draw):
    data = bytearray(path.read_bytes())
    kind = draw.choice(["anywhere", "end", "cut"])
    if kind == "cut":
        del data[draw.randrange(1, len(data)) :]
    else:
        data[draw.randrange(len(data)) if kind == "anywhere" else -draw.randrange(1, 20)] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("compression", ["", "GZIP", "one part", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("seed", range(6))
def test_any_damage_comes_to_a_reader_that_is_resumed(tmp_path, compression, seed):
    draw = random.Random(seed)
    paths = [tmp_path / str(i) for i in range(draw.choice([1, 3]))]
    for path in paths:
        write(path, compression, draw)
    damage(paths[-1], draw)
    options = {
        "batch_size": draw.choice([1, 7, 40]),
        "shuffle_buffer": draw.choice([0, 3, 60]),
        "seed": 3,
        "cycle_length": draw.choice([1, 2]),
        "block_length": draw.choice([1, 5]),
        "num_threads": draw.choice([1, 2]),
        "prefetch_bytes": draw.choice([1 << 14, 1 << 22]),
    }
    last_and_some = lambda states: [*draw.sample(states, min(3, len(states))), *states[-1:]]  # noqa: E731
    check_each(lambda: tf.ShardReader(paths, **options), last_and_some)


@pytest.mark.parametrize("compression", ["", "GZIP", "one part", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("on_corrupt", ["raise", "skip", "skip_file"])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_lost_by_damage_after_the_state_was_saved_is_told(tmp_path, compression, on_corrupt, seed):
    """Before the place of the state, too, where a compressed file has to be read again."""
    draw, path = random.Random(seed), tmp_path / "a"
    records = [b"%02d" % i * 5 for i in range(50)]
    if compression == "one part":
        path.write_bytes(gzip.compress(frames(records)))
    else:
        with tf.io.TFRecordWriter(path, compression) as writer:
            for i, record in enumerate(records):
                writer.write(record)
                if seed % 2 and i in (15, 31):
                    writer.flush()  # further parts
    options = {"batch_size": 20, "on_corrupt": on_corrupt, "shuffle_buffer": draw.choice([0, 0, 10]), "seed": 1}
    first = tf.ShardReader(path, **options)
    iterator = iter(first)
    given = next(iterator).tolist() + next(iterator).tolist()
    state = first.state_dict()
    whole = path.read_bytes()
    for _ in range(10):
        path.write_bytes(whole)
        damage(path, draw)
        resumed, rest = tf.ShardReader(path, **options), []
        resumed.load_state_dict(state)
        try:
            for batch in resumed:
                rest += batch.tolist()
        except tf.DataLossError:
            continue
        except ValueError as error:
            assert "has changed since" in str(error) and path.stat().st_size < len(whole) and not rest
            continue
        assert not set(rest) & set(given)
        assert resumed.skipped or set(rest) == set(records) - set(given)


@pytest.mark.parametrize("compression", ["GZIP", "ZSTD"])
def test_a_mark_that_is_damaged_later_brings_no_record_twice(tmp_path, compression):
    """A part that ends well has the size that it has, whatever its mark says."""
    records, path = [b"%02d" % i * 10 for i in range(50)], tmp_path / "a"
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(records[:32])
        writer.flush()
        writer.write_batch(records[32:])
    first = tf.ShardReader(path, batch_size=20, on_corrupt="skip")
    iterator = iter(first)
    given = next(iterator).tolist() + next(iterator).tolist()
    state, whole = first.state_dict(), path.read_bytes()
    for bit in range(8 * 32):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        resumed = tf.ShardReader(path, batch_size=20, on_corrupt="skip")
        resumed.load_state_dict(state)
        rest = []
        with contextlib.suppress(tf.DataLossError):  # it says that the file ends before the place
            for batch in resumed:
                rest += batch.tolist()
        assert not set(rest) & set(given), bit


@pytest.mark.parametrize("seed", range(5))
def test_records_before_damage_are_of_the_same_order_of_files(tmp_path, seed):
    """A batch that can't be made is made anew of its records up to the damage, whatever order is drawn next."""
    for number in range(4):
        with tf.io.TFRecordWriter(tmp_path / f"{number}.tfrecord") as writer:
            for record in range(10):
                writer.write(b"%d-%d" % (number, record))
    damaged = tmp_path / "2.tfrecord"
    data = bytearray(damaged.read_bytes())
    data[-10] ^= 1  # in its last record
    damaged.write_bytes(data)
    names = tf.data.Dataset.list_files(f"{tmp_path}/*.tfrecord", seed=seed)
    order = [os.path.basename(name)[:1] for name in tf.data.Dataset.list_files(f"{tmp_path}/*.tfrecord", seed=seed)]
    good = [b"%s-%d" % (file, record) for file in order for record in range(10)][: 10 * order.index(b"2") + 9]
    taken = [record for batch in tf.data.TFRecordDataset(names).take(len(good)).batch(7) for record in batch]
    assert taken == good
