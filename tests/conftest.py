"""What the tests share: real files, TensorFlow where it is installed, hypothesis's manner."""

import csv
import os
from pathlib import Path

import hypothesis
import pytest

from tests import live_tensorflow

# A failure prints what reproduces it. Machines under load are slow now and then: that is no failure.
hypothesis.settings.register_profile(
    "suite", deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")

DATA_DIR = Path(os.environ.get("TFRECORD_FAST_DATA") or Path(__file__).parents[2] / "shared" / "data")


def manifest():
    """The rows of the real files' manifest; none where the files are absent."""
    path = DATA_DIR / "MANIFEST.tsv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="session")
def data_dir():
    """The folder of real TFRecord files."""
    if not (DATA_DIR / "MANIFEST.tsv").exists():
        pytest.skip(f"no real files at {DATA_DIR}; set TFRECORD_FAST_DATA to where they are")
    return DATA_DIR


@pytest.fixture(scope="session")
def tensorflow():
    """Runs functions with TensorFlow: tensorflow(function, *args)."""
    if not live_tensorflow.INSTALLED:
        pytest.skip("TensorFlow is not installed; pip install 'tfrecord_fast[oracle]' adds it")
    yield live_tensorflow.call
    live_tensorflow.stop()
