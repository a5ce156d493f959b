"""Importing the package: what it costs, and what it leaves alone."""

import os
import shutil
import signal
import statistics
import subprocess
import sys

import pytest

import tfrecord_fast
from tests.support import live_tensorflow
from tests.support.command import COMMAND, interruptible
from tests.support.paths import ROOT

BUDGET = 0.030  # seconds over `import numpy`
HEAVY = {"google", "torch", "tensorflow", "pyarrow", "pandas", "fsspec", "rich", "argparse", "asyncio"}

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")


def python(code, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=kept | environment)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def cost_of_import(compiled):
    """In this process's own CPU time, so that others on the machine do not count; modules compiled, as an installer
    leaves them."""
    code = "import numpy, time; t = time.process_time(); import tfrecord_fast; print(time.process_time() - t)"
    return float(python(code, PYTHONPYCACHEPREFIX=str(compiled)))


@pytest.mark.skipif(bool(tfrecord_fast.build_info()["sanitizers"]), reason="sanitizers take their time")
def test_import_costs_at_most_30_ms_over_numpy(tmp_path):
    cost_of_import(tmp_path)  # compiles
    costs = [cost_of_import(tmp_path) for _ in range(7)]
    assert min(costs) <= BUDGET, f"CPU seconds: {sorted(costs)}, median {statistics.median(costs)}"


def test_nothing_heavy_is_imported():
    code = "import numpy, sys; before = set(sys.modules); import tfrecord_fast; print(*set(sys.modules) - before)"
    imported = {name.partition(".")[0] for name in python(code).split()}
    assert not imported & HEAVY


def test_reading_and_writing_import_nothing_heavy(tmp_path):
    code = f"""
import sys, tfrecord_fast as tf
with tf.io.TFRecordWriter({str(tmp_path / "a")!r}) as writer: writer.write(b"abc")
assert list(tf.data.TFRecordDataset({str(tmp_path / "a")!r})) == [b"abc"]
print(*sys.modules)
"""
    imported = {name.partition(".")[0] for name in python(code).split()}
    assert not imported & {"google", "torch", "tensorflow", "fsspec", "rich", "pyarrow"}


@pytest.mark.parametrize(
    "fake, message",
    [
        ("sys.flags = flags(gil=0)", "is not safe without the GIL: start Python without PYTHON_GIL=0"),
        ("sys.platform = 'win32'", "does not run on Windows: use WSL"),
        ("sys.modules['numpy'] = None", "import of numpy halted"),
    ],
)
def test_an_interpreter_that_cannot_run_the_core_is_refused_before_the_core_is_loaded(fake, message):
    code = f"""
import json, re, signal, sys, threading, types  # with the true values
def flags(**changed):
    kept = {{name: getattr(sys.flags, name) for name in dir(sys.flags) if name[0] != "_"}}
    return types.SimpleNamespace(**kept | changed)
{fake}
try:
    import tfrecord_fast
except ImportError as error:
    print(error, "tfrecord_fast._core" in sys.modules)
"""
    printed = python(code)
    assert message in printed and printed.endswith("False") and printed.count("\n") == 0


