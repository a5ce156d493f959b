"""Records for functions on blocks, which differ in everything, and the outcomes of datasets over them."""

import tfrecord_fast.tensorflow as tf

FEATURES = {
    "a": tf.io.FixedLenFeature([3], tf.int64),
    "s": tf.io.FixedLenFeature([], tf.string),
    "x": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0),
    "v": tf.io.VarLenFeature(tf.int64),
    "t": tf.io.VarLenFeature(tf.string),
    "q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    "pairs": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "r": tf.io.RaggedFeature(tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def _feature(values):
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(i):
    features = {
        "a": [i, i * 2, i % 7],
        "s": [b"str%d" % i],
        "v": list(range(i % 5)),
        "t": [b"w%d" % j for j in range(i % 3)] or [],
        "q": list(range(i % 4)),
        "pairs": [float(j) for j in range(2 * (i % 3))],
        "r": [i] * (i % 6),
        "label": [i % 10],
    }
    if i % 4:
        features["x"] = [i * 0.5]
    filled = {key: _feature(values) for key, values in features.items() if values}
    return tf.train.Example(features=tf.train.Features(feature=filled)).SerializeToString()


def write(path, count, bad=()):
    """Write `count` records; those whose numbers are in `bad` lack the feature "a"."""
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(count):
            record = example(i)
            if i in bad:
                parsed = tf.train.Example.FromString(record)
                del parsed.features.feature["a"]
                record = parsed.SerializeToString()
            writer.write(record)
    return str(path)


def shown(value):
    """Return a value with its types, shapes and dtypes, which `==` compares."""
    if isinstance(value, dict):
        return [(key, shown(item)) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(shown, value)]
    if isinstance(value, tf.SparseTensor):
        return ["sparse", shown(value.indices), shown(value.values), shown(value.dense_shape)]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.dtype.name, value.to_list()]
    if isinstance(value, tf.Tensor):
        array = value.numpy()
        return [value.dtype.name, tuple(value.shape), array.tolist() if hasattr(array, "tolist") else array]
    return [type(value).__name__, value]


def outcomes(dataset, most_errors=60):
    """Return the elements, and the classes and messages of the errors in their places."""
    results, errors, iterator = [], 0, iter(dataset)
    while errors < most_errors:
        try:
            results.append(shown(next(iterator)))
        except StopIteration:
            break
        except Exception as error:
            results.append((type(error).__name__, str(error)))
            errors += 1
    return results
