"""Any function, run in a process that has TensorFlow: it may crash, and it need not share one with the package.

    def count(path):
        return sum(1 for _ in tf.data.TFRecordDataset(path))

    live_tensorflow.call(count, path)

A function is sent as its source, so it must be self-contained; it finds `tf`, `np` and `os`. Arguments and
results are pickled; tensors among the results become NumPy. The first call starts the process, which serves them all.
As a program, this file is that process.
"""

import atexit
import importlib.util
import inspect
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from multiprocessing import Pipe
from multiprocessing.connection import Connection

__all__ = ["INSTALLED", "Crashed", "Failed", "call", "stop"]

INSTALLED = importlib.util.find_spec("tensorflow") is not None
TIMEOUT = 300.0  # seconds for one call, the import of TensorFlow included


class Failed(Exception):
    """What the function raised in that process: `kind` is the name of the exception's class."""

    def __init__(self, kind, message):
        super().__init__(kind, message)
        self.kind = kind
        self.message = message


class Crashed(Exception):
    """The process died, or gave no answer in time. The next call starts another."""


class _Worker:
    def __init__(self):
        self.connection, theirs = Pipe()
        self.log = tempfile.TemporaryFile()
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}  # of sanitizers
        environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env=environment,
        )
        theirs.close()

    def ask(self, question):
        try:
            self.connection.send(question)
            if self.connection.poll(TIMEOUT):
                return self.connection.recv()
            why = f"gave no answer in {TIMEOUT:g} s"
        except (EOFError, OSError):
            code = self.process.wait()
            why = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        self.log.seek(0)
        said = self.log.read()[-2000:].decode(errors="replace")
        self.stop()
        raise Crashed(f"TensorFlow's process {why}; it said:\n{said}")

    def stop(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.log.close()


_worker = None


def call(function, *args, **kwargs):
    """Runs a function, given itself or as source, and gives its result.

    Raises:
      Failed: the function raised.
      Crashed: the process died.
    """
    global _worker
    source = function if isinstance(function, str) else textwrap.dedent(inspect.getsource(function))
    if _worker is None:
        _worker = _Worker()
    try:
        outcome, *answer = _worker.ask((source, args, kwargs))
    except Crashed:
        _worker = None
        raise
    if outcome == "error":
        raise Failed(*answer)
    return answer[0]


@atexit.register
def stop():
    """Ends the process, if there is one."""
    global _worker
    if _worker is not None:
        _worker.stop()
        _worker = None


def _plain(value):
    """The same with tensors as NumPy."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item) for item in value)
    return value.numpy() if hasattr(value, "numpy") else value


def _serve(connection):
    import numpy
    import tensorflow

    while True:
        try:
            source, args, kwargs = connection.recv()
        except EOFError:
            return
        names = {"tf": tensorflow, "np": numpy, "os": os}
        try:
            exec(source, names)
            function = next(v for v in reversed(list(names.values())) if inspect.isfunction(v))
            answer = ("ok", _plain(function(*args, **kwargs)))
        except Exception as error:
            answer = ("error", type(error).__name__, str(error))
        connection.send(answer)


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
