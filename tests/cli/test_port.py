"""`tfrecord-fast port`: what scripts find, and their imports changed."""

import json
import os
import subprocess
import sys

import pytest

from tests.support import live_tensorflow
from tests.support.command import run_here

SCRIPT = """\
import os, tensorflow as tf  # data
import numpy as np
from tensorflow import keras
from tensorflow.io import gfile
from tensorflow.core.example import example_pb2

é = tf.constant("é"); total = tf.Variable(0)
for record in tf.data.TFRecordDataset("a").map(lambda x: tf.io.parse_single_example(x, {}))  :
    print(record.numpy(), np.float32, example_pb2.Example)
with tf.compat.v1.Session() as session:
    session.run(tf.placeholder(tf.float32))
"""

MAPS = """\
import tensorflow as tf
from mine import other
def parse(record):
    return tf.io.parse_single_example(record, {})

def decode(image):
    return image.numpy()
ds = tf.data.TFRecordDataset("a").map(parse).map(decode)
ds = ds.filter(lambda x: int(x) > 3)
ds = ds.map(other)
ds = ds.batch(2).map(decode)
"""


def port(capsys, *arguments):
    return run_here(capsys, "port", *arguments)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_what_is_not_here_is_said_line_by_line(script, capsys):
    status, out, _ = port(capsys, script)
    lines = out.splitlines()
    assert status == 1
    assert [line.split(": ")[:2] for line in lines[:-2]] == [
        [f"{script}:7", "tf.Variable"],
        [f"{script}:10", "tf.compat.v1.Session"],
        [f"{script}:11", "tf.placeholder"],
    ]
    assert "from TensorFlow, which must be installed (or use a NumPy array" in lines[0]
    assert "unavailable without graphs (graphs are not supported: pass the values directly)" in lines[2]
    assert lines[-1].startswith(f"{script}: 11 names: 8 available; 1 from TensorFlow")
    assert script.read_text() == SCRIPT


def test_whether_functions_run_on_blocks(tmp_path, capsys):
    path = tmp_path / "train.py"
    path.write_text(MAPS)
    lines = port(capsys, path)[1].splitlines()
    assert lines[:-1] == [
        f"{path}:8: map(parse): runs on blocks",
        f"{path}:8: map(decode): runs record by record, because of line 7: image.numpy() needs one record: "
        "write it with functions of tf",
        f"{path}:9: filter(lambda x: int(x) > 3): runs on blocks, but see line 9: int of a tensor runs once for each "
        "value: more than 9 in a block run record by record. Use tensors instead",
        f"{path}:10: map(other): unknown, because the script does not define the function",
        f"{path}:11: map(decode): runs once per batch",
    ]
    found = [json.loads(line) for line in port(capsys, "--json", path)[1].splitlines()]
    assert {
        "path": str(path), "place": "8", "line": 8, "call": "map(decode)", "runs": "records",
        "because": 7, "advice": "image.numpy() needs one record: write it with functions of tf",
    } in found  # fmt: skip


def test_the_cells_of_functions(tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(*[("code", [part]) for part in MAPS.split("\n\n")])))
    out = port(capsys, path)[1]
    assert f"{path}:cell 2:3: map(decode): runs record by record, because of cell 2:2: image.numpy()" in out


def test_write_changes_the_imports_and_no_more(script, capsys):
    os.chmod(script, 0o750)
    assert port(capsys, "--write", script)[0] == 1
    changed = SCRIPT.replace("import os, tensorflow as tf", "import os, tfrecord_fast.tensorflow as tf")
    changed = changed.replace("from tensorflow import keras", "from tfrecord_fast.tensorflow import keras")
    changed = changed.replace("from tensorflow.io", "from tfrecord_fast.tensorflow.io")
    changed = changed.replace("from tensorflow.core", "from tfrecord_fast.tensorflow.core")
    assert script.read_text() == changed
    assert script.stat().st_mode & 0o777 == 0o750
    assert (
        port(capsys, "--write", script)[1].count("\n") == 5 and script.read_text() == changed
    )  # nothing left to change


