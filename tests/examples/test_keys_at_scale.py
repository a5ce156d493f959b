"""Thousands of keys in the worst order, or chosen to share a bucket, take at most five times as long as any others."""

import itertools
import random
import time

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.figures import collector

pytestmark = pytest.mark.alone  # compares times

WORD = 1 << 64
MURMUR = 0xC6A4A7935BD1E995
UNWANTED = 16_000
NUMBERS = itertools.count()


def with_another(features):
    """Add a feature that no parser has met: parsers that have learnt other keys do not learn these."""
    return {**features, f"{next(NUMBERS)}": tf.FixedLenFeature([], tf.int64, 0)}


def cpu_seconds(run, rounds=3):
    def once():
        start = time.process_time()
        run()
        return time.process_time() - start

    return min(once() for _ in range(rounds))


def as_bytes(*words):
    return b"".join(word.to_bytes(8, "little") for word in words)


def multiplication_collisions(count):
    """Yield keys that collide where words are multiplied in turn by one odd number, and the upper half is folded down:
    flipping the highest bit of a word flips bits 63 and 31 of the state, whatever the seed, and the next word undoes
    that."""
    rng = random.Random(1)
    pairs = [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(count.bit_length())]
    flips = itertools.product((0, 1 << 63), repeat=len(pairs))
    for flip in itertools.islice(flips, count):
        yield b"".join(as_bytes(a ^ bit, b ^ bit ^ bit >> 32) for bit, (a, b) in zip(flip, pairs, strict=True))


def murmur_collisions(count):
    """Yield keys with one hash by the std::hash of libstdc++, MurmurHash64A with a constant seed."""
    rng, inverse = random.Random(2), pow(MURMUR, -1, WORD)
    for _ in range(count):
        word = rng.getrandbits(64)
        mixed = word * MURMUR % WORD
        mixed = (mixed ^ mixed >> 47) * MURMUR % WORD
        state = (0xC70F6907 ^ 16 * MURMUR % WORD ^ mixed) * MURMUR % WORD
        mixed = (state ^ 12345) * inverse % WORD
        yield as_bytes(word, (mixed ^ mixed >> 47) * inverse % WORD)


def random_keys(count, size):
    rng = random.Random(3)
    return [rng.randbytes(size) for _ in range(count)]


def record(keys):
    return wire.example([(key, wire.feature("int64", [7])) for key in keys])


@pytest.mark.parametrize("colliding", [multiplication_collisions, murmur_collisions])
@pytest.mark.parametrize("way", ["parse_example", "parse_sequence_example", "infer_features", "StatsCollector"])
def test_unwanted_keys_that_collide(tmp_path, way, colliding):
    def seconds(keys):
        records = [record(keys), record(reversed(keys))]
        path = tmp_path / "data.tfrecord"
        with tf.TFRecordWriter(path) as writer:
            for data in records:
                writer.write(data)

        def run():
            if way == "parse_example":
                tf.parse_example(records, with_another({}), num_threads=1)
            elif way == "parse_sequence_example":
                tf.parse_sequence_example(records, with_another({}), {}, num_threads=1)
            elif way == "infer_features":
                tf.infer_features(path)
            else:
                collector(records)

        return cpu_seconds(run)

    chosen = list(colliding(UNWANTED))
    assert seconds(chosen) < 5 * seconds(random_keys(len(chosen), len(chosen[0])))


@pytest.mark.parametrize("wanted", [1, 4000])
@pytest.mark.parametrize("sequences", [False, True])
def test_random_subsets_in_random_order(wanted, sequences):
    rng = random.Random(4)
    keys = [f"feature_number_{i:05}" for i in range(4000)]
    features = {key: tf.FixedLenFeature([], tf.int64, 0) for key in keys[:wanted]}
    subsets = [rng.sample(keys, 2000) for _ in range(60)]

    def seconds(orders):
        records = [record([key.encode() for key in order]) for order in orders]
        requested = with_another(features)
        if sequences:
            return cpu_seconds(lambda: tf.parse_sequence_example(records, requested, {}, num_threads=1))
        return cpu_seconds(lambda: tf.parse_example(records, requested, num_threads=1))

    best = seconds([keys, *map(sorted, subsets)])  # in the order that the first record has shown
    assert seconds(subsets) < 5 * best
