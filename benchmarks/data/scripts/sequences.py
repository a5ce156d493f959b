"""SequenceExamples: a context, and two lists of steps."""

import tensorflow as tf

BATCH_SIZE = 32
SHUFFLE_BUFFER = 1000

context_features = {
    "user_id": tf.io.FixedLenFeature([], dtype=tf.int64),
    "score": tf.io.FixedLenFeature([], dtype=tf.float32),
}
sequence_features = {
    "items": tf.io.FixedLenSequenceFeature([], dtype=tf.int64),
    "frames": tf.io.FixedLenSequenceFeature([8], dtype=tf.float32),
}


def parse(serialized):
    context, sequence = tf.io.parse_single_sequence_example(
        serialized, context_features=context_features, sequence_features=sequence_features
    )
    items = tf.cast(sequence["items"], tf.int32)
    length = tf.shape(items)[0]
    return {"items": items, "length": length, "frames": sequence["frames"]}, context["score"]


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parse, num_parallel_calls=4)
    dataset = dataset.shuffle(shuffle_buffer)
    dataset = dataset.padded_batch(BATCH_SIZE, padded_shapes=({"items": [None], "length": [], "frames": [None, 8]}, []))
    return dataset.prefetch(1)
