"""Files as Arrow tables: types, nulls, inference, selection, errors."""

import gzip
import io
import os
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.files.reading import shard_reader

LONG = b"a string that is too long to be kept inside of a view"


def record(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def write(path, records, options=None):
    with tf.io.TFRecordWriter(path, options) as writer:
        writer.write_batch(records)
    return str(path)


def rows(path, features="infer", **options):
    return tf.read_table(path, features, **options).to_pylist()


@pytest.fixture
def path(tmp_path):
    records = [
        record(id=("int64", [i]), x=("float", [i / 2]), s=("bytes", [LONG + b"%d" % i]), v=("int64", range(i)))
        for i in range(5)
    ]
    return write(tmp_path / "a.tfrecord", records)


# ---- Types ----

FIXED = tf.FixedLenFeature
TYPES = {
    "scalar": (FIXED([], tf.int64), ("int64", [7]), pa.int64(), 7),
    "float": (FIXED([], tf.float32), ("float", [0.5]), pa.float32(), 0.5),
    "string": (FIXED([], tf.string), ("bytes", [LONG]), pa.binary(), LONG),
    "vector": (FIXED([2], tf.int64), ("int64", [1, 2]), pa.list_(pa.int64(), 2), [1, 2]),
    "matrix": (
        FIXED([2, 2], tf.float32),
        ("float", [1, 2, 3, 4]),
        pa.list_(pa.list_(pa.float32(), 2), 2),
        [[1, 2], [3, 4]],
    ),
    "strings": (FIXED([2], tf.string), ("bytes", [b"a", LONG]), pa.list_(pa.binary(), 2), [b"a", LONG]),
    "empty shape": (FIXED([2, 0], tf.int64), ("int64", []), pa.list_(pa.list_(pa.int64(), 0), 2), [[], []]),
    "bool": (FIXED([3], tf.bool), ("int64", [1, 0, 1]), pa.list_(pa.bool_(), 3), [True, False, True]),
    "uint8": (FIXED([], tf.uint8), ("int64", [255]), pa.uint8(), 255),
    "raw": (FIXED([2, 2], tf.uint8), ("bytes", [b"\1\2\3\4"]), pa.list_(pa.list_(pa.uint8(), 2), 2), [[1, 2], [3, 4]]),
    "float16": (FIXED([], tf.float16), ("float", [1.5]), pa.float16(), 1.5),
    "bfloat16": (FIXED([2], tf.bfloat16), ("float", [1.5, -2]), pa.list_(pa.float32(), 2), [1.5, -2]),
    "float64": (FIXED([], tf.float64), ("float", [1.5]), pa.float64(), 1.5),
    "varlen": (tf.VarLenFeature(tf.int64), ("int64", [1, 2]), pa.list_(pa.int64()), [1, 2]),
    "varlen strings": (tf.VarLenFeature(tf.string), ("bytes", [b"a", LONG]), pa.list_(pa.binary()), [b"a", LONG]),
    "varlen bool": (tf.VarLenFeature(tf.bool), ("int64", [1, 0]), pa.list_(pa.bool_()), [True, False]),
    "ragged": (tf.RaggedFeature(tf.float32), ("float", [1, 2]), pa.list_(pa.float32()), [1, 2]),
    "ragged int64 splits": (
        tf.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
        ("int64", [1, 2]),
        pa.list_(pa.int64()),
        [1, 2],
    ),
    "steps": (
        tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        ("int64", [1, 2, 3]),
        pa.list_(pa.int64()),
        [1, 2, 3],
    ),
    "steps of a shape": (
        tf.FixedLenSequenceFeature([2], tf.string, allow_missing=True),
        ("bytes", [b"a", b"b", b"c", LONG]),
        pa.list_(pa.list_(pa.binary(), 2)),
        [[b"a", b"b"], [b"c", LONG]],
    ),
    "uniform rows": (
        tf.RaggedFeature(tf.int64, partitions=[tf.RaggedFeature.UniformRowLength(2)]),
        ("int64", [1, 2, 3, 4]),
        pa.list_(pa.list_(pa.int64(), 2)),
        [[1, 2], [3, 4]],
    ),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("strings", ["plain", "view"])
def test_each_feature_has_its_type(name, strings, tmp_path):
    feature, value, type, expected = TYPES[name]
    path = write(tmp_path / "a", [record(f=value)] * 3)
    table = tf.read_table(path, {"f": feature}, strings=strings)
    table.validate(full=True)
    if strings == "plain":
        assert table.schema.field("f").type == type
    assert table["f"].to_pylist() == [expected] * 3


@pytest.mark.parametrize("name", TYPES)
def test_no_records_have_the_same_types(name, tmp_path):
    feature, value, _, _ = TYPES[name]
    full, empty = write(tmp_path / "a", [record(f=value)]), write(tmp_path / "b", [])
    assert tf.read_table(empty, {"f": feature}).schema == tf.read_table(full, {"f": feature}).schema
    assert tf.read_table(empty, {"f": feature}).num_rows == 0


def test_views_share_the_buffers_of_the_records(path):
    [chunk] = tf.read_table(path, columns=["s"], strings="view")["s"].chunks
    assert chunk.type == pa.binary_view() and chunk.buffers()[2].size >= 5 * len(LONG)
    [chunk] = tf.read_table(path, columns=["s"])["s"].chunks
    assert chunk.type == pa.binary()


def test_other_strings_are_refused(path):
    with pytest.raises(ValueError, match='strings must be "plain", "view" or "text", got \'large\''):
        tf.read_table(path, strings="large")


def test_sparse_features_keep_their_indices(tmp_path):
    path = write(tmp_path / "a", [record(i=("int64", [3, 1]), v=("float", [0.5, 1.5])), record()])
    table = tf.read_table(path, {"s": tf.SparseFeature("i", "v", tf.float32, 10)})
    assert table["s"].to_pylist() == [[{"index": 1, "value": 1.5}, {"index": 3, "value": 0.5}], None]


def test_sparse_features_of_two_dimensions_have_pairs_of_indices(tmp_path):
    path = write(tmp_path / "a", [record(i=("int64", [3, 1]), j=("int64", [0, 2]), v=("bytes", [b"x", b"y"]))])
    table = tf.read_table(path, {"s": tf.SparseFeature(["i", "j"], "v", tf.string, [10, 10])})
    assert table["s"].to_pylist() == [[{"index": [1, 2], "value": b"y"}, {"index": [3, 0], "value": b"x"}]]


def test_an_index_out_of_range_names_the_record(tmp_path):
    records = [record(i=("int64", [1]), v=("float", [0.5])), record(i=("int64", [11]), v=("float", [0.5]))]
    path = write(tmp_path / "a", records)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"index out of range.*record 1\)"):
        tf.read_table(path, {"s": tf.SparseFeature("i", "v", tf.float32, 10)})


def test_partitions_cut_lists(tmp_path):
    path = write(tmp_path / "a", [record(v=("int64", [1, 2, 3]), n=("int64", [2, 1])), record(v=("int64", []))])
    features = {"r": tf.RaggedFeature(tf.int64, "v", partitions=[tf.RaggedFeature.RowLengths("n")])}
    assert rows(path, features) == [{"r": [[1, 2], [3]]}, {"r": []}]


def test_steps_that_do_not_fill_their_shape_are_an_error(tmp_path):
    path = write(tmp_path / "a", [record(f=("int64", [1, 2, 3]))])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected a multiple of 2 values .*, got 3"):
        tf.read_table(path, {"f": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})


# ---- What is not there ----


@pytest.mark.parametrize(
    "feature",
    [
        tf.VarLenFeature(tf.int64),
        tf.RaggedFeature(tf.int64),
        tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    ],
)
def test_an_absent_list_is_null_and_an_empty_one_is_empty(feature, tmp_path):
    records = [
        record(f=("int64", [1])),
        record(),
        record(f=("int64", [])),
        record(f=(None, [])),
        record(f=("int64", [2])),
    ]
    assert rows(write(tmp_path / "a", records), {"f": feature}) == [{"f": f} for f in ([1], None, [], None, [2])]


def test_a_default_stands_for_what_is_absent(tmp_path):
    path = write(tmp_path / "a", [record(f=("int64", [1])), record()])
    features = {"f": FIXED([], tf.int64, -1), "s": FIXED([2], tf.string, [b"x", b"y"])}
    assert rows(path, features) == [{"f": 1, "s": [b"x", b"y"]}, {"f": -1, "s": [b"x", b"y"]}]


def test_without_a_default_it_is_an_error(tmp_path):
    path = write(tmp_path / "a", [record(f=("int64", [1])), record()])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in the record.*record 1\)"):
        tf.read_table(path, {"f": FIXED([], tf.int64)})


