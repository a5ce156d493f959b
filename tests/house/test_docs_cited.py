"""Every path in docs/ that code, docs or README cite exists."""

import re

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


def test_the_docs_that_a_file_cites_exist():
    cites = {(str(path.relative_to(ROOT)), name) for path in FILES for name in cited(path.read_text())}
    missing = {(file, name) for file, name in cites if not (ROOT / name).exists()}
    assert {(file, name) for file, name in missing if file != "tests/house/test_docs_cited.py"} == set()


def test_citations_are_found_and_web_addresses_are_not():
    text = "see docs/none.md. Or (docs/none/) and docs/design.md, https://example.org/docs/other.md, a.docs/b.md"
    assert cited(text) == {"docs/none.md", "docs/none/", "docs/design.md"}
