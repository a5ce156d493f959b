"""The real TFRecord files, as many programs wrote them, and their manifest."""

import csv

from tests.support.paths import REAL_FILES


def manifest():
    """The rows of the real files' manifest; none if the files are absent."""
    path = REAL_FILES / "MANIFEST.tsv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
