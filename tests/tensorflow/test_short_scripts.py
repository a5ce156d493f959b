"""Short scripts in the manner of tutorials, notebooks and tools that write TFRecords, which print what they print with
TensorFlow. All run in one process, once for each package."""

import json
import os
import subprocess
import sys

import pytest

from tests.support import live_tensorflow
from tests.support.paths import ROOT

pytest.importorskip("google.protobuf")
pytest.importorskip("PIL")
pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

BEGIN = """
import os, sys, random, glob, json, math
import numpy as np
import tensorflow as tf

def _int64(v):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=v if isinstance(v, (list, tuple, np.ndarray)) else [v]))

def _bytes(v):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=v if isinstance(v, list) else [v]))

def _float(v):
    return tf.train.Feature(float_list=tf.train.FloatList(value=v if isinstance(v, (list, tuple, np.ndarray)) else [v]))

rng = np.random.default_rng(3)

def image(k):
    return rng.integers(0, 255, (8 + k, 6, 3), dtype=np.uint8)
"""
SCRIPTS = {}
SCRIPTS["od_create"] = r"""
tf1 = tf.compat.v1
writer = tf1.python_io.TFRecordWriter('od.record')
label_map = {b'cat': 1, b'dog': 2}
for k in range(4):
    encoded = tf.io.encode_png(image(k)).numpy()
    h, w = 8 + k, 6
    xmins, xmaxs, ymins, ymaxs, classes_text, classes = [], [], [], [], [], []
    for name in [b'cat', b'dog'][:k % 3]:
        xmins.append(1 / w); xmaxs.append(3 / w); ymins.append(2 / h); ymaxs.append(4 / h)
        classes_text.append(name); classes.append(label_map[name])
    ex = tf.train.Example(features=tf.train.Features(feature={
        'image/height': _int64(h), 'image/width': _int64(w), 'image/filename': _bytes(b'f%d.png' % k), 'image/encoded': _bytes(encoded),
        'image/format': _bytes('png'.encode('utf8')), 'image/object/bbox/xmin': _float(xmins), 'image/object/bbox/xmax': _float(xmaxs),
        'image/object/bbox/ymin': _float(ymins), 'image/object/bbox/ymax': _float(ymaxs), 'image/object/class/text': _bytes(classes_text), 'image/object/class/label': _int64(classes)}))
    writer.write(ex.SerializeToString())
writer.close()
for r in tf1.python_io.tf_record_iterator('od.record'):
    e = tf.train.Example(); e.ParseFromString(r)
    f = e.features.feature
    print(f['image/filename'].bytes_list.value[0], f['image/height'].int64_list.value[0], list(f['image/object/class/label'].int64_list.value), [round(x, 4) for x in f['image/object/bbox/xmin'].float_list.value])
keys = {'image/encoded': tf.io.FixedLenFeature((), tf.string, default_value=''), 'image/height': tf.io.FixedLenFeature((), tf.int64, 1), 'image/object/bbox/xmin': tf.io.VarLenFeature(tf.float32), 'image/object/bbox/ymin': tf.io.VarLenFeature(tf.float32), 'image/object/class/label': tf.io.VarLenFeature(tf.int64)}
def decode(s):
    p = tf.io.parse_single_example(s, keys)
    for k in p:
        if isinstance(p[k], tf.SparseTensor):
            p[k] = tf.sparse.to_dense(p[k], default_value='' if p[k].dtype == tf.string else 0)
    img = tf.io.decode_image(p['image/encoded'], channels=3)
    img.set_shape([None, None, 3])
    boxes = tf.stack([p['image/object/bbox/ymin'], p['image/object/bbox/xmin']], axis=-1)
    return img, boxes, p['image/object/class/label']
for img, b, l in tf.data.TFRecordDataset('od.record').map(decode):
    print(img.shape, img.dtype, int(tf.reduce_sum(tf.cast(img, tf.int32))), b.numpy().round(3).tolist(), l.numpy())
"""  # noqa: E501 - as scripts are
SCRIPTS["kaggle"] = r"""
AUTO = tf.data.experimental.AUTOTUNE
try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
except ValueError:
    tpu = None
strategy = tf.distribute.get_strategy() if tpu is None else None
print('REPLICAS:', strategy.num_replicas_in_sync)
IMAGE_SIZE = [16, 16]
BATCH_SIZE = 4 * strategy.num_replicas_in_sync
for part in range(2):
    with tf.io.TFRecordWriter('flowers%02d-5.tfrec' % part) as w:
        for k in range(5):
            img = tf.io.encode_png(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8))
            w.write(tf.train.Example(features=tf.train.Features(feature={'image': _bytes(img.numpy()), 'class': _int64(k), 'id': _bytes(b'id%d' % k)})).SerializeToString())
FILES = tf.io.gfile.glob('flowers*.tfrec')
def decode_image(data):
    image = tf.image.decode_png(data, channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    return tf.reshape(image, [*IMAGE_SIZE, 3])
def read_labeled(example):
    fmt = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)}
    example = tf.io.parse_single_example(example, fmt)
    return decode_image(example['image']), tf.cast(example['class'], tf.int32)
def load(filenames, ordered=False):
    ignore_order = tf.data.Options()
    if not ordered: ignore_order.experimental_deterministic = True
    ds = tf.data.TFRecordDataset(sorted(filenames)); ds = ds.with_options(ignore_order)
    return ds.map(read_labeled, num_parallel_calls=AUTO)
ds = load(FILES)
print(ds)
def onehot(image, label): return image, tf.one_hot(label, 5)
for img, lab in ds.map(onehot).batch(BATCH_SIZE).prefetch(AUTO):
    print(img.numpy().shape, lab.numpy().tolist()[0], round(float(tf.reduce_mean(img)), 5))
import re
n = np.sum([int(re.compile(r"-([0-9]*)\.").search(f).group(1)) for f in FILES]); print(n)
STEPS = n // BATCH_SIZE; print(STEPS)
print(ds.repeat().shuffle(1).batch(3).element_spec)
def cutmix(img, lab):
    P = tf.cast(tf.random.uniform([], 0, 1) <= 2.0, tf.int32)
    return img[:, ::-1], lab + P
print([int(l) for _, l in ds.map(cutmix)])
"""  # noqa: E501 - as scripts are
SCRIPTS["gfile"] = r"""
g = tf.io.gfile
g.makedirs('d/e')
with g.GFile('d/e/x.txt', 'w') as f: f.write('line1\nline2\n')
with g.GFile('d/e/x.txt') as f: print(f.read())
with g.GFile('d/e/x.txt') as f: print([l.strip() for l in f])
with g.GFile('d/e/x.txt', 'rb') as f: print(f.read(3), f.size(), f.tell()); f.seek(0); print(f.readline())
with g.GFile('d/e/x.txt', 'a') as f: f.write('more')
print(g.exists('d'), g.isdir('d'), g.isdir('d/e/x.txt'), g.listdir('d'), sorted(g.glob('d/*/*')), g.stat('d/e/x.txt').length)
g.copy('d/e/x.txt', 'd/y'); g.rename('d/y', 'd/z'); print(sorted(g.listdir('d')))
print([(a, sorted(b), sorted(c)) for a, b, c in g.walk('d')])
g.remove('d/z'); g.rmtree('d'); print(g.exists('d'), g.join('a', 'b'))
try: g.GFile('nope').read()
except tf.errors.NotFoundError as e: print('notfound')
try: g.remove('nope')
except tf.errors.NotFoundError as e: print('notfound')
print(tf.io.read_file.__name__)
tf.io.write_file('w.txt', 'hello'); print(tf.io.read_file('w.txt').numpy(), tf.io.matching_files('*.txt').numpy())
"""  # noqa: E501 - as scripts are
SCRIPTS["mnist"] = r"""
def serialize(img, lab):
    return tf.train.Example(features=tf.train.Features(feature={'image': _bytes([img.tobytes()]), 'label': _int64(int(lab))})).SerializeToString()
imgs = rng.integers(0, 255, (10, 28, 28), dtype=np.uint8); labs = np.arange(10)
with tf.io.TFRecordWriter('mnist.tfrecord') as w:
    for i, l in zip(imgs, labs): w.write(serialize(i, l))
def parse(x):
    p = tf.io.parse_single_example(x, {'image': tf.io.FixedLenFeature([], tf.string), 'label': tf.io.FixedLenFeature([], tf.int64)})
    im = tf.io.decode_raw(p['image'], tf.uint8)
    im = tf.reshape(im, [28, 28, 1])
    im = tf.image.convert_image_dtype(im, tf.float32)
    return im, tf.one_hot(p['label'], depth=10, dtype=tf.float32)
ds = tf.data.TFRecordDataset(['mnist.tfrecord']).map(parse).cache().batch(4, drop_remainder=True)
for x, y in ds: print(x.shape, y.shape, tf.argmax(y, axis=1).numpy(), '%.4f' % x.numpy().sum())
print(ds.element_spec, len(list(ds)), ds.cardinality().numpy())
print(tf.data.experimental.cardinality(ds).numpy())
"""  # noqa: E501 - as scripts are
SCRIPTS["shard_write"] = r"""
def shards(n):
    for i in range(n):
        name = 'train-%.5d-of-%.5d' % (i, n)
        with tf.io.TFRecordWriter(name) as w:
            for j in range(3): w.write(tf.train.Example(features=tf.train.Features(feature={'v': _float([i + j / 10]), 'n': _bytes(str(i).encode())})).SerializeToString())
shards(3)
files = tf.data.Dataset.list_files('train-*-of-*', shuffle=False)
print([f.numpy() for f in files])
ds = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
f = {'v': tf.io.FixedLenFeature([1], tf.float32), 'n': tf.io.FixedLenFeature([], tf.string)}
for b in ds.batch(4).map(lambda x: tf.io.parse_example(x, f)): print(tf.squeeze(b['v'], 1).numpy().round(2), b['n'].numpy())
print(sum(1 for _ in tf.data.TFRecordDataset(tf.io.gfile.glob('train*'))))
ds2 = tf.data.TFRecordDataset(sorted(tf.io.gfile.glob('train*')), num_parallel_reads=2)
print([tf.io.parse_single_example(r, f)['v'].numpy()[0].round(2) for r in ds2])
print(ds.shard(2, 1).reduce(np.int64(0), lambda n, _: n + 1).numpy())
"""  # noqa: E501 - as scripts are
SCRIPTS["sequence"] = r"""
def feat(v): return tf.train.Feature(int64_list=tf.train.Int64List(value=v))
ex = tf.train.SequenceExample()
ex.context.feature['length'].int64_list.value.append(3)
for t in [[1], [2], [3]]:
    ex.feature_lists.feature_list['tokens'].feature.add().int64_list.value.extend(t)
    ex.feature_lists.feature_list['w'].feature.add().float_list.value.extend([t[0] / 2, 1.0])
with tf.io.TFRecordWriter('s.tfrecord') as w:
    w.write(ex.SerializeToString())
def parse(s):
    c, q = tf.io.parse_single_sequence_example(s, context_features={'length': tf.io.FixedLenFeature([], tf.int64)}, sequence_features={'tokens': tf.io.FixedLenSequenceFeature([], tf.int64), 'w': tf.io.FixedLenSequenceFeature([2], tf.float32)})
    return c['length'], q['tokens'], q['w']
ds = tf.data.TFRecordDataset('s.tfrecord').map(parse)
print(ds)
for n, t, w in ds.padded_batch(2, padded_shapes=([], [None], [None, 2])): print(n.numpy(), t.numpy(), w.numpy())
ctx, seq, lens = tf.io.parse_sequence_example([ex.SerializeToString()], {'length': tf.io.VarLenFeature(tf.int64)}, {'tokens': tf.io.VarLenFeature(tf.int64)})
print(ctx['length'], seq['tokens'])
print(ex)
"""  # noqa: E501 - as scripts are
SCRIPTS["generator"] = r"""
def gen(n=3):
    for i in range(n): yield i, [i] * i, {'name': 'n%d' % i}
sig = (tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.int64), {'name': tf.TensorSpec((), tf.string)})
ds = tf.data.Dataset.from_generator(gen, output_signature=sig); print(ds.element_spec)
for a, b, c in ds: print(a, b.numpy(), c['name'].numpy())
ds = tf.data.Dataset.from_generator(lambda: gen(2), output_types=(tf.int32, tf.int64, {'name': tf.string})); print([tuple(map(str, (a, b.shape))) for a, b, _ in ds])
for e in ds.padded_batch(2, padded_shapes=([], [None], {'name': []}), padding_values=(0, tf.constant(-1, tf.int64), {'name': ''})): print(e)
with tf.io.TFRecordWriter('g') as w:
    for a, b, c in gen():
        f = tf.train.Features(feature={'a': tf.train.Feature(int64_list=tf.train.Int64List(value=[a])), 'b': tf.train.Feature(int64_list=tf.train.Int64List(value=b)), 'n': tf.train.Feature(bytes_list=tf.train.BytesList(value=[c['name'].encode()]))})
        w.write(tf.train.Example(features=f).SerializeToString())
desc = {'a': tf.io.FixedLenFeature([], tf.int64), 'b': tf.io.RaggedFeature(tf.int64), 'n': tf.io.FixedLenFeature([], tf.string)}
for b in tf.data.TFRecordDataset('g').batch(2).map(lambda x: tf.io.parse_example(x, desc)): print(b['b'], b['b'].to_tensor(), b['n'].numpy(), b['b'].row_lengths().numpy(), b['b'].bounding_shape())
print(tf.data.TFRecordDataset('g').map(lambda x: tf.io.parse_single_example(x, desc)))
"""  # noqa: E501 - as scripts are
SCRIPTS["tf_features"] = r"""
arr = np.arange(6, dtype=np.float64).reshape(2, 3)
ex = tf.train.Example(features=tf.train.Features(feature={'a': _float(arr.ravel()), 'shape': _int64(list(arr.shape)), 'bin': _bytes(arr.tobytes()), 't': _bytes(tf.io.serialize_tensor(arr).numpy()), 'u': _bytes('é'.encode()), 'many': _bytes([b'x', b'y'])}))
s = ex.SerializeToString()
p = tf.io.parse_single_example(s, {'a': tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True), 'shape': tf.io.FixedLenFeature([2], tf.int64), 'bin': tf.io.FixedLenFeature([], tf.string), 't': tf.io.FixedLenFeature([], tf.string), 'u': tf.io.FixedLenFeature([], tf.string), 'many': tf.io.VarLenFeature(tf.string), 'gone': tf.io.FixedLenFeature([], tf.int64, default_value=-1)})
print(tf.reshape(p['a'], p['shape']), tf.reshape(tf.io.decode_raw(p['bin'], tf.float64), p['shape']), tf.io.parse_tensor(p['t'], out_type=tf.double), p['u'].numpy().decode('utf-8'), p['many'].values, p['gone'])
print(sorted(p.keys()), p['many'].indices, p['many'].dense_shape, tf.sparse.to_dense(p['many']), tf.sparse.to_dense(p['many'], default_value=''), p['many'].shape)
print(tf.train.Example.FromString(s).features.feature['shape'].int64_list.value[:], len(ex.features.feature), 'a' in ex.features.feature, ex.features.feature['u'].bytes_list.value[0])
e2 = tf.train.Example(); e2.features.feature['k'].int64_list.value.extend([1, 2]); e2.features.feature['z'].bytes_list.value.append(b'q'); print(e2, e2.ByteSize(), e2 == tf.train.Example.FromString(e2.SerializeToString()))
b = tf.io.parse_example([s, s], {'shape': tf.io.FixedLenFeature([2], tf.int64), 'many': tf.io.VarLenFeature(tf.string)}); print(b['shape'], b['many'])
b = tf.io.parse_example(tf.constant([s]), {'a': tf.io.RaggedFeature(tf.float32), 'sp': tf.io.SparseFeature('shape', 'shape', tf.int64, 4)}); print(b['a'])
print(tf.io.TFRecordOptions(compression_type='GZIP').compression_type)
with tf.io.TFRecordWriter('z', tf.io.TFRecordOptions(compression_type='ZLIB')) as w: w.write(s)
print(len(list(tf.data.TFRecordDataset('z', compression_type='ZLIB'))), next(iter(tf.data.TFRecordDataset('z', 'ZLIB'))).numpy() == s)
"""  # noqa: E501 - as scripts are
SCRIPTS["tfds_like"] = r"""
class Builder:
    features = {'x': tf.io.FixedLenFeature([3], tf.float32), 'y': tf.io.FixedLenFeature([], tf.int64), 'w': tf.io.FixedLenFeature([], tf.float32, 1.0)}
    def write(self, n):
        with tf.io.TFRecordWriter('b.tfrecord') as w:
            for i in range(n): w.write(tf.train.Example(features=tf.train.Features(feature={'x': _float(np.ones(3) * i), 'y': _int64(i % 2)})).SerializeToString())
    def input_fn(self, batch, training):
        ds = tf.data.TFRecordDataset('b.tfrecord')
        if training: ds = ds.shuffle(100).repeat(2)
        ds = ds.batch(batch).map(self.parse, num_parallel_calls=4)
        return ds.prefetch(1)
    @staticmethod
    def parse(s):
        f = tf.io.parse_example(s, Builder.features)
        y = f.pop('y'); w = f.pop('w')
        return f, y, w
b = Builder(); b.write(5)
for f, y, w in b.input_fn(2, False): print(sorted(f), f['x'].numpy().tolist(), y.numpy(), w.numpy(), list(f.items())[0][0])
print(sorted(np.concatenate([y.numpy() for _, y, _ in b.input_fn(3, True)]).tolist())); print(b.input_fn(2, False).element_spec)
ds = tf.data.experimental.make_batched_features_dataset('b.tfrecord', 2, Builder.features, label_key='y', num_epochs=1, shuffle=False)
for f, l in ds: print(f['x'].shape, l.numpy())
def split(f): f = dict(f); l = f.pop('y'); return f, l
print(next(iter(tf.data.TFRecordDataset('b.tfrecord').batch(2).apply(tf.data.experimental.parse_example_dataset(Builder.features)).map(split)))[1])
"""  # noqa: E501 - as scripts are
SCRIPTS["embedding_style"] = r"""
VOCAB = ['[PAD]', 'a', 'b', 'c']
def pad(seq, n): return seq + [0] * (n - len(seq))
with tf.io.TFRecordWriter('bert.tfrecord') as w:
    for i, text in enumerate(['a b', 'c', 'a c b']):
        ids = [VOCAB.index(t) for t in text.split()]
        feats = {'input_ids': _int64(pad(ids, 5)), 'input_mask': _int64(pad([1] * len(ids), 5)), 'label_ids': _int64([i % 2]), 'score': _float([i / 3])}
        w.write(tf.train.Example(features=tf.train.Features(feature=feats)).SerializeToString())
name_to_features = {'input_ids': tf.io.FixedLenFeature([5], tf.int64), 'input_mask': tf.io.FixedLenFeature([5], tf.int64), 'label_ids': tf.io.FixedLenFeature([], tf.int64), 'score': tf.io.FixedLenFeature([], tf.float32)}
def _decode_record(record, name_to_features):
    example = tf.io.parse_single_example(record, name_to_features)
    for name in list(example.keys()):
        t = example[name]
        if t.dtype == tf.int64: t = tf.cast(t, tf.int32)
        example[name] = t
    return example
d = tf.data.TFRecordDataset('bert.tfrecord').apply(tf.data.experimental.map_and_batch(lambda r: _decode_record(r, name_to_features), batch_size=2, num_parallel_batches=2, drop_remainder=False))
for b in d: print({k: v.numpy().tolist() for k, v in sorted(b.items())}, b['input_ids'].dtype)
def select(record):
    x = {'input_word_ids': record['input_ids'], 'input_mask': record['input_mask']}; y = record['label_ids']; return (x, y)
d = tf.data.TFRecordDataset('bert.tfrecord').map(lambda r: _decode_record(r, name_to_features)).map(select).batch(2, drop_remainder=True)
print(d.element_spec)
files = tf.data.Dataset.from_tensor_slices(tf.constant(['bert.tfrecord', 'bert.tfrecord'])).repeat(1).shuffle(buffer_size=1)
d = files.apply(tf.data.experimental.parallel_interleave(tf.data.TFRecordDataset, sloppy=False, cycle_length=2)); print(len(list(d)))
print([e['label_ids'].numpy() for e in d.map(lambda r: _decode_record(r, name_to_features))])
mask = tf.sequence_mask(tf.reduce_sum(tf.constant([[1, 1, 0]]), 1), 3); print(mask, tf.cast(mask, tf.float32)[:, tf.newaxis, :])
"""  # noqa: E501 - as scripts are
SCRIPTS["dataset_methods"] = r"""
D = tf.data.Dataset
show = lambda d: print([tf.nest.map_structure(lambda v: v.numpy().tolist() if hasattr(v.numpy(), 'tolist') else v.numpy(), e) for e in d])
d = D.range(6)
show(d.skip(1).take(3)); show(d.repeat(2).skip(9)); show(d.filter(lambda x: x % 2 == 0)); show(d.batch(4)); show(d.batch(4, drop_remainder=True)); show(d.window(2).flat_map(lambda w: w.batch(2))); show(d.enumerate(5).take(2)); show(D.zip((d, d.map(lambda x: -x))).take(2)); show(d.concatenate(D.range(2)))
show(d.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))); print(d.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)); show(d.take_while(lambda x: x < 2)); show(D.from_tensor_slices({'a': [1, 2], 'b': ['x', 'y']})); show(D.from_tensors(([1, 2], 'z'))); show(d.shard(3, 1)); show(d.apply(lambda s: s.take(1)))
show(d.interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=2, block_length=2)); show(D.from_tensor_slices([3, 1]).flat_map(lambda x: D.range(tf.cast(x, tf.int64)))); show(D.range(0, 10, 3)); show(d.batch(2).unbatch()); show(d.group_by_window(lambda x: x % 2, lambda k, g: g.batch(3), 3)); show(D.from_tensor_slices([1, 2, 2, 1]).unique())
print(d.cardinality(), len(d), D.range(3).repeat().cardinality() == tf.data.INFINITE_CARDINALITY, d.filter(lambda x: True).cardinality() == tf.data.UNKNOWN_CARDINALITY, tf.data.experimental.AUTOTUNE, d.element_spec, d.batch(2).element_spec.shape.as_list())
print(sorted(int(x) for x in d.shuffle(10, seed=1, reshuffle_each_iteration=True)), d.shuffle(6).batch(6).element_spec, bool(d), D.range(1).get_single_element())
it = iter(d); print(next(it).numpy(), it.get_next(), it.element_spec)
for i, x in enumerate(d.prefetch(tf.data.AUTOTUNE)): print(i, x.numpy(), end=' ')
print(); b = D.from_tensor_slices((np.arange(4).reshape(2, 2), np.array([0., 1.]))).batch(2); x, y = next(iter(b)); print(x, y, type(x.numpy()).__name__)
train, val = d.take(4), d.skip(4); print(len(list(train)), len(list(val))); print(list(map(int, d.cache().repeat(2)))); print([int(v) for v in D.sample_from_datasets([d], weights=[1.0])], [int(v) for v in D.choose_from_datasets([d, d.skip(3)], D.range(2).repeat(2))])
print(d.map(lambda x: (x, x)).map(lambda a, b: {'s': a + b}).element_spec, [e['s'].numpy() for e in d.map(lambda x: {'s': x})][:2]); print(D.from_tensor_slices([[1, 2, 3]]).map(lambda r: tf.unstack(r)).element_spec)
"""  # noqa: E501 - as scripts are
SCRIPTS["csv_tfrecord"] = r"""
open('d.csv', 'w').write('a,b,c\n1,2.5,x\n3,,y\n')
for row in tf.data.TextLineDataset('d.csv').skip(1): print(row.numpy(), [t.numpy() for t in tf.io.decode_csv(row, [[0], [0.0], ['']])])
ds = tf.data.experimental.make_csv_dataset('d.csv', batch_size=2, num_epochs=1, shuffle=False, label_name='c')
for f, l in ds: print({k: v.numpy().tolist() for k, v in sorted(f.items())}, l.numpy())
import csv
with tf.io.TFRecordWriter('d.tfrecord') as w:
    for line in csv.DictReader(open('d.csv')): w.write(tf.train.Example(features=tf.train.Features(feature={'a': _int64(int(line['a'])), 'c': _bytes(line['c'].encode()), 'b': _float(float(line['b'] or 0))})).SerializeToString())
for e in tf.data.TFRecordDataset('d.tfrecord').map(lambda s: tf.io.parse_single_example(s, {'a': tf.io.FixedLenFeature([], tf.int64), 'b': tf.io.FixedLenFeature([], tf.float32), 'c': tf.io.FixedLenFeature([], tf.string)})).as_numpy_iterator(): print(e)
print(tf.data.FixedLengthRecordDataset('d.csv', 19).take(1).get_single_element())
"""  # noqa: E501 - as scripts are
SCRIPTS["v1_style"] = r"""
tf = tf.compat.v1
tf.enable_eager_execution() if hasattr(tf, 'enable_eager_execution') else None
w = tf.python_io.TFRecordWriter('v'); [w.write(tf.train.Example(features=tf.train.Features(feature={'i': _int64(k), 's': _bytes(b'%d' % k)})).SerializeToString()) for k in range(5)]; w.close()
d = tf.data.TFRecordDataset('v').map(lambda r: tf.parse_single_example(r, {'i': tf.FixedLenFeature([], tf.int64), 's': tf.FixedLenFeature([], tf.string)}))
d = d.apply(tf.data.experimental.shuffle_and_repeat(1, 1)).batch(2)
it = tf.data.make_one_shot_iterator(d)
while True:
    try: e = it.get_next()
    except tf.errors.OutOfRangeError: break
    print(e['i'].numpy(), tf.to_float(e['i']), tf.string_to_number(e['s']), tf.reduce_sum(e['i'], axis=0), tf.shape(e['s']))
print(tf.data.get_output_shapes(d), tf.data.get_output_types(d))
print(tf.random_uniform([2]).shape, tf.read_file.__name__ if hasattr(tf, 'read_file') else '', tf.image.resize_images(tf.zeros([4, 4, 3]), [2, 2]).shape, tf.where([True, False]), tf.string_split(['a b', 'c']).values, tf.log(1.0) if hasattr(tf, 'log') else 0)
print(tf.logging.INFO, tf.gfile.Exists('v'), tf.gfile.ListDirectory('.'), tf.gfile.IsDirectory('.')); tf.gfile.MakeDirs('q/r'); tf.gfile.DeleteRecursively('q')
with tf.gfile.GFile('t', 'w') as f: f.write('x')
with tf.gfile.Open('t') as f: print(f.read())
with tf.gfile.FastGFile('t', 'rb') as f: print(f.read())
with tf.gfile.Open('t') as f: print(list(f))
print(tf.io.parse_example([next(tf.python_io.tf_record_iterator('v'))], {'i': tf.io.FixedLenFeature([], tf.int64)})['i'])
"""  # noqa: E501 - as scripts are
SCRIPTS["convert_dtype"] = r"""
x = tf.constant([[0.1, 0.5], [0.9, 1.0]]); print(tf.image.convert_image_dtype(x, tf.uint8), tf.image.convert_image_dtype(tf.constant([0, 128, 255], tf.uint8), tf.float32), tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.uint16))
a = tf.constant([1, 2, 3]); b = tf.cast(a, tf.float32); print(b / tf.reduce_max(b), (b - 1.) * 2., a[::-1], a[tf.newaxis], a[..., tf.newaxis].shape, tf.reshape(a, (3, -1)), a[-1], a[1:][0])
y = a + 1; y += 1; print(y, a, a.numpy().tolist(), a * a, tf.reduce_any(a > 2), (a > 1) & (a < 3), ~(a > 1), a >= [1, 5, 1], a == a, a != [1, 0, 3])
print(tf.strings.join(tf.unstack(tf.strings.as_string(a)), ','), [v.numpy() for v in a], max(a.numpy()), sorted(a.numpy(), reverse=True), sum(a.numpy()), tf.add_n([a, a]), tf.math.add(a, 1))
if tf.equal(a[0], 1): print('eq')
if a[0] == 1 and a[1] == 2: print('and')
d = {a[0].numpy(): 'x'}; print(d[1], a.ref() == a.ref(), hash(a.ref()) == hash(a.ref()))
try: {a: 1}
except TypeError: print('unhashable')
try: a[0] = 3
except TypeError: print('immutable')
print(tf.constant('a') + 'b', tf.constant(['a']) + ['b'], 'x' + tf.constant('y'), tf.constant(b'a').numpy() + b'c')
print(tf.zeros((2,), dtype=tf.string), tf.ones_like(a), tf.fill((2, 1), 'z'), tf.constant(0, shape=(1, 2)), tf.range(0, 10, 4), tf.range(3.0), tf.concat([a, [4]], axis=0), tf.concat([tf.constant(['a']), ['b']], 0), tf.stack([a[0], a[1]]), tf.one_hot(a, 4, on_value=5, off_value=-1), tf.one_hot(1, 3).dtype)
import pickle, copy
print(pickle.loads(pickle.dumps(a)), copy.deepcopy(a), np.array_equal(a, a.numpy()), np.allclose(b, [1, 2, 3]), np.concatenate([a, a]), np.expand_dims(a, 0).shape, np.max(a), np.where(a > 1), a.numpy().sum(), len(a), list(a.shape), tuple(a.shape), a.shape == (3,), a.shape[0] + 1)
"""  # noqa: E501 - as scripts are
SCRIPTS["repr"] = r"""
print(tf.constant(3)); print(repr(tf.constant(3))); print(tf.constant([1.5, 2])); print(repr(tf.constant([[1, 2], [3, 4]], dtype=tf.int64)))
print(tf.constant('x'), repr(tf.constant(['x', 'y']))); print(tf.constant(True)); print(tf.zeros([0, 3])); print(tf.ones([2, 2], tf.bool))
print(tf.TensorShape([None, 3]), tf.TensorShape(None), tf.float32, repr(tf.string), tf.TensorSpec([None], tf.int32))
print(f"{tf.constant(3)} {tf.constant(2.5):.2f}", '%d' % tf.constant(3), '{}'.format(tf.constant([1])), str(tf.constant(b'a')))
print(tf.constant([1, 2]).shape.as_list(), tf.constant([[1]]).get_shape()[0], tf.constant(1).shape.rank, tf.constant([1]).ndim, len(tf.constant([1, 2])))
print(tf.data.Dataset.range(3)); print(tf.data.Dataset.range(3).batch(2)); print(tf.data.TFRecordDataset('x'), tf.data.TFRecordDataset('x').shuffle(3).repeat())
print(tf.ragged.constant([[1], [2, 3]]), repr(tf.ragged.constant([['a'], []])), tf.sparse.from_dense([0, 1]))
print(list(tf.data.Dataset.range(3)), next(iter(tf.data.Dataset.from_tensors({'a': 1}))), list(tf.data.Dataset.range(3).as_numpy_iterator()))
print(tf.executing_eagerly(), tf.is_tensor(tf.constant(1)), tf.is_tensor(1), isinstance(tf.constant(1), tf.Tensor))
print(tf.constant(1) + 2, 2 * tf.constant(1.5), tf.constant([1, 2]) / 2, 7 // tf.constant(2), -tf.constant(1), tf.constant(5) % 3, tf.constant(2) ** 3, tf.constant(1) < 2)
print(bool(tf.constant(1) == 1), int(tf.constant(3)), float(tf.constant(2.5)), tf.constant([1, 2, 3])[1:], tf.constant([[1, 2], [3, 4]])[:, 0], tf.constant(3).numpy().__class__.__name__)
for d in (tf.uint8, tf.bfloat16, tf.bool, tf.half, tf.double): print(d, d.name, d.size, d.is_integer, d.is_floating, d.as_numpy_dtype.__name__)
np.set_printoptions(precision=3); print(tf.constant(np.linspace(0, 1, 4)))
"""  # noqa: E501 - as scripts are


RUN = """
import contextlib, io, json, os, sys, tempfile, warnings
warnings.simplefilter("ignore")
scripts, package = json.load(sys.stdin), sys.argv[1]
printed = {}
for name, script in scripts.items():
    os.chdir(tempfile.mkdtemp(dir=sys.argv[2]))
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            exec(compile(script.replace("import tensorflow as tf", f"import {package} as tf"), name, "exec"), {})
        except BaseException as error:
            print(type(error).__name__, error)
    printed[name] = output.getvalue()
print(json.dumps(printed))
"""


def printed(package, folder):
    """Return the output of each script with a package in TensorFlow's place."""
    folder.mkdir()
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUN, package, str(folder)]
    arguments = json.dumps({name: BEGIN + script for name, script in SCRIPTS.items()})
    done = subprocess.run(command, input=arguments, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    return printed("tfrecord_fast.tensorflow", folder / "ours"), printed("tensorflow", folder / "theirs")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_what_it_prints_with_tensorflow(name, outcomes):
    ours, theirs = outcomes
    assert ours[name].splitlines() == theirs[name].splitlines()
    assert "Error" not in theirs[name].splitlines()[-1]
