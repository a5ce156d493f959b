"""Which tests execute which lines of the package, and how long they take.

    python -m tools.mutation.covered [PYTEST ARGUMENTS]

Notes it in build/mutation/covered.json, and keeps the notes about other tests. Without arguments, it runs the folders
in FOLDERS, one after the other, without the short forms of fault commands. Two processes share the files. A test that
fails is not noted.
"""

import collections
import json
import os
import subprocess
import sys

import coverage
import pytest

from tests.support.paths import ROOT
from tools.mutation.overlay import BUILD

NOTES = BUILD / "covered.json"
TRACED = BUILD / "covered.sqlite"
PACKAGE = ROOT / "tfrecord_fast"
FOLDERS = [
    "cli",
    "contracts",
    "core",
    "data",
    "examples",
    "tensorflow",
    "faults",
    "files",
    "integrations",
    "remote",
    "values",
]
LEFT_OUT = ["faults/test_injected_faults.py", "faults/test_soak.py"]


class Outcomes:
    """A plugin of pytest: how long each test takes, and which failed."""

    def __init__(self):
        self.seconds = collections.defaultdict(float)
        self.failed = set()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def executed():
    """{test: {file: lines}}, from what coverage noted, where a test has a context for each of its phases."""
    data = coverage.CoverageData(basename=str(TRACED))
    data.read()
    lines = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in data.measured_files():
        file = os.path.relpath(path, PACKAGE)
        for line, contexts in data.contexts_by_lineno(path).items():
            for context in contexts:
                lines[context.rpartition("|")[0]][file].add(line)
    return {test: {file: sorted(those) for file, those in files.items()} for test, files in lines.items()}


def notes():
    """{test: [seconds, {file: lines}]}; what was noted so far."""
    return json.loads(NOTES.read_text()) if NOTES.exists() else {}


def main(arguments):
    BUILD.mkdir(parents=True, exist_ok=True)
    os.environ["COVERAGE_FILE"] = str(TRACED)
    options = ["-q", "--no-header", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile"]
    options += ["-p", "tools.mutation.unlocked", f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
    outcomes = Outcomes()
    status = pytest.main([*options, *arguments], [outcomes])
    lines = executed()
    files = {name.split("::")[0] for name in outcomes.seconds}
    kept = {name: value for name, value in notes().items() if name.split("::")[0] not in files}
    fresh = {
        name: [round(seconds, 3), lines.get(name, {})]
        for name, seconds in outcomes.seconds.items()
        if name not in outcomes.failed
    }
    NOTES.write_text(json.dumps({**kept, **fresh}))
    return int(status)


def update(folders):
    """Notes what is missing, in processes of their own: the mutants' tests must not have been imported here."""
    noted = notes()
    missing = [folder for folder in folders if not any(name.startswith(f"tests/{folder}/") for name in noted)]
    return max((note(folder) for folder in missing), default=0)


def note(folder):
    """Notes the tests of one folder; the exit status."""
    left_out = [f"--ignore=tests/{name}" for name in LEFT_OUT]
    command = [sys.executable, "-m", "tools.mutation.covered", f"tests/{folder}", *left_out]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else max(note(folder) for folder in FOLDERS))
