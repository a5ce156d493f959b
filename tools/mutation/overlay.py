"""A copy of the package in which one file is changed, and pytest runs on it."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time

from tests.support.paths import ROOT

BUILD = ROOT / "build" / "mutation"
SILENCE = 180  # seconds, after which a test that says nothing hangs: no test takes as long

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
        """(whether all passed, the end of what was printed). Running for longer than `seconds` is failing, and so is a
        test that takes longer than SILENCE."""
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
            said, hangs = _read(process.stdout, seconds)
            if hangs:
                os.killpg(process.pid, signal.SIGKILL)
        text = said.decode(errors="replace").strip()
        return process.returncode == 0, f"{text[-600:]}\n{hangs}".strip()


def _read(stream, seconds):
    """(all that a process prints, why it is taken to hang or "")."""
    said, end = b"", time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return said, f"ran for {seconds:.0f} seconds"
        if not select.select([stream], [], [], min(left, SILENCE))[0]:
            return said, f"said nothing for {min(left, SILENCE):.0f} seconds"
        part = os.read(stream.fileno(), 1 << 16)
        if not part:
            return said, ""
        said += part
