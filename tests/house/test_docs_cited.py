"""Every path in docs/ that code, docs or README cite exists."""

import re

import pytest

from tests.support.paths import ROOT

SUFFIXES = {".py", ".pyi", ".cc", ".h", ".md", ".toml", ".in", ".json"}
FOLDERS = ("tfrecord_fast", "csrc", "tests", "tools", "benchmarks", "docs", "examples", ".ci")
FILES = sorted(
    path
    for path in [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    if path.is_file()
    and (path.suffix in SUFFIXES or ".ci" in path.parts)
    and not {"__pycache__", ".data", ".cache", ".rivals"} & set(path.parts)
)


def cited(text):
    """The paths in docs/ that the text names, except for those in web addresses."""
    return set(re.findall(r"(?<![\w/.-])docs/(?:[\w.-]+/)*(?:[\w-]+\.\w+)?", re.sub(r"https?://\S+", "", text)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_docs_that_a_file_cites_exist(path):
    missing = {name for name in cited(path.read_text()) if not (ROOT / name).exists()}
    assert missing <= ({"docs/none.md", "docs/none/"} if path.name == "test_docs_cited.py" else set())


def test_citations_are_found_and_web_addresses_are_not():
    text = "see docs/none.md. Or (docs/none/) and docs/design.md, https://example.org/docs/other.md, a.docs/b.md"
    assert cited(text) == {"docs/none.md", "docs/none/", "docs/design.md"}
