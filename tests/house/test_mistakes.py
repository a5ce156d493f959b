"""Mistakes that users make, and what their errors say: what is wrong, where, and what to write instead."""

import bz2
import shlex
import subprocess
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.command import run_here
from tests.support.paths import ROOT

FILE, PACKED, BYTES, SEQUENCES = "a.tfrecord", "packed.tfrecord.gz", "bytes.tfrecord", "sequences.tfrecord"
INT = "tf.io.FixedLenFeature([], tf.int64)"
# (code, words of its error)
FILES = [
    ("tf.ShardReader('gone.tfrecord').peek()", "No such file", "'gone.tfrecord'"),
    ("tf.ShardReader('gone/*.tfrecord').peek()", "no file matches the pattern", "'gone/*.tfrecord'"),
    ("tf.ShardReader('empty').peek()", "no files in the folder", "'empty'"),
    ("tf.ShardReader([])", "no files in []", "allow_empty=True"),
    ("tf.ShardReader(None)", "filenames must be paths (str, bytes, PathLike)", "got NoneType"),
    ("tf.ShardReader(iter([FILE]))", "filenames is an iterator", "pass a list"),
    ("tf.ShardReader('x.bz2').peek()", "x.bz2", "looks like BZIP2 data: run `bunzip2`"),
    ("tf.ShardReader('x.csv').peek()", "x.csv", "looks like CSV text"),
    ("tf.read_table('x.csv')", "x.csv", "not a TFRecord file", "CSV text"),
    ("tf.ShardReader(FILE, compression='bz2')", "unknown compression 'bz2'", "'none'", "'ZSTD'"),
    ("tf.ShardReader(FILE, compression='gzip').peek()", FILE, "not compressed", "compression=None detects"),
    ("tf.ShardReader(PACKED, compression='none').peek()", PACKED, "compressed with GZIP", "compression=None detects"),
    ("tf.IndexedReader(PACKED)[9]", "record index 9", "3 records"),
    ("tf.IndexedReader(FILE)[9]", "record index 9", "3 records"),
    ("tf.IndexedReader(FILE)['id']", "record indices are integers or slices", "not str"),
    ("tf.ShardReader('s3://b/x', storage_options='anon')", "storage_options must be a dict", "got str"),
]
ARGUMENTS = [
    ("tf.ShardReader(FILE, shuffle=True)", "ShardReader", "no argument 'shuffle'", "did you mean shuffle_buffer"),
    ("tf.ShardReader(FILE, drop_last=True)", "no argument 'drop_last'", "did you mean drop_remainder?"),
    ("tf.ShardReader(FILE, schuffle_files=True)", "no argument 'schuffle_files'", "did you mean shuffle_files?"),
    ("tf.read_table(FILE, epochs=2)", "no argument 'epochs'", "did you mean num_epochs?"),
    ("tf.ShardReader(FILE, batch_size=0)", "batch_size must be at least 1", "got 0"),
    ("tf.ShardReader(FILE, batch_size='32')", "batch_size must be an integer", "got str"),
    ("tf.ShardReader(FILE, verify_crc='no')", "verify_crc must be True or False", "got 'no'"),
    ("tf.ShardReader(FILE, shard=1)", 'shard must be (i, n) or "auto"', "got 1"),
    ("tf.ShardReader(FILE, shard=(2, 2))", "shard must be (i, n) with 0 <= i < n", "got (2, 2)"),
    ("tf.ShardReader(FILE, on_corrupt='ignore')", 'on_corrupt must be "raise", "skip" or "skip_file"', "'ignore'"),
    ("tf.ShardReader(FILE, equal_shards=True)", 'equal_shards must be None, "drop" or "pad"', "got True"),
    ("tf.ShardReader(FILE, global_shuffle=True, shard=(0, 2))", "global_shuffle", "needs a seed"),
    ("tf.ShardReader(FILE, label_key='id')", "label_key needs features"),
    ("tf.ShardReader(FILE, deterministic=False).state_dict()", "state_dict needs deterministic=True"),
    ("tf.ShardReader(FILE).load_state_dict({})", "not a state of ShardReader", "as state_dict() returns it"),
    ("resumed()", "the saved state is of another reader", "resume with the shard and the num_workers"),
    ("len(tf.ShardReader(FILE, num_epochs=None))", "an endless reader has no length", "num_records"),
    ("tf.read_table(FILE, num_epochs=None)", "finite num_epochs", "use read_batches"),
    ("tf.read_table(FILE, strings='utf8')", 'strings must be "plain", "view" or "text"', "got 'utf8'"),
]
FEATURES = [
    ("tf.ShardReader(FILE, ['id'])", "features must be a dict", INT),
    ("tf.ShardReader(FILE, {'id': tf.int64})", "Unsupported DType", "key 'id'", INT),
    ("tf.ShardReader(FILE, FILE)", 'features must be a dict, None or "infer"', "got 'a.tfrecord'"),
    ("tf.ShardReader(FILE, {})", "features must not be empty"),
    (f"tf.ShardReader(FILE, {{'idd': {INT}}}).peek()", FILE, "'idd': not in the record", "did you mean 'id'?"),
    ("tf.ShardReader(FILE, {'id': tf.io.FixedLenFeature([], tf.float32)}).peek()", FILE, "'id'", "use tf.int64"),
    (f"tf.ShardReader(FILE, {{'score': {INT}}}).peek()", "'score'", "got float values", "use tf.float32"),
    (f"tf.ShardReader(FILE, {{'name': {INT}}}).peek()", "'name'", "use tf.string", "RawFeature"),
    ("tf.ShardReader(FILE, {'name': tf.RawFeature([4], tf.float32)}).peek()", "'name'", "expected 16 bytes, got 1"),
    ("tf.ShardReader(FILE, {'id': tf.io.VarLenFeature(tf.string)}).peek()", "'id'", "use tf.int64"),
    ("tf.ShardReader(FILE, {'vec': tf.io.FixedLenFeature([3], tf.float32)}).peek()", "'vec'", "for shape [3], got 4"),
    ("tf.ShardReader(FILE, {'tags': tf.io.FixedLenFeature([], tf.string)}).peek()", "'tags'", "use RaggedFeature"),
    ("tf.io.FixedLenFeature([], 'flaot32') and tf.as_dtype('flaot32')", "dtype flaot32", "expected one of", "float32"),
    (f"tf.io.parse_example([b''], {{'id': {INT}}})", "feature 'id'", "with a default_value", "(record 0)"),
    ("tf.io.parse_example([b''], {'id': tf.io.FixedLenFeature([2], tf.int64, 0)})", "'id'", "not broadcast"),
    ("tf.io.parse_example([b''], {'id': tf.io.FixedLenFeature([], tf.int64, 'x')})", "default_value 'x'", "int64"),
    ("tf.io.parse_example([b''], {'id': tf.io.FixedLenFeature([None], tf.int64)})", "Consider using FixedLenSequ"),
    ("tf.io.parse_example([b''], {'id': tf.io.FixedLenSequenceFeature([], tf.int64)})", "requires allow_missing"),
    (f"tf.io.parse_single_example([b''], {{'id': {INT}}})", "must be a scalar", "parse_example parses a batch"),
    (f"tf.io.parse_example([1], {{'id': {INT}}})", "record 0 is not bytes-like: int"),
    (f"tf.ShardReader(FILE, (None, {{'id': {INT}}}))", "key 'id'", "use one of", "FixedLenSequenceFeature"),
    (f"tf.ShardReader(FILE, ({{'id': {INT}}},))", "a pair (context_features, sequence_features)"),
    ("tf.ShardReader(SEQUENCES, 'infer', label_key='id').peek()", "label_key is for Examples", "take the label from"),
    *(
        (code, "feature 'steps' is a feature list", "pass the pair (context_features, sequence_features)")
        for kind in (
            "VarLenFeature(tf.int64)",
            "RaggedFeature(tf.int64)",
            "FixedLenSequenceFeature([], tf.int64, True)",
        )
        for code in (
            f"tf.ShardReader(SEQUENCES, {{'id': {INT}, 'steps': tf.io.{kind}}}).peek()",
            f"tf.read_table(SEQUENCES, {{'steps': tf.io.{kind}}})",
        )
    ),
    ("tf.IndexedReader(SEQUENCES, 'infer')[0]", SEQUENCES, "use tf.io.infer_sequence_features"),
    ("tf.ShardReader(FILE, 'infer', columns=['ID']).peek()", "columns ['ID']", "did you mean 'id'?"),
    ("tf.ShardReader(FILE, 'infer', columns='id').peek()", "columns must be a list of names", "got 'id'"),
    ("tf.ShardReader(FILE, 'infer', label_key='idd').peek()", "label_key 'idd'", "did you mean 'id'?"),
    ("tf.ShardReader(FILE, 'infer', groups={'g': ['scor']}).peek()", "group 'g'", "did you mean 'score'?"),
    ("tf.ShardReader(FILE, 'infer', groups=['id'])", "groups must be a dict of lists of keys", '{"dense": ["a", "b"]}'),
    ("tf.ImageFeature(224, crop='middle')", "`crop` must be one of", "'center'"),
    ("tf.ImageFeature('image')", "`size` must be an int, or a height and a width", "'image'"),
    ("tf.SparseTensor([[0, 0]], [1], [2, 2]).to_dense()", "'to_dense'", "sparse.to_dense(x) makes an array"),
    ("tf.ShardReader(FILE, {'id': tf.io.FixedLenFeature(tf.int64, [])})", "id", "shape comes before dtype"),
    ("tf.ShardReader(FILE, {'big': tf.io.FixedLenFeature([], tf.float16)}).peek()", "'big'", "float16; use tf.float32"),
    ("np.asarray(tf.SparseTensor([[0, 0]], [1], [2, 2]))", "SparseTensor is not an array", "to_dense"),
    ("tf.read_table(BYTES, strings='text')", "feature 'raw'", "UTF-8", 'strings="plain"'),
]
WRITING = [
    ("tf.ExampleWriter('gone/a.tfrecord')", "no folder 'gone'", "create it first"),
    ("tf.ExampleWriter('gone/a.tfrecord', num_shards=2)", "no folder 'gone'", "create it first"),
    ("tf.io.TFRecordWriter('gone/a.tfrecord')", "no folder 'gone'", "create it first"),
    ("tf.RecordIndex.build(FILE).save('gone/a.idx')", "no folder 'gone'", "create it first"),
    ("tf.ExampleWriter(FILE, overwrite=False)", "file already exists", FILE),
    ("tf.ExampleWriter('o', shards=2)", "no argument 'shards'", "did you mean num_shards?"),
    ("tf.ExampleWriter('o').write({'id': 1})", "'id'", "expected a column", "write_example writes one record"),
    ("tf.ExampleWriter('o').write([{'id': 1}])", "expected a dict of columns", "write_example", "got list"),
    ("tf.ExampleWriter('o').write({'a': [1], 'b': [1, 2]})", "unequal length", "'a' has 1 rows, 'b' has 2"),
    ("tf.ExampleWriter('o').write({'a': [1, 'x']})", "'a'", "more than one kind: int, str", "convert them"),
    ("tf.ExampleWriter('o').write({'t': np.array(['2020'], 'M8[D]')})", "'t'", "datetime64[D]", "convert it"),
    (
        "tf.ExampleWriter('o').write({'t': np.array(['2020'], 'M8[D]').tolist()})",
        "'t'",
        "date; write dates",
        "as integers",
    ),
    ("tf.ExampleWriter('o').write({'a': np.array([2**63], np.uint64)})", "'a', row 0", "int64"),
    ("tf.ExampleWriter('o').write({'a': [16777217, 0.5]})", "'a'", "16777217 among floats", "float32"),
    ("tf.io.TFRecordWriter('o').write(tf.train.Example())", "Example", "pass the bytes of its SerializeToString()"),
    ("tf.io.TFRecordWriter('o').write({'id': [1]})", "not bytes-like: dict", "ExampleWriter writes dicts of columns"),
    ("tf.io.TFRecordWriter('o', 'GZIP', compression='ZSTD')", "options and compression", "pass one of the two"),
    ("tf.io.TFRecordWriter('s3://b/x', append=True)", "s3://b/x", "append=True needs a local path"),
    ("tf.encode_sequence_examples({'id': [1]}, {'steps': [1]})", "'steps'", "expected rows of steps"),
    ("tf.ExampleWriter('o').write_example({'t': 1732819277.5})", "'t'", "1732819328.0", "allow_rounding=True"),
    ("tf.ExampleWriter('o').write_example([1])", "expected a dict of values", "got list"),
    ("tf.ExampleWriter('o').write([b'record'])", "got list", "io.TFRecordWriter writes records of bytes"),
    ("tf.ExampleWriter('o').write(b'record')", "got bytes", "io.TFRecordWriter writes records of bytes"),
    ("tf.ExampleWriter('o').write(pandas().Series([1]))", "got a Series", "pass {'name': series}"),
    ("tf.ExampleWriter('o').write(polars().Series([1]))", "got a Series", "pass {'name': series}"),
    ("tf.ExampleWriter('o').write(polars().LazyFrame({'a': [1]}))", "got LazyFrame", "call its collect() first"),
    (
        "tf.encode_examples(polars().DataFrame({'a': [__import__('decimal').Decimal(1)]}))",
        "'a'",
        "cannot hold decimals",
        "cast to integers",
    ),
    ("tf.ExampleWriter('o', num_shards='4')", "num_shards must be an integer", "got str"),
    ("tf.ExampleWriter('o', compression='gz')", "unknown compression 'gz'", "did you mean 'GZIP'?"),
    ("tf.ExampleWriter('s3://b')", "s3://b", "names a bucket", "add a name, as s3://b/a.tfrecord"),
    ("tf.ExampleWriter('s3:/b/x')", "no folder 's3:/b'", "a URL has two slashes, as s3://b/x"),
    ("closed().write_example({'id': 1})", "Writer is closed", "wrote 'o.tfrecord'", "make another"),
    ("tf.BytesArray([1])", "an element of a BytesArray", "not bytes-like: int"),
]
GRAMMAR = "a condition compares single values with == != < <= > >=, joined by and, or, not"
CONDITIONS = {
    "id => 2": "write >= for =>",
    "id > 1 && id < 4": "write and for &&",
    "id > 1 OR id < 4": "write or for OR",
    "id in [1, 2]": GRAMMAR,
    "score is None": GRAMMAR,
    "len(tags) > 1": GRAMMAR,
    "1 < id < 3": GRAMMAR,
    'tags == "y"': "in Python, read_table(files).filter(…) compares lists",
}
COMMANDS = [
    ("convert a.tfrecord gone/a.parquet", "gone/a.parquet", "no folder 'gone'", "create it first"),
    ("filter a.tfrecord --where id>1 -o gone/a", "no folder 'gone'", "create it first"),
    ("repair a.tfrecord gone/a", "no folder 'gone'", "create it first"),
    ("sample a.tfrecord gone/a -n 1", "no folder 'gone'", "create it first"),
    ("stats a.tfrecord --html gone/a.html", "no folder 'gone'", "create it first"),
    ("convert a.tfrecord a.foo", "a.foo", "unknown extension .foo", "--to"),
    ("convert a.tfrecord a.tfrecord.gzip", "unknown extension .gzip", "did you mean .gz?"),
    ("convert a.tfrecord out --to images", "argument --to: no such choice: images"),
    ("convert b.jsonl o.tfrecord", "b.jsonl: line 2: Expecting property name enclosed in double quotes"),
    *((f"cat a.tfrecord --where '{text}'", "--where: ", remedy) for text, remedy in CONDITIONS.items()),
    ("convert sequences.tfrecord a.parquet", "sequences.tfrecord", "record 0", "SequenceExamples", "read_table"),
    ("cat a.tfrecord --columns idd", "no feature 'idd'", "did you mean 'id'?"),
    ("hed a.tfrecord", "no such choice: hed", "did you mean head?"),
]


