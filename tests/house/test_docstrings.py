"""Every public name says what it does, and the examples in docstrings do what they say."""

import doctest
import importlib
import inspect
import os
import subprocess
import sys

import pytest

import tfrecord_fast
from tests.support.paths import ROOT
from tests.support.surface import PUBLIC


def dotted(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(dotted(path) for path in (ROOT / "tfrecord_fast").rglob("*.py") if path.stem != "__main__")
FRAMEWORKS = sorted({name.split(".")[2] for name in MODULES if name.startswith("tfrecord_fast.integrations.")})
NEED_MORE = {"beam": "apache_beam", "grain": "grain"}  # than the suite has everywhere
NEEDS = {
    "tfrecord_fast.examples.messages.protobuf": "google.protobuf",
    "tfrecord_fast.examples.messages.tensors": "google.protobuf",
}
NEEDS |= {"tfrecord_fast.examples.messages.build": "google.protobuf", "tfrecord_fast.images.encoding": "PIL"}
NEEDS |= {"tfrecord_fast.compat.v1": "google.protobuf", "tfrecord_fast.data.experimental": "google.protobuf"}
NEEDS |= {"tfrecord_fast.train": "google.protobuf", "tfrecord_fast.image": "PIL"}


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("tfrecord_fast.integrations.")])
def test_examples_in_docstrings_do_what_they_say(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_examples_for_frameworks_do_what_they_say(framework, tmp_path):
    """In a process each: TensorFlow, which Keras imports, and Triton, which PyTorch does, abort beside each other."""
    if framework in NEED_MORE:
        pytest.importorskip(NEED_MORE[framework])
    inside = f"tfrecord_fast.integrations.{framework}"
    names = [name for name in MODULES if name == inside or name.startswith(f"{inside}.")]
    check = "import doctest, importlib, sys; sys.exit(sum(doctest.testmod(importlib.import_module(n))[0] for n in %r))"
    environment = {**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", check % names], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


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
