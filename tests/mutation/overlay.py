"""A copy of the package in which one file is changed, and pytest runs on it."""

import os
import shutil
import signal
import subprocess
import sys

from tests.support.paths import ROOT

BUILD = ROOT / "build" / "mutation"

# As .ci/sanitize does: the copy is imported before anything else.
RUN = """
import sys, pytest, tfrecord_fast
assert tfrecord_fast.__file__.startswith(sys.argv[1]), tfrecord_fast.__file__
sys.exit(pytest.main(sys.argv[2:]))
"""


class Overlay:
    """build/mutation/NAME/tfrecord_fast: the package as it is in the checkout, with the extension of the checkout."""

    def __init__(self, name):
        self.folder = BUILD / name
        self.package = self.folder / "tfrecord_fast"
        shutil.rmtree(self.folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / "tfrecord_fast", self.package, ignore=ignored)
        for extension in (ROOT / "tfrecord_fast").glob("*.so"):
            (self.package / extension.name).symlink_to(extension)

    def pytest(self, arguments, seconds):
        """(whether all passed, the end of what was printed). Running for longer than `seconds` is failing."""
        environment = {
            **os.environ,
            "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}",
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # two changes within a second would look the same
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / "hypothesis"),
            "TFRECORD_FAST_DATA": os.environ.get("TFRECORD_FAST_DATA", str(ROOT.parent / "shared" / "data")),
        }
        options = [
            "-x",
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
            "--import-mode=append",  # processes that tests start take sys.path over: the checkout must not be first
            "-o",
            "faulthandler_timeout=0",
            "-o",
            "addopts=",
        ]
        command = [sys.executable, "-c", RUN, str(self.folder), *options, *map(str, arguments)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT, env=environment, start_new_session=True
        ) as process:
            try:
                said, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return False, f"ran for {seconds} seconds"
        text = said.decode(errors="replace").strip()
        return process.returncode == 0, text[-600:]
