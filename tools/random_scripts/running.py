"""Scripts run in two processes at once, and compared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from pathlib import Path

import tfrecord_fast as tfr
from tests.support.paths import ROOT

__all__ = ["Crashed", "Pair", "Process"]

WORKER = Path(__file__).with_name("worker.py")
TIMEOUT = 120.0  # seconds for one question


class Crashed(Exception):
    """A process died, or gave no answer in time."""


class Process:
    """A process that answers questions; see worker.py."""

    def __init__(self, package):
        self.package = package
        self.connection, theirs = Pipe()
        environment = dict(os.environ) | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
        environment |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, WORKER, package, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env=environment,
        )
        theirs.close()

    def send(self, question):
        try:
            self.connection.send(question)
        except OSError:
            pass  # receive() tells

    def receive(self):
        """Return the answer; or raise Crashed."""
        try:
            if self.connection.poll(TIMEOUT):
                return self.connection.recv()
            why = f"gave no answer in {TIMEOUT:g} s"
        except (EOFError, OSError):
            code = self.process.wait()
            why = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        self.log.seek(0)
        text = self.log.read()[-1500:].decode(errors="replace")
        self.stop()
        raise Crashed(f"{self.package}: the process {why}:\n{text}")

    def stop(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.log.close()


class Pair:
    """Two processes that run the same scripts.

    Args:
      ours: (package, records per block).
      theirs: the same for the process whose answers are right.
    """

    def __init__(self, ours, theirs):
        self.sides = [ours, theirs]
        self.processes = [None, None]
        self.folder = tempfile.TemporaryDirectory()

    def outcomes(self, scripts):
        """Return (ours, theirs) for each script; a text if a process crashed."""
        try:
            return self._outcomes(scripts)
        except Crashed as error:
            if len(scripts) == 1:
                return [(str(error), str(error))]
            return [self.outcomes([script])[0] for script in scripts]

    def _outcomes(self, scripts):
        paths = [os.path.join(self.folder.name, f"{number}.tfrecord") for number in range(len(scripts))]
        for script, path in zip(scripts, paths, strict=True):
            with tfr.io.TFRecordWriter(path) as writer:
                for record in script.records:
                    writer.write(record)
        for place, (package, block) in enumerate(self.sides):
            self.processes[place] = self.processes[place] or Process(package)
            self.processes[place].send(
                [(script.text, path, block) for script, path in zip(scripts, paths, strict=True)]
            )
        answers, crashed = [], None
        for place, process in enumerate(self.processes):
            try:
                answers.append(process.receive())
            except Crashed as error:
                self.processes[place] = None
                crashed = error
        if crashed:
            raise crashed
        return list(zip(*answers, strict=True))

    def stop(self):
        for process in filter(None, self.processes):
            process.stop()
        self.folder.cleanup()
