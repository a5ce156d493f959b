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


def test_examples_in_docstrings_do_what_they_say():
    pytest.importorskip("google.protobuf")
    pytest.importorskip("PIL")
    names = [name for name in MODULES if not name.startswith("tfrecord_fast.integrations.")]
    assert not [name for name in names if doctest.testmod(importlib.import_module(name)).failed]


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


def test_public_names_have_docstrings():
    modules = {name: importlib.import_module(name) for name in PUBLIC}
    assert not [name for name, module in modules.items() if not module.__doc__]
    names = [(module, name) for module in modules.values() for name in module.__all__]
    assert not [f"{module.__name__}.{name}" for module, name in names if not documented(getattr(module, name))]


def has_example(thing):
    is_shown = not (inspect.isclass(thing) or callable(thing)) or hasattr(thing, "DESCRIPTOR")  # messages of protobuf
    return is_shown or ">>> " in (inspect.getdoc(thing) or "")


@pytest.mark.parametrize("module", ["tfrecord_fast", "tfrecord_fast.io", "tfrecord_fast.data"])
def test_public_names_have_examples(module):
    module = importlib.import_module(module)
    assert [name for name in module.__all__ if not has_example(getattr(module, name))] == []


def test_no_public_name_is_listed_twice():
    lists = {name: importlib.import_module(name).__all__ for name in PUBLIC}
    assert not [module for module, names in lists.items() if len(set(names)) < len(names)]


def test_methods_of_datasets_have_docstrings():
    methods = [one for one in dir(tfrecord_fast.data.Dataset) if not one.startswith("_")]
    assert len(methods) > 30
    assert [one for one in methods if not inspect.getdoc(getattr(tfrecord_fast.data.Dataset, one))] == []