def pandas():
    return pytest.importorskip("pandas")


def polars():
    return pytest.importorskip("polars")


def closed():
    with tf.ExampleWriter("o.tfrecord") as writer:
        return writer


def resumed():
    readers = [tf.ShardReader([FILE] * 2, batch_size=1, shard=shard) for shard in ((0, 2), (0, 1))]
    next(iter(readers[0]))
    readers[1].load_state_dict(readers[0].state_dict())
    return readers[1].peek()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    columns = {"id": [1, 2, 3], "score": [0.5, 1.5, 2.5], "name": ["a", "b", "c"], "tags": [["x"], [], ["y", "z"]]}
    with tf.ExampleWriter(folder / FILE) as writer:
        writer.write({**columns, "vec": np.zeros((3, 4), np.float32), "big": [1e6] * 3})
    with tf.ExampleWriter(folder / PACKED) as writer:
        writer.write(columns)
    with tf.ExampleWriter(folder / BYTES) as writer:
        writer.write({"raw": [b"\xff"]})
    with tf.io.TFRecordWriter(folder / SEQUENCES) as writer:
        writer.write_batch(tf.encode_sequence_examples({"id": [1]}, {"steps": [[1, 2]]}))
    (folder / "empty").mkdir()
    (folder / "x.csv").write_text("a,b\n1,2\n")
    (folder / "x.bz2").write_bytes(bz2.compress(b"x"))
    (folder / "b.jsonl").write_text('{"a": 1}\n{a: 1}\n')
    return folder


