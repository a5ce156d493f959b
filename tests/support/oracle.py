"""TensorFlow in a process of its own, asked over pipes: it may crash, and it must not share one with the package.

As a program: reads pickled lists of cases from standard input and writes pickled lists of answers. A case is a dict
(see `answer`); an answer is ("ok", neutral results) or ("error", kind, text). Neutral results hold NumPy only.
"""

import contextlib
import os
import pickle
import struct
import subprocess
import sys

import numpy as np

__all__ = ["Oracle", "neutral"]


def neutral(value):
    """A column as ("dense", array), ("sparse", indices, values, shape) or ("ragged", splits, flat values)."""
    if hasattr(value, "indices") and hasattr(value, "dense_shape"):
        return "sparse", _array(value.indices), _array(value.values), tuple(_array(value.dense_shape).tolist())
    if hasattr(value, "nested_row_splits"):
        return "ragged", [_array(splits) for splits in value.nested_row_splits], _array(value.flat_values)
    return "dense", _array(value)


def _array(value):
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return array.astype(object) if array.dtype.kind in "SO" else array


def build_features(module, described):
    """Feature objects of `module` (tensorflow or tfrecord_fast) from a dict of plain tuples."""
    dtypes = {"int64": module.int64, "float32": module.float32, "string": module.string}
    splits = {"int32": module.int32, "int64": module.int64}
    io = module.io
    features = {}
    for key, (kind, *args) in described.items():
        if kind == "fixed":
            features[key] = io.FixedLenFeature(args[0], dtypes[args[1]], args[2])
        elif kind == "varlen":
            features[key] = io.VarLenFeature(dtypes[args[0]])
        elif kind == "sequence":
            features[key] = io.FixedLenSequenceFeature(args[0], dtypes[args[1]], args[2], args[3])
        elif kind == "sparse":
            features[key] = io.SparseFeature(args[0], args[1], dtypes[args[2]], args[3], args[4])
        else:
            partitions = [getattr(io.RaggedFeature, name)(arg) for name, arg in args[2]]
            features[key] = io.RaggedFeature(dtypes[args[0]], args[1], partitions, splits[args[3]], args[4])
    return features


def teach(parse, case):
    """Parses some of the records, good or bad, so that what a plan learns from one batch affects the next."""
    seed = case.get("seed", 0)
    if seed % 3:
        with contextlib.suppress(Exception):
            parse(case["records"][seed % 4 :])


def run(module, case):
    """The results of one case, as the module gives them, made neutral."""
    features = build_features(module, case["features"])
    records = case["records"]
    if not records and hasattr(module, "constant"):  # TensorFlow takes [] for floats
        records = module.constant([], module.string)
    if case["call"] == "example":
        if module.__name__ == "tfrecord_fast":
            teach(lambda some: module.io.parse_example(some, features), case)
        parsed = (module.io.parse_example(records, features),)
    elif case["call"] == "single":
        parsed = (module.io.parse_single_example(records[0], features),)
    else:
        lists = build_features(module, case["lists"])
        if case["call"] == "sequence":
            if module.__name__ == "tfrecord_fast":
                teach(lambda some: module.io.parse_sequence_example(some, features, lists), case)
            parsed = module.io.parse_sequence_example(records, features, lists)
        else:
            parsed = module.io.parse_single_sequence_example(records[0], features, lists)
    return [[(key, neutral(value)) for key, value in part.items()] for part in parsed]


def answer(module, case):
    try:
        return "ok", run(module, case)
    except UnicodeDecodeError as error:  # TensorFlow's, from an error text that holds the record
        return "error", "InvalidArgumentError", str(error)
    except Exception as error:
        return "error", type(error).__name__, str(error)


class Oracle:
    """TensorFlow's answers to cases. A context manager."""

    def __init__(self):
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def ask(self, cases):
        """A list of answers; ("crash",) for a case that killed TensorFlow."""
        try:
            return self._exchange(cases)
        except (EOFError, BrokenPipeError):
            self._stop()
        if len(cases) == 1:
            return [("crash",)]
        middle = len(cases) // 2
        return self.ask(cases[:middle]) + self.ask(cases[middle:])

    def _exchange(self, cases):
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        data = pickle.dumps(cases)
        self._process.stdin.write(struct.pack("<Q", len(data)) + data)
        self._process.stdin.flush()
        return _read(self._process.stdout)

    def _stop(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
            self._process = None


def _read(stream):
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<Q", header)[0]))


def main():
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever TensorFlow prints must not get into the answers
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    while True:
        try:
            cases = _read(sys.stdin.buffer)
        except EOFError:
            return
        data = pickle.dumps([answer(tensorflow, case) for case in cases])
        out.write(struct.pack("<Q", len(data)) + data)
        out.flush()


if __name__ == "__main__":
    main()
