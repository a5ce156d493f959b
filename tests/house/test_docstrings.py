"""Every public name says what it does, and the examples in docstrings do what they say."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import tfrecord_fast
from tests.support.surface import PUBLIC

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(tfrecord_fast.__path__, "tfrecord_fast.")
    if not name.endswith((".__main__", "._core"))
]
NEEDS = {"tfrecord_fast.examples.messages": "google.protobuf", "tfrecord_fast.examples.tensors": "google.protobuf"}
NEEDS |= {"tfrecord_fast.examples.build": "google.protobuf", "tfrecord_fast.images.encoding": "PIL"}
NEEDS |= {"tfrecord_fast.compat.v1": "google.protobuf", "tfrecord_fast.data.experimental": "google.protobuf"}
NEEDS |= {"tfrecord_fast.train": "google.protobuf", "tfrecord_fast.image": "PIL"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_do_what_they_say(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def documented(thing):
    return not (inspect.isclass(thing) or callable(thing)) or bool(inspect.getdoc(thing))


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_sorted_and_have_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__ and len(set(module.__all__)) == len(module.__all__)
    assert [one for one in module.__all__ if not documented(getattr(module, one))] == []


def test_methods_of_datasets_have_docstrings():
    methods = [one for one in dir(tfrecord_fast.data.Dataset) if not one.startswith("_")]
    assert len(methods) > 30
    assert [one for one in methods if not inspect.getdoc(getattr(tfrecord_fast.data.Dataset, one))] == []
