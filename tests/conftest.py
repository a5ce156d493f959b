"""What the tests share: real files, TensorFlow if it is installed, Hypothesis's settings."""

import gc
import os
import sys

import hypothesis
import pytest

import tfrecord_fast
from tests.support import live_tensorflow
from tests.support.paths import REAL_FILES
from tfrecord_fast import _core
from tfrecord_fast.data.nodes.blocks import sizes

# A failure prints what reproduces it. Machines under load are slow now and then: that is not a failure.
hypothesis.settings.register_profile(
    "suite", deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")

# A client of Ray that outlives its server would end this process after a minute, without a word: a start of Ray that
# took too long leaves one behind. Ray reads this when it is imported.
os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "86400")

# Under the thread sanitizer `import polars` alone is a segmentation fault: tests that need it are left out there.
if "thread" in tfrecord_fast.build_info()["sanitizers"]:
    sys.modules["polars"] = None


def pytest_addoption(parser):
    parser.addoption("--block-records", type=int, help="the records of each block that functions run on; 0: no blocks")


def pytest_configure(config):
    sizes.set_fixed(config.getoption("--block-records"))


@pytest.fixture(autouse=True, scope="module")
def frozen():
    """Leave out of collections what was imported before: many tests call gc.collect(), which is slow with all of it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def words(request):
    """Errors have TensorFlow's words in the tests of its names only, whatever this process has imported."""
    _core.set_tensorflow_words("/tests/tensorflow/" in request.path.as_posix())


@pytest.fixture(scope="session")
def data_dir():
    """The folder of real TFRecord files."""
    if not (REAL_FILES / "MANIFEST.tsv").exists():
        pytest.skip(f"no real files at {REAL_FILES}; set TFRECORD_FAST_DATA to where they are")
    return REAL_FILES


@pytest.fixture(scope="session")
def tensorflow():
    """Runs functions with TensorFlow: tensorflow(function, *args)."""
    if not live_tensorflow.INSTALLED:
        pytest.skip("TensorFlow is not installed; pip install 'tfrecord_fast[oracle]' adds it")
    yield live_tensorflow.call
    live_tensorflow.stop()
