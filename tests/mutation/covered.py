"""Which tests execute which lines of the package, and how long they take.

    python -m tests.mutation.covered [PYTEST ARGUMENTS]

Notes it in build/mutation/covered.json, which keeps what it has about other tests. Without arguments, it runs all tests
but those of the house, the benchmarks, the fuzzer and the commands of tests/faults and this folder.
"""

import json
import subprocess
import sys
import threading
import time

import pytest

from tests.mutation.overlay import BUILD
from tests.support.paths import ROOT

NOTES = BUILD / "covered.json"
PACKAGE = str(ROOT / "tfrecord_fast") + "/"
FOLDERS = ["cli", "core", "data", "examples", "faces", "faults", "files", "integrations", "remote", "values"]
LEFT_OUT = ["faults/test_injected_faults.py", "faults/test_soak.py"]


class Recorder:
    """A plugin of pytest that traces each test."""

    def __init__(self):
        self.tests = {}  # name: [seconds, {file: lines}]
        self.failed = set()
        self.lines = None

    def pytest_runtest_logreport(self, report):
        if report.failed:  # without a mistake: it tells nothing
            self.failed.add(report.nodeid)

    def trace(self, frame, event, argument):
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return None
        lines = self.lines.setdefault(file[len(PACKAGE) :], set())

        def note(frame, event, argument):
            lines.add(frame.f_lineno)
            return note

        return note(frame, event, argument)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.lines = {}
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        began = time.monotonic()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            lines = {file: sorted(lines) for file, lines in self.lines.items()}
            self.tests[item.nodeid] = [round(time.monotonic() - began, 3), lines]


def notes():
    """{test: [seconds, {file: lines}]}; what was noted so far."""
    return json.loads(NOTES.read_text()) if NOTES.exists() else {}


def main(arguments):
    default = [f"tests/{name}" for name in FOLDERS] + [f"--ignore=tests/{name}" for name in LEFT_OUT]
    recorder = Recorder()
    status = pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *(arguments or default)], [recorder])
    NOTES.parent.mkdir(parents=True, exist_ok=True)
    files = {name.split("::")[0] for name in recorder.tests}
    kept = {name: value for name, value in notes().items() if name.split("::")[0] not in files}
    fresh = {name: value for name, value in recorder.tests.items() if name not in recorder.failed}
    NOTES.write_text(json.dumps({**kept, **fresh}))
    return int(status)


def update(folders):
    """Notes what is missing, in a process of its own: the mutants' tests must not have been imported here."""
    noted = notes()
    missing = [folder for folder in folders if not any(name.startswith(f"tests/{folder}/") for name in noted)]
    for folder in missing:
        left_out = [f"--ignore=tests/{name}" for name in LEFT_OUT]
        subprocess.run([sys.executable, "-m", "tests.mutation.covered", f"tests/{folder}", *left_out], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
