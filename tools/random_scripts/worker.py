"""A process that runs scripts: with TensorFlow, or with `tfrecord_fast.tensorflow` where TensorFlow can't be imported.

    python worker.py tensorflow|package DESCRIPTOR

A question is a list of (text, path, records per block); the answer has a dict for each: see `outcome`.

TensorFlow's graph optimizer is off. It computes some graphs wrongly: a stack of one tensor with itself, a reshape that
keeps the rank.
"""

import contextlib
import gc
import linecache
import os
import re
import sys
import traceback
import zlib
from multiprocessing.connection import Connection

import numpy as np

MOST_ELEMENTS = 150
MOST_SHUFFLED = 2000  # elements in any order can be compared only if all were taken


def outcome(tf, text, path, block):
    """Run a script. Return its elements and errors, its element_spec and its cardinality."""
    name = f"<script {zlib.crc32(text.encode())}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # for TensorFlow's AutoGraph
    try:
        with blocks(block), autograph(tf, text):
            return _run(tf, compile(text, name, "exec"), path, ".shuffle(" in text)
    finally:
        linecache.cache.pop(name, None)


def autograph(tf, text):
    """Return a context without AutoGraph for scripts that do not need it: it takes half of TensorFlow's time."""
    if not hasattr(tf, "__internal__") or re.search(r"\b(if|while|for|int|range|not|and|or)\b", text):
        return contextlib.nullcontext()
    from tensorflow.python.autograph.core import ag_ctx

    return ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED)


def blocks(size):
    """Return a context in which functions run on blocks of this size, if there are blocks; None: as they like."""
    if size is None or ("tensorflow" in sys.modules and sys.modules["tensorflow"] is not None):
        return contextlib.nullcontext()
    from tfrecord_fast.data.nodes.blocks.sizes import fixed

    return fixed(size)


def _run(tf, code, path, is_shuffled):
    space = {"tf": tf, "np": np, "PATH": path, "__name__": "script"}
    try:
        exec(code, space)
        dataset = space["dataset"]
        cardinality = int(dataset.cardinality())
    except Exception as error:
        return {"built": False, "error": type(error).__name__, "text": short(error)}
    elements, messages = [], []
    iterator = None
    for _ in range(MOST_SHUFFLED if is_shuffled else MOST_ELEMENTS):
        try:
            iterator = iter(dataset) if iterator is None else iterator
            elements.append(described(next(iterator)))
        except StopIteration:
            break
        except Exception as error:
            elements.append(("error", type(error).__name__))
            messages.append(short(error))
    try:
        spec = described_spec(dataset.element_spec)  # at last: it may look at elements
    except Exception as error:
        spec = short(error)
    return {"built": True, "elements": elements, "spec": spec, "cardinality": cardinality, "messages": messages}


def short(error):
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({os.path.basename(last[0].filename)}:{last[0].lineno})" if last else ""
    return f"{type(error).__name__}: {error}"[:400] + place


def described(value):
    """Return a value of an element as (kind, dtype, NumPy array), or a structure of them."""
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [described(item) for item in value]
    if hasattr(value, "dense_shape"):
        return ["sparse", described(value.indices), described(value.values), described(value.dense_shape)]
    if hasattr(value, "row_splits") and hasattr(value, "to_list"):
        return ("ragged", value.dtype.name, value.to_list())
    array = value.numpy()
    return ("tensor", value.dtype.name, np.array(array, object if value.dtype.name == "string" else None))


def described_spec(spec):
    """Return a spec as (kind, dtype, shape), or a structure of them."""
    if isinstance(spec, dict):
        return {key: described_spec(item) for key, item in spec.items()}
    if isinstance(spec, (tuple, list)):
        return [described_spec(item) for item in spec]
    shape = None if spec.shape.rank is None else tuple(spec.shape.as_list())
    return (type(spec).__name__, spec.dtype.name, shape)


def main():
    package, connection = sys.argv[1], Connection(int(sys.argv[2]))
    if package == "tensorflow":
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(2)
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    else:
        sys.modules["tensorflow"] = None
        import tfrecord_fast.tensorflow as tf
    count = 0
    while True:
        try:
            scripts = connection.recv()
        except EOFError:
            return
        connection.send([outcome(tf, *script) for script in scripts])
        count += len(scripts)
        if package == "tensorflow" and count % 500 < len(scripts):
            tf.keras.backend.clear_session() if "keras" in sys.modules else None
            gc.collect()


if __name__ == "__main__":
    main()
