"""Whatever the place of a file, what a use of it yields is what it yields over local files."""

import json

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import HEADER, frames, offsets

FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "tags": tf.io.VarLenFeature(tf.string),
    "vector": tf.io.FixedLenFeature([2], tf.float32),
}
ROWS = 120
EXAMPLES = tf.encode_examples(
    {
        "id": np.arange(ROWS),
        "tags": [[b"t%d" % j for j in range(i % 4)] for i in range(ROWS)],
        "vector": np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2),
    }
).tolist()
FILES = {"a": EXAMPLES[:50], "b": EXAMPLES[50:51], "c": EXAMPLES[51:]}


@pytest.fixture
def both(place, local):
    """(paths, {}) and (URLs, what the store needs) of the files, one of them damaged and one compressed."""
    contents = {name: frames(records) for name, records in FILES.items()}
    damaged = bytearray(contents["c"])
    damaged[offsets(FILES["c"])[20] + HEADER + 3] ^= 1
    contents["damaged"] = bytes(damaged)
    contents["cut"] = contents["a"][:-3]
    with tf.io.TFRecordWriter(local.url("zipped"), "GZIP") as writer:
        writer.write_batch(EXAMPLES)
    with open(local.url("zipped"), "rb") as file:
        contents["zipped"] = file.read()
    paths = {name: local.put(name, data) for name, data in contents.items()}
    urls = {name: place.put(name, data) for name, data in contents.items()}
    return (paths, {}), (urls, {"storage_options": place.options})


def plain(value):
    """A value of any use, as nested lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, tf.SparseTensor):
        return [plain(value.indices), plain(value.values), plain(value.dense_shape)]
    return value.tolist() if hasattr(value, "tolist") else value


def shards(files, options, **arguments):
    return [plain(list(tf.ShardReader(files, shard=(i, 3), **arguments, **options))) for i in range(3)]


def resumed(files, options, **arguments):
    reader = tf.ShardReader(files, batch_size=7, **arguments, **options)
    iterator = iter(reader)
    head = [plain(next(iterator)) for _ in range(5)]
    state = json.loads(json.dumps(reader.state_dict()))
    rest = tf.ShardReader(files, batch_size=7, **arguments, **options)
    rest.load_state_dict(state)
    return [*head, *plain(list(rest))]


def skipped(files, options, on_corrupt):
    reader = tf.ShardReader(files, on_corrupt=on_corrupt, **options)
    records = plain(list(reader))
    return records, [(stretch.offset, stretch.bytes, stretch.reason) for stretch in reader.skipped]


def failure(files, options):
    """The records before the damage, and the error without the place's own name."""
    records = []
    with pytest.raises(tf.DataLossError) as caught:
        records.extend(iter(tf.data.TFRecordDataset(files, **options)))
    return records, caught.value.offset, caught.value.record_index, caught.value.reason


WHOLE = ["a", "b", "c"]
USES = {
    "records": (WHOLE, lambda files, options: list(tf.data.TFRecordDataset(files, **options))),
    "interleaved records": (
        WHOLE,
        lambda files, options: list(tf.data.TFRecordDataset(files, num_parallel_reads=2, **options)),
    ),
    "a pipeline": (
        WHOLE,
        lambda files, options: plain(
            list(tf.data.TFRecordDataset(files, **options).skip(3).shuffle(20, seed=1).batch(9).take(8).repeat(2))
        ),
    ),
    "parsed elements": (
        WHOLE,
        lambda files, options: plain(
            list(tf.data.TFRecordDataset(files, **options).map(lambda x: tf.io.parse_single_example(x, FEATURES)))
        ),
    ),
    "batches of columns": (
        WHOLE,
        lambda files, options: plain(list(tf.ShardReader(files, FEATURES, batch_size=16, **options))),
    ),
    "an inferred schema": (WHOLE, lambda files, options: repr(tf.infer_features(files, **options))),
    "a table": (WHOLE, lambda files, options: tf.read_table(files, **options).to_pylist()),
    "a table of some columns": (
        WHOLE,
        lambda files, options: tf.read_table(files, columns=["id"], **options).to_pylist(),
    ),
    "equal shards": (WHOLE, lambda files, options: shards(files, options, equal_shards="drop", batch_size=4)),
    "shards by file": (WHOLE, lambda files, options: shards(files, options, shard_by="file")),
    "shards by record": (WHOLE, lambda files, options: shards(files, options, shard_by="record")),
    "a length": (WHOLE, lambda files, options: len(tf.ShardReader(files, batch_size=7, **options))),
    "a state": (WHOLE, resumed),
    "a state of a shuffle": (WHOLE, lambda files, options: resumed(files, options, shuffle_buffer=30, seed=2)),
    "a state of a global shuffle": (WHOLE, lambda files, options: resumed(files, options, global_shuffle=True, seed=2)),
    "two epochs of files in any order": (
        WHOLE,
        lambda files, options: plain(list(tf.ShardReader(files, shuffle_files=True, seed=4, num_epochs=2, **options))),
    ),
    "a compressed file": (["zipped"], lambda files, options: plain(list(tf.ShardReader(files, **options)))),
    "skipped damage": (["a", "damaged", "b"], lambda files, options: skipped(files, options, "skip")),
    "a skipped file": (["a", "damaged", "b"], lambda files, options: skipped(files, options, "skip_file")),
    "a skipped end": (["cut", "b"], lambda files, options: skipped(files, options, "skip")),
    "damage": (["a", "damaged"], failure),
    "a cut file": (["cut"], failure),
    "an index": (["a"], lambda files, options: plain(tf.RecordIndex.build(files[0], **options).offsets)),
    "records by number": (WHOLE, lambda files, options: plain(tf.IndexedReader(files, **options).take([119, 0, 50]))),
    "columns by number": (
        WHOLE,
        lambda files, options: plain(tf.IndexedReader(files, FEATURES, **options).take([7, 51])),
    ),
}


@pytest.mark.parametrize("place", ["memory", "s3", "http_folder"], indirect=True)
@pytest.mark.parametrize("use", USES)
def test_a_use_yields_what_it_yields_over_local_files(both, use):
    names, result_of = USES[use]
    (paths, _), (urls, options) = both
    expected = result_of([paths[name] for name in names], {})
    assert expected
    assert result_of([urls[name] for name in names], options) == expected
