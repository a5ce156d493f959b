"""Arrow's tables as Ray's, and back, and what a task of Ray writes, without a cluster."""

import functools

import numpy as np
import pytest

import tfrecord_fast as tf

pytest.importorskip("ray")

import pyarrow as pa
import ray.data
from ray.data.extensions import ArrowTensorArray, ArrowTensorTypeV2, ArrowVariableShapedTensorArray

from tfrecord_fast.integrations.ray import reading
from tfrecord_fast.integrations.ray.tensors import as_lists, as_tensors, tensor_schema


def fixed(values, *shape):
    array = pa.array(values)
    for size in reversed(shape):
        array = pa.FixedSizeListArray.from_arrays(array, size)
    return array


def tensors(array):
    return ArrowTensorArray.from_numpy(array)


def lists_of(*chunks, name="x"):
    kind = chunks[0].type
    return as_lists(pa.table({name: pa.chunked_array(chunks, kind)})).column(name)


# ---- To Ray ----


def test_lists_of_fixed_size_become_tensors_and_come_back():
    batch = pa.RecordBatch.from_pydict(
        {"a": fixed(np.arange(12), 2, 3), "b": pa.array([1.5, 2.5]), "c": fixed(np.float32([1, 2]), 1)}
    )
    schema = tensor_schema(batch.schema, frozenset({"a", "c"}))
    assert schema.field("a").type == ArrowTensorTypeV2((2, 3), pa.int64()) and schema.field("b").type == pa.float64()
    assert schema.field("c").type == ArrowTensorTypeV2((1,), pa.float32())
    for part in (batch, batch.slice(1), batch.slice(0, 1), batch.slice(2)):
        table = as_tensors(part, schema)
        assert table.schema == schema and as_lists(table).to_pydict() == part.to_pydict()
    assert tensor_schema(batch.schema, frozenset()) == batch.schema


# ---- From Ray ----


def test_tensors_are_nested_as_their_shape_is():
    found = lists_of(tensors(np.arange(12).reshape(2, 3, 2)), tensors(np.arange(6).reshape(1, 3, 2)))
    assert found.to_pylist() == [*np.arange(12).reshape(2, 3, 2).tolist(), np.arange(6).reshape(3, 2).tolist()]
    assert found.type == pa.list_(pa.list_(pa.int64(), 2), 3)


def test_text_is_text():
    array = tensors(np.array([["ab", "ä"], ["", "xyz"], ["q", "r"]]))
    assert lists_of(array).to_pylist() == [["ab", "ä"], ["", "xyz"], ["q", "r"]]
    assert lists_of(array.slice(1, 1), array.slice(2)).to_pylist() == [["", "xyz"], ["q", "r"]]
    ragged = ArrowVariableShapedTensorArray.from_numpy([np.array(["ab", "c"]), np.array(["def"])])
    found = lists_of(ragged)
    assert found.to_pylist() == [["ab", "c"], ["def"]] and found.type.value_type == pa.large_string()
    assert lists_of(ragged.slice(1)).to_pylist() == [["def"]]


def test_a_tensor_that_is_missing_stays_missing():
    array = tensors(np.arange(6).reshape(3, 2))
    masked = pa.ExtensionArray.from_storage(array.type, pa.array([[0, 1], None, [4, 5]], array.storage.type))
    assert lists_of(masked).to_pylist() == [[0, 1], None, [4, 5]]


def test_columns_without_a_value_are_of_no_type():
    table = as_lists(
        pa.table({"a": pa.array([None, None]), "b": pa.array([[], []], pa.list_(pa.null())), "c": pa.array([1, 2])})
    )
    assert [field.type for field in table.schema] == [pa.null(), pa.null(), pa.int64()]
    assert table.to_pydict() == {"a": [None, None], "b": [None, None], "c": [1, 2]}
    empty = lists_of(tensors(np.zeros((1, 2)))[:0])
    assert (
        empty.to_pylist() == []
        and len(as_lists(pa.table({"x": pa.chunked_array([], tensors(np.zeros((1, 2))).type)}))) == 0
    )


def test_objects_are_refused_with_their_type():
    from ray.data.extensions import ArrowPythonObjectArray

    array = ArrowPythonObjectArray.from_objects([None, {1, 2}, "x"])
    with pytest.raises(TypeError) as caught:
        lists_of(array, name="col")
    said = str(caught.value)
    assert said.startswith("column 'col' holds Python objects, which no feature can hold: the first is of type ")
    assert said.endswith(("set", "NoneType"))


# ---- Writing ----


# ---- Reading ----


@pytest.mark.parametrize(
    ("most", "expected"), [(None, [4, 4, 2]), (10, [4, 4, 2]), (9, [4, 4, 1]), (8, [4, 4]), (5, [4, 1]), (0, [0])]
)
def test_a_task_gives_as_many_rows_as_are_wanted(most, expected):
    batches = [pa.RecordBatch.from_pydict({"x": list(range(i, min(i + 4, 10)))}) for i in (0, 4, 8)]
    tables = list(reading._read_function(batches, batches[0].schema, most)())
    assert [len(table) for table in tables] == expected
    assert [row for table in tables for row in table.column("x").to_pylist()] == list(
        range(10 if most is None else most)
    )


def test_what_ray_does_not_name_goes_to_its_tasks(monkeypatch, tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"x": [1]})
    asked = []
    fake = functools.wraps(ray.data.read_datasource)(lambda source, **given: asked.append(given))
    monkeypatch.setattr(ray.data, "read_datasource", fake)
    reading.read_tfrecords(str(tmp_path / "a"), ray_remote_args={"num_cpus": 2, "max_retries": 3})
    reading.read_tfrecords(str(tmp_path / "a"), ray_remote_args={"num_cpus": 2})
    reading.read_tfrecords(str(tmp_path / "a"), concurrency=4, override_num_blocks=7)
    assert asked[0]["num_cpus"] == 2 and asked[0]["ray_remote_args"] == {"max_retries": 3}
    assert asked[1] == {"num_cpus": 2, "override_num_blocks": 1, "concurrency": None}
    assert asked[2] == {"override_num_blocks": 7, "concurrency": 4}


def test_chunks_of_tensors_with_and_without_missing_rows_make_one_column():
    kind = ArrowTensorTypeV2((2,), pa.int64())
    chunks = [
        pa.ExtensionArray.from_storage(kind, pa.array(rows, pa.large_list(pa.int64())))
        for rows in ([[1, 2], [3, 4]], [[5, 6], None])
    ]
    table = pa.Table.from_arrays([pa.chunked_array(chunks)], names=["t"])
    assert as_lists(table).column("t").to_pylist() == [[1, 2], [3, 4], [5, 6], None]