@pytest.mark.parametrize("kind, values", [("int64", [3]), ("float", [0.5]), ("bytes", [LONG]), ("bytes", [b"x"])])
@pytest.mark.parametrize("strings", ["plain", "view"])
def test_an_inferred_column_is_null_where_it_is_absent(kind, values, strings, tmp_path):
    path = write(tmp_path / "a", [record(a=("int64", [1])), record(a=("int64", [2]), b=(kind, values)), record()])
    table = tf.read_table(path, strings=strings)
    table.validate(full=True)
    assert table["b"].to_pylist() == [None, values[0], None] and table["a"].to_pylist() == [1, 2, None]


def test_what_only_later_files_have_is_found(tmp_path):
    write(tmp_path / "a-0", [record(a=("int64", [1]))] * 3)
    write(tmp_path / "a-1", [record(b=("float", [2]))])
    assert rows(tmp_path / "a-*") == [{"a": 1, "b": None}] * 3 + [{"a": None, "b": 2.0}]


def test_lists_that_differ_stay_lists(tmp_path):
    path = write(tmp_path / "a", [record(f=("int64", [1, 2])), record(f=("int64", [])), record()])
    assert [row["f"] for row in rows(path)] == [[1, 2], [], None]


def test_a_sequence_keeps_null_and_empty_apart(tmp_path):
    records = [
        wire.sequence_example([(b"c", wire.feature("int64", [5]))], [(b"s", [wire.feature("int64", [1, 2])])]),
        wire.sequence_example([(b"d", wire.feature("int64", [1]))], [(b"s", [])]),
        wire.sequence_example([(b"c", wire.feature(None, []))], [(b"t", [wire.feature("bytes", [b"x"])])]),
    ]
    expected = [
        {"c": 5, "d": None, "s": [[1, 2]], "t": None},
        {"c": None, "d": 1, "s": [], "t": None},
        {"c": None, "d": None, "s": None, "t": [b"x"]},
    ]
    assert rows(write(tmp_path / "a", records)) == expected


