"""TensorFlow's functions take our tensors, and Keras' methods our datasets: with stand-ins for both."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf
from tfrecord_fast.tensorflow import dataset_methods as tf_keras
from tfrecord_fast.tensorflow import interop


class _Made:
    """The arguments of a stand-in's function."""

    def __init__(self, *arguments, **named):
        self.given, self.named = arguments, named

    @classmethod
    def from_nested_row_splits(cls, *arguments):
        return cls(*arguments)

    def apply(self, count):
        return SimpleNamespace(dataset=self, count=count)


class _Tensor(_Made):
    pass


@pytest.fixture
def stand_in(monkeypatch):
    """Replace TensorFlow by a stand-in."""
    kinds = {name: type(name, (_Made,), {}) for name in ("Variable", "SparseTensor", "RaggedTensor")}
    specs = {
        f"{name}Spec": lambda *arguments, name=name: (name, *arguments) for name in ("SparseTensor", "RaggedTensor")
    }
    dataset = SimpleNamespace(from_generator=_Made)
    data = SimpleNamespace(Dataset=dataset, experimental=SimpleNamespace(assert_cardinality=lambda count: count))
    kinds |= {"Tensor": _Tensor, "constant": _Tensor}
    module = SimpleNamespace(data=data, TensorSpec=lambda *arguments: ("Tensor", *arguments), **kinds, **specs)
    monkeypatch.setitem(sys.modules, "tensorflow", module)
    monkeypatch.setattr(interop, "_classes", ())
    return module


def test_their_tensors_are_seen(stand_in):
    own = tf.constant([1])
    assert (
        interop.has_tensorflow_values([1, _Tensor()])
        and interop.has_tensorflow_values([[1, _Tensor()]])
        and interop.has_tensorflow_values([(_Tensor(),)])
    )
    assert interop.has_tensorflow_values({"a": stand_in.RaggedTensor()}.values()) and interop.has_tensorflow_values(
        [stand_in.Variable()]
    )
    assert not interop.has_tensorflow_values(
        [own, [own], {"a": _Tensor()}, None]
    ) and not interop.has_tensorflow_values([])


def test_their_tensors_are_none_before_their_module_is_complete(monkeypatch):
    monkeypatch.setattr(interop, "_classes", ())
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    assert interop.has_tensorflow_values([_Tensor()]) is False
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(Tensor=_Tensor))
    assert not interop.has_tensorflow_values([_Tensor()]) and interop._classes == ()


def test_a_function_is_theirs_for_their_tensors(stand_in):
    of_both = interop.dispatch(lambda *arguments, **named: "ours", "tf.add", lambda name: lambda *a, **b: (name, a, b))
    other = _Tensor()
    assert of_both(1, x=2) == of_both() == "ours"
    assert of_both(other, 2) == ("tf.add", (other, 2), {}) and of_both(1, x=other) == ("tf.add", (1,), {"x": other})


def test_values_as_theirs(stand_in):
    sparse = interop.to_tensorflow_value(tf.SparseTensor([[0, 1]], [7], [2, 3]))
    assert isinstance(sparse, stand_in.SparseTensor)
    assert [piece.tolist() for piece in sparse.given] == [[[0, 1]], [7], [2, 3]]
    assert all(type(piece) is np.ndarray for piece in sparse.given)
    ragged = interop.to_tensorflow_value(tf.ragged.constant([[[1], [2, 3]], []]))
    assert isinstance(ragged, stand_in.RaggedTensor) and ragged.given[0].tolist() == [1, 2, 3]
    assert [piece.tolist() for piece in ragged.given[1]] == [[0, 2, 2], [0, 1, 3]]
    assert all(type(piece) is np.ndarray for piece in (ragged.given[0], *ragged.given[1]))
    result = interop.to_tensorflow_value({"a": [tf.constant([1]), "x"], "b": (tf.constant(2), 3)})
    assert result == {"a": [np.array([1]), "x"], "b": (2, 3)}
    assert (
        type(result["a"][0]) is np.ndarray and type(result["b"]) is tuple and interop.to_tensorflow_value(None) is None
    )
    assert type(interop.to_tensorflow_value(tf.constant("a"))) is bytes


def test_their_functions_take_our_tensors(stand_in):
    def function(*arguments, **named):
        """The docstring."""
        return arguments, named

    taken = interop.accept_our_tensors(function)
    arguments, named = taken(tf.constant([1, 2]), 3, x=[{"y": tf.constant("a")}], z=tf.ragged.constant([[1]]))
    assert (
        isinstance(arguments[0], _Tensor)
        and arguments[0].given[0].tolist() == [1, 2]
        and arguments[0].given[1] == "int32"
    )
    assert arguments[1] == 3 and named["x"][0]["y"].given == (b"a", "string") and taken.__doc__ == "The docstring."
    assert isinstance(named["z"], stand_in.RaggedTensor)
    assert interop.accept_our_tensors(stand_in) is stand_in and interop.accept_our_tensors(_Made) is _Made


