"""From columns to tensors: nests, sparse, ragged and padded columns, and what datasets of torch show and refuse."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tfrecord_fast as tf  # noqa: E402
from tfrecord_fast.errors import InvalidArgumentError  # noqa: E402
from tfrecord_fast.integrations.torch import (  # noqa: E402
    Batch,
    LabelledBatch,
    SequenceBatch,
    TFRecordIterableDataset,
    TFRecordMapDataset,
)
from tfrecord_fast.integrations.torch.iterable import Conversion, as_one_piece, sparse_keys  # noqa: E402
from tfrecord_fast.integrations.torch.tensors import (  # noqa: E402
    Choices,
    padded,
    padded_keys,
    row_of,
    tensor_of,
    tensors_of,
)
from tfrecord_fast.values.columns.bytes_array import BytesArray  # noqa: E402
from tfrecord_fast.values.columns.ragged import RaggedTensor  # noqa: E402
from tfrecord_fast.values.columns.sparse import SparseTensor  # noqa: E402

JAGGED, PADDED = Choices("list", "jagged"), Choices("list", "padded")
BYTES = Choices("uint8", "padded")


def ragged(rows, dtype=np.int64):
    flat = np.array([value for row in rows for value in row], dtype)
    return RaggedTensor.from_row_lengths(flat, [len(row) for row in rows])


def listed(rows, steps=None):
    """A column of VarLenFeature, or of a feature list of it."""
    flat = np.array([value for row in rows for value in row], np.int64)
    splits = np.cumsum([0, *map(len, rows)])
    shape = [len(rows), max(map(len, rows))] if steps is None else [len(steps), max(steps), max(map(len, rows))]
    return SparseTensor.from_row_splits(flat, splits, shape, None if steps is None else np.cumsum([0, *steps]))


def words(*values):
    return BytesArray(list(values))


# ---- Columns ----


def test_a_nest_of_columns_is_a_nest_of_tensors():
    made = tensors_of(
        {"a": {"b": np.int64([1, 2])}, "t": (np.float32([1]), [b"x"], words(b"y")), "s": np.int8(3)}, JAGGED
    )
    assert made["a"]["b"].tolist() == [1, 2] and type(made["t"]) is tuple and made["t"][0].dtype == torch.float32
    assert made["t"][1:] == ([b"x"], [b"y"]) and made["s"].dtype == torch.int8 and made["s"].item() == 3
    assert tensor_of("other", JAGGED, "k") == "other" and tensor_of(np.array([b"a"], object), JAGGED, "k") == [b"a"]
    assert tensor_of(np.array(["a"]), JAGGED, "k") == ["a"] and tensor_of(np.array([b"a"]), JAGGED, "k") == [b"a"]


def test_an_array_is_shared_unless_it_can_not_be():
    own = np.arange(4)
    tensors_of({"x": own}, JAGGED)["x"][0] = 9
    assert own[0] == 9
    for array in (own[::-1], own.astype(">i8"), np.frombuffer(own.tobytes(), np.int64)):
        made = tensor_of(array, JAGGED, "x")
        assert made.tolist() == array.tolist()
        made[0] = 77
        assert array[0] != 77


@pytest.mark.parametrize(
    ("column", "rows"),
    [(ragged([[1, 2], [], [3]]), [[1, 2], [], [3]]), (listed([[1, 2], [], [3]]), [[1, 2], [], [3]])],
)
def test_a_ragged_column_is_jagged_or_padded(column, rows):
    made = tensor_of(column, JAGGED, "x")
    assert made.layout is torch.jagged and [row.tolist() for row in made.unbind()] == rows
    assert tensor_of(column, PADDED, "x").tolist() == [[1, 2], [0, 0], [3, 0]]


def test_a_feature_list_has_two_ragged_dimensions():
    column = listed([[1, 2], [3], [], [4]], steps=[1, 3])
    assert tensor_of(column, PADDED, "x").tolist() == [[[1, 2], [0, 0], [0, 0]], [[3, 0], [0, 0], [4, 0]]]
    with pytest.raises(InvalidArgumentError, match="feature 'x': a jagged tensor can't hold 2"):
        tensor_of(column, JAGGED, "x")


def test_a_sparse_column_is_sparse_where_it_is_one():
    given = SparseTensor([[0, 3], [1, 0]], np.float32([5, 6]), [2, 4])
    made = tensor_of(given, JAGGED, "x")
    assert made.layout is torch.sparse_coo and made.to_dense().tolist() == [[0, 0, 0, 5], [6, 0, 0, 0]]
    rows, sparse = listed([[1], [2, 3]]), JAGGED._replace(sparse=frozenset("x"))
    assert tensor_of(rows, sparse, "y").layout is torch.jagged and tensor_of(rows, JAGGED, "x").layout is torch.jagged
    assert tensor_of(rows, sparse, "x").to_dense().tolist() == [[1, 0], [2, 3]]
    with pytest.raises(InvalidArgumentError, match="feature 'x': torch's sparse tensors can't hold strings"):
        tensor_of(SparseTensor([[0, 0]], [b"a"], [1, 1]), JAGGED, "x")


def test_strings_are_lists_or_bytes():
    lists = RaggedTensor.from_row_lengths(words(b"a", b"bcd"), [0, 2])
    assert tensor_of(lists, JAGGED, "x") == [[], [b"a", b"bcd"]] and tensor_of(lists, PADDED, "x") == [
        [],
        [b"a", b"bcd"],
    ]
    assert tensor_of(lists, BYTES, "x").tolist() == [[[0] * 3] * 2, [[97, 0, 0], [98, 99, 100]]]
    deep = RaggedTensor.from_row_lengths(lists, [1, 1])
    assert tensor_of(deep, BYTES, "x").shape == (2, 1, 2, 3)
    jagged = Choices("uint8", "jagged")
    with pytest.raises(InvalidArgumentError, match=r"hold lists of strings; use strings=\"list\" for lists of bytes"):
        tensor_of(lists, jagged, "x")
    with pytest.raises(InvalidArgumentError, match=r"hold strings of shape \[2\] per record"):
        tensor_of(BytesArray([[b"a", b"b"]]), jagged, "x")
    found = tensor_of(words(b"ab", b"", b"c"), jagged, "x")
    assert [row.tolist() for row in found.unbind()] == [[97, 98], [], [99]]
    assert tensor_of(BytesArray([[b"a", b"bc"]]), BYTES, "x").tolist() == [[[97, 0], [98, 99]]]
    assert tensor_of(BytesArray([]), BYTES, "x").shape == (0, 0)


def test_the_keys_of_padded_columns():
    columns = {
        "dense": np.zeros(2), "ragged": ragged([[1], []]), "listed": listed([[1], [2, 3]]), "words": words(b"a", b"b"),
        "sparse": SparseTensor([[0, 3]], [5], [2, 4]), "lists": RaggedTensor.from_row_lengths(words(b"a"), [1, 0]),
    }  # fmt: skip
    assert padded_keys(columns, JAGGED) == frozenset()
    assert padded_keys(columns, PADDED) == {"ragged", "listed"}
    assert padded_keys(columns, BYTES) == {"ragged", "listed", "words", "lists"}
    assert padded_keys(columns, PADDED._replace(sparse=frozenset({"listed"}))) == {"ragged", "sparse"}
    assert row_of(columns, PADDED, "ragged", 1).tolist() == [] and row_of(columns, PADDED, "listed", 0).tolist() == [1]
    assert row_of({"w": words(b"a", b"bcd")}, BYTES, "w", 0).tolist() == [97]


def test_tensors_are_padded_to_the_largest():
    made = padded([torch.ones(1, 2), torch.full((2, 1), 2.0)])
    assert made.tolist() == [[[1, 1], [0, 0]], [[2, 0], [2, 0]]] and made.dtype == torch.float32


def test_choices_are_checked():
    with pytest.raises(InvalidArgumentError, match='strings must be "list" or "uint8", got \'x\''):
        Choices.checked("x", "jagged")
    with pytest.raises(InvalidArgumentError, match='ragged must be "jagged" or "padded", got \'x\''):
        Choices.checked("list", "x")
    assert Choices.checked("uint8", "padded") == ("uint8", "padded", None)


# ---- Batches ----


def test_what_is_made_of_an_element():
    convert = Conversion(JAGGED)
    columns = {"x": np.arange(2)}
    assert type(convert(columns)) is Batch
    labelled = convert((columns, np.arange(2)))
    assert type(labelled) is LabelledBatch and type(labelled.columns) is Batch and labelled.label.tolist() == [0, 1]
    assert type(convert((columns, columns, columns))) is SequenceBatch
    other = convert((columns, columns, np.arange(2)))
    assert type(other) is tuple and type(other[1]) is Batch
    assert convert(np.arange(2)).tolist() == [0, 1]
    pair = (torch.zeros(1), torch.zeros(1))
    assert type(as_one_piece(pair)) is LabelledBatch and as_one_piece(pair[0]) is pair[0]
    assert type(as_one_piece({})) is Batch and as_one_piece((1, 2, 3)) == (1, 2, 3)
    changed = Conversion(JAGGED, lambda batch: {"y": batch["x"] + 1})
    assert type(changed(columns)) is Batch and changed(columns)["y"].tolist() == [1, 2]
    same = torch.zeros(2)
    assert Conversion(JAGGED, lambda batch: same)(columns) is same


def test_keys_of_sparse_features():
    feature = tf.SparseFeature("i", "v", tf.int64, 3)
    assert sparse_keys({"s": feature, "f": tf.VarLenFeature(tf.int64)}) == {"s"}
    assert sparse_keys(None) == sparse_keys("infer") == sparse_keys(({}, {"s": feature})) == frozenset()


@pytest.fixture
def path(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"x": list(range(7)), "s": [b"%d" % i for i in range(7)]})
    return str(tmp_path / "a")


FEATURES = {"x": tf.FixedLenFeature([], tf.int64)}


def test_datasets_show_what_they_read(path):
    dataset = TFRecordIterableDataset(path, FEATURES, batch_size=3)
    assert repr(dataset) == f"TFRecordIterableDataset({dataset.source!r})" and type(dataset.source) is tf.ShardReader
    elements = tf.data.Dataset.range(3)
    assert TFRecordIterableDataset(elements).source is elements and bool(dataset)
    mapped = TFRecordMapDataset(path, FEATURES)
    assert repr(mapped) == f"TFRecordMapDataset({mapped.reader!r})" and type(mapped.reader) is tf.IndexedReader


def test_what_has_its_features_already_is_given_alone(path):
    reader, elements, indexed = (
        tf.ShardReader(path, FEATURES),
        tf.data.Dataset.range(3),
        tf.IndexedReader(path, FEATURES),
    )
    for given, name in ((reader, "a ShardReader"), (elements, "a Dataset")):
        for more in ({"features": FEATURES}, {"label_key": "x"}, {"groups": {}}, {"batch_size": 3}):
            with pytest.raises(InvalidArgumentError, match=f"^{name} has its own features and options: pass it alone$"):
                TFRecordIterableDataset(given, **more)
    stores = ({"storage_options": {}}, {"max_requests": 5}, {"cache_dir": "copies"})
    for more in ({"features": FEATURES}, {"indexes": [None]}, {"groups": {}}, *stores):
        with pytest.raises(InvalidArgumentError, match="an IndexedReader has its own features and options"):
            TFRecordMapDataset(indexed, **more)
    assert TFRecordMapDataset(indexed).reader is indexed and TFRecordIterableDataset(reader).source is reader


def test_the_number_of_workers_is_checked(path):
    dataset = TFRecordIterableDataset(path, FEATURES, batch_size=3, num_workers=2)
    assert len(dataset) == 3
    with pytest.raises(InvalidArgumentError, match="has num_workers=2, but the DataLoader has 0: pass the same"):
        iter(dataset)
    assert [batch["x"].tolist() for batch in TFRecordIterableDataset(path, FEATURES, batch_size=3, num_workers=0)] == [
        [0, 1, 2], [3, 4, 5], [6],
    ]  # fmt: skip
    with pytest.raises(TypeError, match="the number of batches depends on the DataLoader's workers"):
        len(TFRecordIterableDataset(path, FEATURES))


def test_records_of_any_numbers_are_read(path):
    dataset = TFRecordMapDataset(path, FEATURES)
    assert dataset[-1]["x"].item() == 6 and dataset[2:5]["x"].tolist() == [2, 3, 4] and dataset[[]]["x"].tolist() == []
    assert dataset[torch.tensor([5, 0])]["x"].tolist() == [5, 0] and dataset[::-3]["x"].tolist() == [6, 3, 0]
    for i in (7, -8):
        with pytest.raises(IndexError, match=f"record {i} of 7 records"):
            dataset[i]
    doubled = TFRecordMapDataset(path, FEATURES, transform=lambda row: {"y": row["x"] * 2})
    assert (
        doubled[3]["y"].item() == 6
        and doubled[[1, 2]]["y"].tolist() == [2, 4]
        and doubled[5:]["y"].tolist() == [10, 12]
    )
    assert [row["y"].item() for row in doubled.__getitems__([6, 1])] == [12, 2]
    plain = TFRecordMapDataset(path)
    assert len(plain) == 7 and plain[0] == tf.IndexedReader(path)[0]