def test_sources_that_were_not_built_say_so(tmp_path):
    shutil.copytree(
        ROOT / "tfrecord_fast", tmp_path / "tfrecord_fast", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    code = "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in str(f)]; import tfrecord_fast"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert f"ImportError: {tmp_path}/tfrecord_fast has the sources of tfrecord_fast, but not its core" in done.stderr


def test_nothing_is_registered_in_protobufs_default_pool():
    pytest.importorskip("google.protobuf")
    code = """
import tfrecord_fast
from google.protobuf import descriptor_pool
pool = descriptor_pool.Default()
def there(find, name):
    try:
        find(name)
    except KeyError:
        return False
    return True
names = ["tensorflow.Example", "tensorflow.SequenceExample", "tensorflow.Features", "tensorflow.Feature"]
print([n for n in names if there(pool.FindMessageTypeByName, n)])
files = ["tensorflow/core/example/example.proto", "tensorflow/core/example/feature.proto", "example.proto"]
print([f for f in files if there(pool.FindFileByName, f)])
"""
    assert python(code).split("\n") == ["[]", "[]"]


@needs_tensorflow
@pytest.mark.parametrize("order", ["tensorflow, tfrecord_fast", "tfrecord_fast, tensorflow"])
def test_it_lives_in_one_process_with_tensorflow(order, tmp_path):
    code = f"""
import {order}
import tensorflow, tfrecord_fast
for theirs, ours in [(tensorflow, tfrecord_fast), (tfrecord_fast, tensorflow)]:
    for compression in ["", "GZIP"]:
        with theirs.io.TFRecordWriter({str(tmp_path / "a")!r}, compression) as writer:
            writer.write(tensorflow.train.Example().SerializeToString())
            writer.write(b"abc")
        dataset = ours.data.TFRecordDataset({str(tmp_path / "a")!r}, compression)
        assert list(dataset.as_numpy_iterator()) == [b"", b"abc"]
print("fine")
"""
    assert python(code) == "fine"


@needs_tensorflow
def test_private_names_do_not_import_tensorflow():
    code = """
import sys
import tfrecord_fast.tensorflow as tf
for module in [tf, tf.io, tf.data, tf.math, tf.strings]:
    for name in ["_mock_name", "__wrapped__", "_repr_html_"]:
        assert not hasattr(module, name)
assert "tensorflow" not in sys.modules
"""
    python(code)


def test_all_is_sorted_and_every_name_exists():
    names = tfrecord_fast.__all__
    assert sorted(names) == names or sorted(names, key=str.lower) == names
    assert all(hasattr(tfrecord_fast, name) for name in names)


def test_build_info_says_what_was_built():
    info = tfrecord_fast.build_info()
    assert info["version"] == tfrecord_fast.__version__ and info["compiler"].split()[0] in ("gcc", "clang")
    assert set(info["codecs"]) == {"isa-l", "libdeflate", "zlib", "zstd", "snappy"}
    assert all(info["simd"][room] in info["simd_available"][room] for room in ("crc32c", "varint", "images"))


IN_ANOTHER_INTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), '''
try:
    import tfrecord_fast._core
except ImportError as error:
    print(error)
''')
"""


def test_a_subinterpreter_gets_an_import_error():
    run = subprocess.run([sys.executable, "-c", IN_ANOTHER_INTERPRETER], capture_output=True, text=True, timeout=60)
    assert ("main interpreter" in run.stdout) or ("does not support loading in subinterpreters" in run.stdout), run


INTERRUPTS = """
import signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
"""


@pytest.mark.parametrize(
    "name",
    ["numpy", "numpy.lib", "tfrecord_fast._core", "tfrecord_fast.data", "tfrecord_fast.files.writing.writer", "queue"],
)
def test_an_interrupted_import_can_be_repeated(tmp_path, name):
    code = f"""
{INTERRUPTS.format(name=name)}
def use():
    import tfrecord_fast as tf
    with tf.io.TFRecordWriter({str(tmp_path / "a")!r}) as writer: writer.write(b"abc")
    return list(tf.data.TFRecordDataset({str(tmp_path / "a")!r}))
try:
    use()
except KeyboardInterrupt:
    print("interrupted", use(), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=interruptible)
    assert (run.stdout, run.stderr) == ("interrupted [b'abc'] True\n", "")


@pytest.mark.parametrize("name", ["numpy", "tfrecord_fast._core", "tfrecord_fast.__main__", "argparse"])
@pytest.mark.parametrize("is_script", [True, False])
def test_the_command_dies_of_ctrl_c_while_it_starts(tmp_path, name, is_script):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS.format(name=name))
    script = tmp_path / "tfrecord-fast"
    script.write_text("import sys\nfrom tfrecord_fast.__main__ import main\nsys.exit(main())\n")
    command = [sys.executable, script] if is_script else COMMAND
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run([*command, "--help"], capture_output=True, env=environment, preexec_fn=interruptible)
    assert (run.returncode, run.stdout, run.stderr) == (-signal.SIGINT, b"", b"")