def test_a_dataset_of_theirs_over_ours(stand_in):
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[1, 0], [0, 2]])
    dataset = tf.data.Dataset.from_tensors({"a": [1.5, 2.5], "b": ragged, "c": sparse}).repeat(3)
    result = tf_keras.to_tensorflow(dataset)
    assert result.count == 3
    assert result.dataset.named["output_signature"] == {
        "a": ("Tensor", [2], "float32"),
        "b": ("RaggedTensor", [2, None], "int32", 1, "int64"),
        "c": ("SparseTensor", [2, 2], "int32"),
    }
    elements = list(result.dataset.given[0]())
    assert len(elements) == 3 and elements[0]["a"].tolist() == [1.5, 2.5]
    assert isinstance(elements[0]["b"], stand_in.RaggedTensor)
    unknown = tf_keras.to_tensorflow(tf.data.Dataset.range(3).filter(lambda x: x > 0))
    assert isinstance(unknown, _Made) and unknown.named["output_signature"] == ("Tensor", [], "int64")
    endless = tf_keras.to_tensorflow(tf.data.Dataset.range(3).repeat())
    assert endless.count == -1


def test_a_dataset_whose_rank_is_not_known(stand_in):
    specs = (tf.TensorSpec(None, tf.int32), tf.SparseTensorSpec(None, tf.string), tf.TensorSpec([None], tf.bool))
    result = tf_keras.to_tensorflow(SimpleNamespace(element_spec=specs, cardinality=lambda: -2))
    wanted = (("Tensor", None, "int32"), ("SparseTensor", None, "string"), ("Tensor", [None], "bool"))
    assert result.named["output_signature"] == wanted


class _Model:
    def fit(self, x=None, y=None, validation_data=None):
        """Fits."""
        return x, y, validation_data

    evaluate = predict = fit


class _Layer:
    def adapt(self, data):
        return data


@pytest.fixture
def keras(monkeypatch):
    kinds = {name: type(name, (_Layer,), {"adapt": _Layer.adapt}) for name in ("Normalization", "StringLookup")}
    functions = {name: getattr(_Model, name) for name in ("fit", "evaluate", "predict")}
    module = SimpleNamespace(
        Model=type("Model", (), functions),
        layers=SimpleNamespace(**kinds),
        backend=SimpleNamespace(backend=lambda: module.of),
        of="jax",
    )
    monkeypatch.setitem(sys.modules, "keras", module)
    taken = SimpleNamespace(TFRecordPyDataset=lambda dataset: ("for Keras", dataset))
    monkeypatch.setattr(tf_keras, "import_package", lambda name: {"tfrecord_fast.integrations.keras": taken}[name])
    return module


def test_methods_of_keras_take_datasets(keras):
    plain = keras.Model.fit
    tf_keras.teach_keras()
    assert keras.Model.fit is not plain and keras.Model.fit.__doc__ == "Fits."
    dataset, model = tf.data.Dataset.range(3), keras.Model()
    for method in (model.fit, model.evaluate, model.predict):
        (x, y, more) = method(dataset, "y", validation_data=dataset)
        assert x[0] == more[0] == "for Keras" and y == "y" and type(x[1]).__module__ == "tfrecord_fast.data.dataset"
    x, y, more = model.fit(x=[1], y=dataset)
    assert x == [1] and y is dataset and more is None


def test_layers_adapt_to_datasets(keras, monkeypatch):
    """They look for datasets of TensorFlow's: without it, they find this package."""
    dataset = tf.data.Dataset.range(3)
    monkeypatch.setattr(tf_keras, "to_tensorflow", lambda dataset: ("theirs", dataset))
    monkeypatch.setattr(tf_keras, "installed", lambda: True)
    tf_keras.teach_keras()
    assert keras.layers.Normalization().adapt(data=dataset) == ("theirs", dataset)
    assert keras.layers.StringLookup().adapt("x") == "x"


def test_layers_adapt_to_datasets_without_tensorflow(keras, monkeypatch):
    scope = {"tf": None}
    exec("def adapt(self, data, *, steps=3):\n    'Adapts.'\n    return tf, data, steps", scope)
    keras.layers.Normalization.adapt = scope["adapt"]
    monkeypatch.setattr(tf_keras, "installed", lambda: False)
    tf_keras.teach_keras()
    dataset = tf.data.Dataset.range(3)
    assert keras.layers.Normalization().adapt(dataset) == (tf, dataset, 3) and scope["tf"] is None
    assert keras.layers.Normalization.adapt.__doc__ == "Adapts."


def test_keras_learns_only_once(keras):
    tf_keras.teach_keras()
    taught = keras.Model.fit
    tf_keras.teach_keras()
    assert keras.Model.fit is taught


def test_keras_over_tensorflow_takes_theirs(keras, monkeypatch):
    keras.of = "tensorflow"
    monkeypatch.setattr(tf_keras, "to_tensorflow", lambda dataset: ("theirs", dataset))
    tf_keras.teach_keras()
    dataset = tf.data.Dataset.range(3)
    assert keras.Model().fit(dataset)[0] == ("theirs", dataset)


def test_keras_that_is_not_there_or_not_complete(monkeypatch):
    for keras in (None, SimpleNamespace()):
        monkeypatch.setitem(sys.modules, "keras", keras)
        assert tf_keras.teach_keras() is None
