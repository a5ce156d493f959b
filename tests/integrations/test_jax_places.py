"""Where integrations.jax puts columns: shardings by feature, of several processes, and those that do not fit."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations import jax as integration
from tfrecord_fast.integrations.jax import device_put
from tfrecord_fast.values.columns.bytes_array import BytesArray


@pytest.fixture(scope="module")
def mesh():
    return Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("a", "b"))


def test_each_feature_goes_where_it_is_said(mesh):
    rows, whole = NamedSharding(mesh, PartitionSpec("a")), NamedSharding(mesh, PartitionSpec())
    made = device_put({"x": np.float32([1, 2]), "y": np.int32([3])}, {"x": rows, "y": whole, "unused": rows})
    assert made["x"].sharding == rows and made["y"].sharding == whole and made["x"].tolist() == [1, 2]
    with pytest.raises(InvalidArgumentError, match=r"^feature 'z': the shardings are for \[\"'x'\", \"'y'\"\]$"):
        device_put({"x": np.float32([1]), "z": np.float32([1])}, {"y": whole, "x": rows})
    (device,) = mesh.devices.flat
    made = device_put({"x": np.float32([1]), "y": np.int32([3])}, {"x": device, "y": None})
    assert made["x"].devices() == {device} and made["y"].tolist() == [3]


def test_a_column_that_can_not_be_laid_out_is_named(mesh):
    place = NamedSharding(mesh, PartitionSpec("a", "b"))
    with pytest.raises(
        InvalidArgumentError, match=r"^feature 'x': an array of shape \[3\] can't be laid out as "
    ) as caught:
        device_put({"w": np.float32([[1]]), "x": np.float32([1, 2, 3])}, place)
    assert str(place) in str(caught.value) and isinstance(caught.value.__cause__, ValueError)
    assert str(caught.value).endswith("; drop_remainder=True leaves out a smaller last batch")
    with pytest.raises(InvalidArgumentError, match=r"feature 's': an array of shape \[\] can't be laid out") as caught:
        device_put({"s": np.float32(1)}, place)
    assert "drop_remainder" not in str(caught.value)


def test_another_error_of_jax_stays(mesh, monkeypatch):
    def fail(arrays, places):
        raise RuntimeError("no device")

    monkeypatch.setattr(jax, "device_put", fail)
    with pytest.raises(RuntimeError, match="no device"):
        device_put({"x": np.float32([1, 2])})


def test_arrays_of_objects_are_padded_as_strings_are():
    made = device_put({"x": np.array([b"abc", b"", b"d"], object)}, pad={"x": 4})
    assert made["x"].dtype == np.uint8 and made["x"].tolist() == [[97, 98, 99, 0], [0] * 4, [100, 0, 0, 0]]
    made = device_put({"x": BytesArray([[b"a", b"bc"]])}, pad={"x": 2})
    assert made["x"].tolist() == [[[97, 0], [98, 99]]]
    with pytest.raises(InvalidArgumentError, match=r"^feature 'x': a row has 3 values, but its pad is 2$"):
        device_put({"x": np.array([b"abc"], object)}, pad={"x": 2})
    assert device_put({"x": np.array([], object)}, pad={"x": 2})["x"].shape == (0, 2)


def test_padding_for_a_feature_that_there_is_not_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"pad has \[\"'a'\", \"'b'\"\], which this batch does not have"):
        device_put({"x": np.float32([1])}, pad={"b": 1, "a": 2})
    with pytest.raises(InvalidArgumentError, match='others must be "raise", "drop" or "keep", got \'no\''):
        device_put({"x": np.float32([1])}, others="no")


def test_a_refusal_says_what_it_is():
    for value, what in (
        (BytesArray([b"a"]), "a BytesArray, which is strings; others="),
        (np.array([b"a"], object), "an array of object, which is strings; others="),
        (np.array(["2020"], "datetime64[Y]"), "an array of datetime64[Y]; others="),
        ([[1], [2, 3]], "a list; others="),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            device_put({"x": value})
        assert str(caught.value).startswith(f"feature 'x': devices can't hold {what}\"drop\"")
        assert ("pad={'x': width} converts it to dense rows" in str(caught.value)) == ("strings" in what)


def test_what_is_dropped_leaves_its_place_in_a_tuple(monkeypatch):
    monkeypatch.setattr(integration, "_warned", set())
    made = device_put((np.float32([1]), [b"a"], {"x": [b"a"], "y": np.int32([2])}), others="drop")
    assert type(made) is tuple and made[0].tolist() == [1] and made[1] is None and list(made[2]) == ["y"]
    kept = [b"a"]
    assert device_put({"x": kept}, others="keep")["x"] is kept