# ---- SequenceExamples ----

LISTS = {
    "varlen": (tf.VarLenFeature(tf.int64), pa.list_(pa.list_(pa.int64())), [[1, 2], [3, 4]]),
    "ragged": (tf.RaggedFeature(tf.int64), pa.list_(pa.list_(pa.int64())), [[1, 2], [3, 4]]),
    "steps": (tf.FixedLenSequenceFeature([2], tf.int64), pa.list_(pa.list_(pa.int64(), 2)), [[1, 2], [3, 4]]),
}


@pytest.mark.parametrize("batch_size", [1, 2])
@pytest.mark.parametrize("name", LISTS)
def test_feature_lists_are_lists_of_steps(name, batch_size, tmp_path):
    feature, type, expected = LISTS[name]
    step = [wire.feature("int64", [1, 2]), wire.feature("int64", [3, 4])]
    records = [wire.sequence_example([], [(b"s", step)]), wire.sequence_example([], [(b"s", step[:1])])]
    table = tf.read_table(write(tmp_path / "a", records), (None, {"s": feature}), batch_size=batch_size)
    table.validate(full=True)
    assert table.schema.field("s").type == type
    assert table["s"].to_pylist() == [expected, expected[:1]]


def test_a_context_and_its_lists_are_selected_by_name(tmp_path):
    records = [
        wire.sequence_example([(b"c", wire.feature("int64", [5]))], [(b"s", [wire.feature("float", [1])])]),
    ]
    path = write(tmp_path / "a", records)
    assert rows(path, columns=["s"]) == [{"s": [1.0]}]
    assert tf.read_table(path, columns=["s", "c"]).column_names == ["s", "c"]


def test_two_columns_of_one_name_are_refused(tmp_path):
    both = wire.sequence_example([(b"c", wire.feature("int64", [5]))], [(b"c", [wire.feature("float", [1])])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="two features have the same column name, 'c'"):
        tf.read_table(write(tmp_path / "a", [both]))


# ---- Inference that falls short ----


def test_a_key_that_was_not_seen_is_an_error_of_batches(tmp_path):
    path = write(tmp_path / "a", [record(a=("int64", [1]))] * 10 + [record(a=("int64", [1]), b=("int64", [1]))])
    reader = tf.read_batches(path, infer_records=5)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'b': none of the 5 records that.*record 10\)"):
        reader.read_all()


def test_a_table_then_looks_at_all_records(tmp_path):
    path = write(tmp_path / "a", [record(a=("int64", [1]))] * 10 + [record(a=("int64", [1, 2]), b=("int64", [1]))])
    table = tf.read_table(path, infer_records=5)
    assert table.num_rows == 11 and table["a"].to_pylist() == [[1]] * 10 + [[1, 2]]
    assert table["b"].to_pylist() == [None] * 10 + [1]


