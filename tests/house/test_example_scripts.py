"""The examples: each runs, and gives what the same script gives under TensorFlow, apart from the import line."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.support import live_tensorflow
from tests.support.paths import EXAMPLES

pytest.importorskip("google.protobuf")

NEEDS = {
    "images_with_annotations": ["PIL"],
    "movie_ratings": [],
    "sequences": [],
    "sparse_text": ["sklearn"],
    "structured_rows": ["PIL"],
}
IMPORT = "import tfrecord_fast as tf\n"

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")


def load(name):
    for module in NEEDS[name]:
        pytest.importorskip(module)
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(module, folder):
    for make in ("make_data", "write_images", "write"):
        if hasattr(module, make):
            getattr(module, make)(str(folder))


def under_tensorflow(source, folder, steps):
    """Runs functions of a script on a folder; gives what the last one does."""
    names = {"__name__": "example"}
    exec(source, names)
    for step in steps:
        result = names[step](folder) if step in names else None
    return result


def theirs(name, folder, *steps):
    source = (EXAMPLES / f"{name}.py").read_text()
    assert source.count(IMPORT) == 1
    return live_tensorflow.call(
        under_tensorflow, source.replace(IMPORT, "import tensorflow as tf\n"), str(folder), steps
    )


def assert_same(ours, expected):
    if isinstance(expected, dict):
        assert ours.keys() == expected.keys()
        for key in expected:
            assert_same(ours[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(ours) == len(expected)
        for one, other in zip(ours, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, bytes):
        assert ours == expected
    else:
        ours, expected = np.asarray(ours), np.asarray(expected)
        assert ours.dtype == expected.dtype and ours.shape == expected.shape
        if ours.dtype == np.float32:
            np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-7)
        else:
            assert np.array_equal(ours, expected)


@needs_tensorflow
@pytest.mark.parametrize("name", NEEDS)
def test_what_an_example_reads_is_what_tensorflow_reads(name, tmp_path):
    module = load(name)
    prepare(module, tmp_path)
    assert_same(module.read(str(tmp_path)), theirs(name, tmp_path, "read"))


@needs_tensorflow
@pytest.mark.parametrize("name", NEEDS)
def test_what_an_example_writes_under_tensorflow_is_read_here(name, tmp_path):
    module = load(name)
    expected = theirs(name, tmp_path, "make_data", "write_images", "write", "read")
    assert_same(module.read(str(tmp_path)), expected)


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_runs_as_a_script(name, tmp_path):
    load(name)
    backend = keras_backend()
    if backend is None and "import keras" in (EXAMPLES / f"{name}.py").read_text():
        pytest.skip("Keras with PyTorch or JAX is not installed")
    environment = {**os.environ, "KERAS_BACKEND": backend or "none"}
    script = [sys.executable, EXAMPLES / f"{name}.py", tmp_path]
    run = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def keras_backend():
    if importlib.util.find_spec("keras") is None:
        return None
    return next((name for name in ("jax", "torch") if importlib.util.find_spec(name)), None)


def trained(name, folder):
    """The losses, in a process of its own without TensorFlow."""
    if keras_backend() is None:
        pytest.skip("Keras with PyTorch or JAX is not installed")
    code = f"""
import sys
sys.modules["tensorflow"] = None
import {name} as example
print(example.train({str(folder)!r}))
"""
    environment = {**os.environ, "KERAS_BACKEND": keras_backend()}
    environment["PYTHONPATH"] = os.pathsep.join([str(EXAMPLES), *sys.path])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return eval(run.stdout.strip().splitlines()[-1])


@pytest.mark.parametrize("name", ["images_with_annotations", "structured_rows"])
def test_a_model_learns_from_what_an_example_reads(name, tmp_path):
    module = load(name)
    prepare(module, tmp_path)
    losses = trained(name, tmp_path)
    assert np.isfinite(losses).all() and losses[-1] < losses[0]


def test_the_picture_shows_a_box_around_the_shape(tmp_path):
    pytest.importorskip("matplotlib")
    from PIL import Image

    module = load("images_with_annotations")
    prepare(module, tmp_path)
    picture = np.asarray(Image.open(module.draw(str(tmp_path))).convert("RGB")).astype(int)
    lime = (picture[..., 1] > 200) & (picture[..., 0] < 100) & (picture[..., 2] < 100)
    assert lime.sum() > 100
    inside = np.argwhere(lime)
    top, left, bottom, right = *inside.min(axis=0), *inside.max(axis=0)
    sample = module.read(str(tmp_path))[0]
    width, height = sample["bbox"][2:]
    assert abs((right - left) / (bottom - top) - width / height) < 0.1


def test_a_model_learns_from_what_ray_reads():
    for module in ("ray", "torch"):
        pytest.importorskip(module)
    environment = {**os.environ, "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    script = [sys.executable, EXAMPLES / "ray_training.py"]
    run = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert "largest error of a weight: 0.0" in run.stdout


def test_spark_prepares_training_data():
    pytest.importorskip("pyspark")
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
    script = [sys.executable, EXAMPLES / "spark_etl.py"]
    run = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["_manifest.json", "day=1", "day=2", "day=3", "29700 rows of 500 users"]
