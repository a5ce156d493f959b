"""Shards of random records, some of them compressed."""

import random

import tfrecord_fast as tf

COMPRESSIONS = ["", "GZIP", "", "ZSTD", "", "SNAPPY", "ZLIB"]


def make_files(folder, count, most=120, seed=5):
    draw = random.Random(seed)
    paths, records = [], []
    for file in range(count):
        path = str(folder / f"{file:03}.tfrecord")
        mine = [b"%d:%d:" % (file, i) + draw.randbytes(draw.randrange(200)) for i in range(draw.randrange(most))]
        with tf.io.TFRecordWriter(path, COMPRESSIONS[file % len(COMPRESSIONS)]) as writer:
            writer.write_batch(mine)
        paths.append(path)
        records.append(mine)
    return paths, records