@pytest.mark.parametrize(
    "before, after",
    [
        ("import tensorflow as tf\n", "import tfrecord_fast.tensorflow as tf\n"),
        ("import tensorflow.compat.v1 as tf", "import tfrecord_fast.tensorflow.compat.v1 as tf"),
        ("import tensorflow\r\n", "import tfrecord_fast.tensorflow as tensorflow\r\n"),
        ("if 1:\n\timport tensorflow as tf", "if 1:\n\timport tfrecord_fast.tensorflow as tf"),
        ("from tensorflow import data, io", "from tfrecord_fast.tensorflow import data, io"),
        ("from  tensorflow  import (\n data,\n)", "from  tfrecord_fast.tensorflow  import (\n data,\n)"),
        ("from tensorflow.keras import layers", "from tfrecord_fast.tensorflow.keras import layers"),
        ("from tensorflow.keras.layers import Dense", "from tfrecord_fast.tensorflow.keras.layers import Dense"),
        ("from tensorflow import keras", "from tfrecord_fast.tensorflow import keras"),
        ("import tensorflow.keras as k", "import tfrecord_fast.tensorflow.keras as k"),
        ("import tensorflow.keras.backend as K", "import tfrecord_fast.tensorflow.keras.backend as K"),
        ("import tensorflow.keras", "import tfrecord_fast.tensorflow as tensorflow"),
        ("import tensorflow.compat.v2 as tf", "import tfrecord_fast.tensorflow.compat.v2 as tf"),
        ("from tensorflow.python.ops import x", "from tensorflow.python.ops import x"),
        ("import tensorflow_datasets as tfds", "import tensorflow_datasets as tfds"),
        ("x = 'import tensorflow as tf'", "x = 'import tensorflow as tf'"),
        ("from .tensorflow import x", "from .tensorflow import x"),
        ("é = 1; import tensorflow as tf, os", "é = 1; import tfrecord_fast.tensorflow as tf, os"),
    ],
)
def test_imports(before, after, tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_bytes(before.encode())
    port(capsys, "-w", path)
    assert path.read_bytes().decode() == after


def test_a_script_that_finds_all_runs_after_it(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text("import tensorflow as tf\nprint(tf.reduce_sum(tf.constant([1, 2])).numpy())\n")
    status, out, _ = port(capsys, "--write", path)
    assert status == 0 and out == f"{path}: 2 names: 2 available\n"
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.stdout == "3\n", done.stderr


def notebook(*cells):
    made = [{"cell_type": kind, "metadata": {}, "source": source} for kind, source in cells]
    return {"cells": made, "metadata": {"é": 1}, "nbformat": 4, "nbformat_minor": 5}


def test_notebooks(tmp_path, capsys):
    cells = [
        ("markdown", ["import tensorflow as tf"]),
        ("code", ["!pip install tensorflow\n", "%matplotlib inline\n", "import tensorflow as tf\n", "tf.constant?"]),
        ("code", "%%bash\nimport tensorflow as tf"),
        ("code", "x = tf.constant(1)\nif x:\n    !ls\ntf.Session()"),
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(*cells), indent=1, ensure_ascii=False) + "\n")
    status, out, _ = port(capsys, "--write", path)
    assert status == 1
    assert out.splitlines()[0].startswith(f"{path}:cell 3:4: tf.Session: unavailable without graphs")
    cells[1][1][2] = "import tfrecord_fast.tensorflow as tf\n"
    assert json.loads(path.read_text()) == notebook(*cells)
    assert path.read_text() == json.dumps(notebook(*cells), indent=1, ensure_ascii=False) + "\n"


def test_json(script, capsys):
    found = [json.loads(line) for line in port(capsys, "--json", script)[1].splitlines()]
    assert {"path": str(script), "place": "7", "line": 7, "name": "tf.constant", "where": "here", "advice": ""} in found


@pytest.mark.parametrize("content", [b"print(", b"\xff\xfe", b"\0"])
def test_what_is_no_script_is_an_error_and_stays(content, tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_bytes(content)
    status, _, err = port(capsys, "--write", path, tmp_path / "none.py")
    assert status == 2 and str(path) in err and "none.py" in err
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cells": [{}]}', '{"cells": 3}'])
def test_what_is_no_notebook_is_an_error(content, tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    assert port(capsys, path)[0] == 2


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_a_name_that_is_nobodys(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text("import tensorflow as tf\ntf.contrib.slim\n")
    status, out, _ = port(capsys, path)
    assert status == 1 and f"{path}:2: tf.contrib.slim: unknown, also to the installed TensorFlow" in out
