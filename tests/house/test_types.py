"""The types of the package, as mypy sees them from outside."""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
import typing

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import surface
from tests.support.paths import ROOT


def test_typical_uses_pass_mypy_strictly():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "tests/support/typical_uses.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


CHECKERS = {
    "mypy": ([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"], r"^\S+?:(\d+): error"),
    "pyright": (["pyright", "--pythonpath", sys.executable], r":(\d+):\d+ - error"),
}


@pytest.mark.parametrize("checker", [name for name in CHECKERS if name == "mypy" or shutil.which(name)])
def test_type_checkers_find_each_mistake(checker):
    pytest.importorskip("mypy")
    file = "tests/support/type_mistakes.py"
    lines = (ROOT / file).read_text().splitlines()
    first = next(number for number, line in enumerate(lines, 2) if line.startswith("def mistakes"))
    command, error = CHECKERS[checker]
    run = subprocess.run([*command, file], cwd=ROOT, capture_output=True, text=True)
    found = {int(number) for number in re.findall(error, run.stdout, re.MULTILINE)}
    assert len(lines) - first >= 60
    assert not [lines[number - 1] for number in range(first, len(lines) + 1) if number not in found]
    assert not [number for number in found if number < first]


@pytest.fixture
def uses():
    pytest.importorskip("google.protobuf")
    from tests.support import typical_uses

    return typical_uses


@pytest.fixture
def path(uses, tmp_path):
    uses.write(tmp_path / "a.tfrecord")
    return tmp_path / "a.tfrecord"


def test_what_typical_uses_write_they_read(uses, path):
    assert len(uses.read_records(path)) == 8
    assert uses.count(str(path)) == 4
    assert uses.damaged(str(path)) == (None, None)


def test_typical_uses_save(uses, tmp_path):
    assert uses.save(str(tmp_path), np.ones(3, np.float32))


def test_typical_uses_encode(uses):
    assert len(uses.encoded(["a", "b"])) == 2


def callables():
    """Public functions and classes, and the methods of the package's own classes, by name."""
    for module_name in surface.PUBLIC:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                yield f"{module_name}.{name}", thing
            if inspect.isclass(thing) and thing.__module__.startswith("tfrecord_fast"):
                for attribute in ("__init__", "__iter__", *(one for one in dir(thing) if not one.startswith("_"))):
                    if inspect.isfunction(method := getattr(thing, attribute, None)):
                        yield f"{module_name}.{name}.{attribute}", method


def test_type_hints_can_be_asked_for_at_run_time():
    pytest.importorskip("google.protobuf")
    failed = {}
    for name, thing in callables():
        try:
            typing.get_type_hints(thing)
        except (NameError, TypeError) as error:
            failed[name] = str(error)
    assert not failed


def test_a_reader_may_be_given_the_types_of_what_it_yields():
    assert typing.get_args(tf.IndexedReader[bytes]) == (bytes, typing.Any)
    assert typing.get_args(tf.ShardReader[tf.RecordBatch]) == (tf.RecordBatch,)


@pytest.mark.parametrize("name", ["tfrecord_fast", "tfrecord_fast.train", "tfrecord_fast.typing"])
def test_help_shows_its_page(name):
    pytest.importorskip("google.protobuf")
    code = f"import pydoc, {name}; print(len(pydoc.render_doc({name})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1000