def test_an_unseen_key_without_values_is_passed_over(tmp_path):
    path = write(tmp_path / "a", [record(a=("int64", [1]))] * 3 + [record(a=("int64", [1]), b=(None, []))] * 3)
    assert tf.read_batches(path, infer_records=2).read_all().num_rows == 6


def test_unseen_lists_of_sequences_are_errors_too(tmp_path):
    def sequence(context, lists):
        return wire.sequence_example(
            [(key, wire.feature("int64", [1])) for key in context],
            [(key, [wire.feature("int64", [1])]) for key in lists],
        )

    usual = [sequence([b"a"], [b"s"])] * 5
    for last in (sequence([b"a", b"b"], [b"s"]), sequence([b"a"], [b"s", b"b"])):
        path = write(tmp_path / "a", [*usual, last, last])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'b': none of the 3 records.*record 5\)"):
            tf.read_batches(path, infer_records=3).read_all()
        assert tf.read_table(path, infer_records=3).num_rows == 7
    empty = wire.sequence_example([(b"a", wire.feature("int64", [1]))], [(b"b", []), (b"b2", [wire.feature(None, [])])])
    assert tf.read_batches(write(tmp_path / "a", [*usual, empty]), infer_records=3).read_all().num_rows == 6


def test_selected_columns_let_other_keys_be(tmp_path):
    path = write(tmp_path / "a", [record(a=("int64", [1]))] * 5 + [record(a=("int64", [1]), b=("int64", [1]))])
    assert tf.read_batches(path, columns=["a"], infer_records=2).read_all().num_rows == 6


def test_a_conflict_of_kinds_is_reported(tmp_path):
    path = write(tmp_path / "a", [record(a=("int64", [1])), record(a=("float", [1]))])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"conflicting kinds.*record 1\)"):
        tf.read_table(path)


def test_nothing_to_look_at_is_a_table_without_columns(tmp_path):
    table = tf.read_table(write(tmp_path / "a", []))
    assert table.num_rows == table.num_columns == 0


def test_records_without_features_are_refused(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="none of the 2 records has a feature"):
        tf.read_table(write(tmp_path / "a", [b"", b""]))


# ---- Names ----


def test_names_that_arrow_can_not_carry_are_refused(tmp_path):
    for key, what in [(b"\xff", "UTF-8"), (b"a\0b", "NUL")]:
        path = write(tmp_path / "a", [wire.example([(key, wire.feature("int64", [1]))])])
        with pytest.raises(tf.errors.InvalidArgumentError, match=what):
            tf.read_table(path)


def test_keys_of_bytes_are_names(path):
    assert rows(path, {b"id": FIXED([], tf.int64)})[0] == {"id": 0}


# ---- Selection, options, inputs ----


def test_columns_come_in_the_order_asked_for(path):
    table = tf.read_table(path, columns=["x", "id"])
    assert table.column_names == ["x", "id"] and table["id"].to_pylist() == list(range(5))


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (["y"], r"columns \['y'\] are not among the features \['id', 's', 'v', 'x'\]"),
        ([], "each once"),
        (["x", "x"], "each once"),
    ],
)
def test_columns_that_make_no_sense_are_refused(columns, why, path):
    with pytest.raises(tf.errors.InvalidArgumentError, match=why):
        tf.read_table(path, columns=columns)


def test_columns_are_a_list(path):
    with pytest.raises(TypeError, match="columns must be a list of names, got 'id'"):
        tf.read_table(path, columns="id")


def test_options_of_the_reader_apply(path):
    assert [r["id"] for r in rows(path, shard=(1, 2))] == [1, 3]
    assert sorted(r["id"] for r in rows([path, path], shuffle_buffer=100, seed=1)) == sorted([*range(5)] * 2)
    assert rows([path, path], shuffle_buffer=100, seed=1) == rows([path, path], shuffle_buffer=100, seed=1)
    assert [b.num_rows for b in tf.read_batches(path, batch_size=2)] == [2, 2, 1]


def test_ranks_have_one_schema(tmp_path):
    write(tmp_path / "a-0", [record(a=("int64", [1]))])
    write(tmp_path / "a-1", [record(b=("int64", [1]))])
    one, two = (tf.read_table(tmp_path / "a-*", shard=(i, 2)) for i in range(2))
    assert one.schema == two.schema and one.num_rows == two.num_rows == 1


def test_a_label_is_a_column_like_others(path):
    with pytest.raises(TypeError, match="label_key is not supported for tables"):
        tf.read_table(path, label_key="id")