@pytest.mark.parametrize("code, words", [(code, words) for code, *words in FILES + ARGUMENTS + FEATURES + WRITING])
def test_an_error_says_what_is_wrong_where_and_what_to_write(code, words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(Exception) as caught:
        eval(code, {**globals()})
    text = str(caught.value)
    assert not [word for word in words if word not in text], text
    assert "\n" not in text and "tmp" not in text and caught.value.__cause__ is None


@pytest.mark.parametrize("line, words", [(line, words) for line, *words in COMMANDS])
def test_a_command_says_it_in_one_line(line, words, folder, monkeypatch, capsysbinary):
    monkeypatch.chdir(folder)
    status, _, errors = run_here(capsysbinary, *shlex.split(line))
    assert status != 0
    text = errors.splitlines()[-1]
    assert not [word for word in words if word not in text], text


@pytest.mark.parametrize("package", ["polars", "duckdb", "dask", "jax", "grain", "torch", "keras", "ray", "beam"])
def test_an_integration_without_its_package_names_the_extra(package):
    hidden = {"beam": "apache_beam"}.get(package, package)
    code = f"import sys; sys.modules[{hidden!r}] = None; import tfrecord_fast.integrations.{package}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert f"pip install 'tfrecord_fast[{package}]'" in done.stderr.splitlines()[-1]
