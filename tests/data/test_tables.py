"""Data frames, series and other libraries' arrays as elements: their values, never the names of their columns."""

import numpy as np
import pytest

import tfrecord_fast as tf

Dataset = tf.data.Dataset
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

DATA = {"x": [1, 2], "y": [3, 4]}
TABLES = {"pandas": pandas.DataFrame(DATA), "polars": polars.DataFrame(DATA), "arrow": pyarrow.table(DATA)}
TEXT = ["a", "bc"]
TEXTS = {
    "pandas": pandas.Series(TEXT),
    "objects": pandas.Series(TEXT, dtype=object),
    "categories": pandas.Series(TEXT, dtype="category"),
    "index": pandas.Index(TEXT),
    "polars": polars.Series(TEXT),
    "arrow": pyarrow.array(TEXT),
    "chunks": pyarrow.chunked_array([TEXT]),
    "strings of any length": np.array(TEXT, np.dtypes.StringDType()),
}


def values(element):
    return element.tolist() if isinstance(element, np.ndarray | np.generic) else element


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_slices_of_a_table_are_its_rows(table):
    assert list(map(values, Dataset.from_tensor_slices(table))) == [[1, 3], [2, 4]]
    pairs = list(Dataset.from_tensor_slices((table, pandas.Series([1, 0]))))
    assert [(values(row), values(label)) for row, label in pairs] == [([1, 3], 1), ([2, 4], 0)]
    assert all(type(row) is np.ndarray and type(label) is np.int64 for row, label in pairs)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_as_an_element_is_an_array(table):
    (element,) = Dataset.from_tensors(table)
    assert type(element) is np.ndarray and element.tolist() == [[1, 3], [2, 4]]
    (element,) = Dataset.range(1).map(lambda _: table)
    assert type(element) is np.ndarray and element.tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("column", TEXTS.values(), ids=TEXTS)
def test_text_is_bytes(column):
    assert list(Dataset.from_tensor_slices(column)) == [b"a", b"bc"]


def test_numbers_are_numpys():
    for column in (
        pandas.Series([1, 2]),
        pandas.Series([1, 2], dtype="Int64"),
        polars.Series([1, 2]),
        pyarrow.array([1, 2]),
    ):
        elements = list(Dataset.from_tensor_slices(column))
        assert elements == [1, 2] and all(type(element) is np.int64 for element in elements)
    assert [type(element) for element in Dataset.from_tensor_slices(range(2))] == [np.int32, np.int32]


def test_a_table_of_text_and_numbers_and_a_missing_text_are_refused():
    for column in (pandas.DataFrame({"a": TEXT, "b": [1, 2]}), pandas.Series(["a", None])):
        with pytest.raises(TypeError, match="not bytes-like"):
            Dataset.from_tensor_slices(column)


def test_later_changes_to_a_table_do_not_show():
    frame = pandas.DataFrame(DATA)
    rows = Dataset.from_tensor_slices(frame)
    frame.loc[0, "x"] = 9
    assert list(map(values, rows)) == [[1, 3], [2, 4]]