def test_a_table_has_an_end(path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs a finite num_epochs"):
        tf.read_table(path, num_epochs=None)


def test_batches_may_go_on_for_ever(path):
    reader = tf.read_batches(path, num_epochs=None, batch_size=4)
    assert [reader.read_next_batch().num_rows for _ in range(10)] == [4] * 10


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "ZSTD", "SNAPPY"])
def test_compressed_files_are_read(compression, path, tmp_path):
    packed = write(tmp_path / "b", list(tf.data.TFRecordDataset(path)), compression)
    assert tf.read_table(packed).equals(tf.read_table(path))


def test_file_objects_and_memory_are_read(path):
    with open(path, "rb") as file:
        data = file.read()
    expected = tf.read_table(path)
    for file in (io.BytesIO(data), bytearray(data), io.BytesIO(gzip.compress(data))):
        assert tf.read_table(file).equals(expected)


def test_a_stream_that_is_read_once_needs_features(path):
    class Once(io.RawIOBase):
        def __init__(self):
            self._file = open(path, "rb")

        def readable(self):
            return True

        def readinto(self, buffer):
            return self._file.readinto(buffer)

    assert tf.read_table(Once(), {"id": FIXED([], tf.int64)}).num_rows == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="can be read only once"):
        tf.read_table(Once())


def test_missing_files_are_missed_at_once_where_features_are_inferred(tmp_path):
    with pytest.raises(FileNotFoundError):
        tf.read_batches(tmp_path / "none")
    reader = tf.read_batches(tmp_path / "none", {"a": FIXED([], tf.int64)})
    with pytest.raises(FileNotFoundError):
        reader.read_next_batch()


def test_a_pipe_is_read_once(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open(path, "rb") as file:
        data = file.read()
    feeder = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[data])
    feeder.start()
    assert tf.read_table(str(tmp_path / "pipe"), {"id": FIXED([], tf.int64)}).num_rows == 5
    feeder.join()


def test_a_table_is_whole_in_a_workers_process(path, monkeypatch):
    monkeypatch.setattr(shard_reader, "worker_info", lambda: SimpleNamespace(id=1, num_workers=2))
    assert tf.read_table(path).num_rows == 5


def test_damage_is_reported(path):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[-6] ^= 1
    with pytest.raises(tf.errors.DataLossError):
        tf.read_table(data, {"id": FIXED([], tf.int64)})
    assert tf.read_table(data, on_corrupt="skip").num_rows == 4


def test_batches_are_smaller_where_records_are_large(tmp_path):
    large = write(tmp_path / "a", [record(s=("bytes", [bytes(1 << 20)]))] * 20)
    for features in ("infer", {"s": FIXED([], tf.string)}):
        assert max(batch.num_rows for batch in tf.read_batches(large, features)) == 16


def test_it_is_read_as_it_is_asked_for(path, tmp_path):
    reader = tf.read_batches([path, str(tmp_path / "gone")], {"id": FIXED([], tf.int64)}, batch_size=5)
    assert reader.read_next_batch().num_rows == 5
    with pytest.raises(FileNotFoundError):
        reader.read_next_batch()


def test_what_is_written_to_tables_and_back_is_the_same(path):
    table = tf.read_table(path)
    again = tf.read_table(frames(tf.encode_examples(table)))
    assert again.equals(table)


def test_nulls_and_empty_lists_come_back(tmp_path):
    table = pa.table({"a": pa.array([None, 1]), "b": pa.array([[], None], pa.list_(pa.float32())), "c": [[1, 2], [3]]})
    assert tf.read_table(frames(tf.encode_examples(table))).to_pylist() == table.to_pylist()


def frames(records):
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file) as writer:
        writer.write_batch(records)
    return bytearray(file.getvalue())


# ---- Shapes of data ----


def test_many_batches_make_one_table(tmp_path):
    path = write(tmp_path / "a", [record(i=("int64", [i]), s=("bytes", [b"%d" % i] * (i % 3))) for i in range(5000)])
    table = tf.read_table(path, batch_size=333)
    assert table["i"].to_pylist() == list(range(5000)) and table["i"].num_chunks == 16
    assert table["s"].to_pylist() == [[b"%d" % i] * (i % 3) for i in range(5000)]


def test_columns_outlive_everything(path):
    column = tf.read_table(path, strings="view")["s"]
    assert column.to_pylist() == [LONG + b"%d" % i for i in range(5)]
    assert np.asarray(tf.read_table(path)["id"]).tolist() == list(range(5))
