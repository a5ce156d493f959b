"""README.md is short, does what it says, and so do the pages of the guide: every block of Python in docs/ is run.

Each page runs in a process and a folder of its own; tests/support/pages.py says what is compared.
"""

import ast
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.support.pages import blocks_of, run_page
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md", DOCS / "install.md"]
PAGES += [
    *sorted((DOCS / "guide").glob("*.md")),
    *sorted((DOCS / "recipes").glob("*.md")),
    *(DOCS / "integrations" / f"{name}.md" for name in ("grain", "keras", "tfds", "torch")),
]
# What else holds Python is run by tests of its own, with the files and servers that it needs.
ELSEWHERE = {
    "docs/object_stores.md": "tests/remote/test_object_stores_doc.py",
    "docs/tensorflow.md": "tests/tensorflow/test_docs.py",
    "docs/integrations/beam.md": "tests/integrations/test_beam_docs.py",
    "docs/integrations/dask.md": "tests/integrations/test_dask.py",
    "docs/integrations/ray.md": "tests/integrations/test_ray_docs.py",
    "docs/integrations/spark.md": "tests/integrations/test_spark_docs.py",
    "docs/integrations/tables.md": "tests/integrations/test_tables_doc.py",
    "docs/integrations/vahidk.md": "tests/integrations/test_vahidk_differences.py",
}

# Pages that docs/making makes with the site.
GENERATED = r"(?:\.\./)*(api/.*|cli|examples/.*|benchmarks/(?!real_files)\w+|(?:performance/)?targets)\.md"


def imported(page):
    """The packages that the page's code imports."""
    for block in blocks_of(page.read_text()):
        if block.language == "python":
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.Import):
                    yield from (alias.name.partition(".")[0] for alias in node.names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_prints_what_it_says(page, tmp_path):
    missing = [name for name in imported(page) if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "torch", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.support.pages", str(page)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_page_with_python_is_run_by_a_test():
    pages = {path for path in DOCS.rglob("*.md") if any(b.language == "python" for b in blocks_of(path.read_text()))}
    assert {str(path.relative_to(ROOT)) for path in pages - set(PAGES)} == set(ELSEWHERE)


@pytest.mark.parametrize("page", ELSEWHERE)
def test_the_test_of_a_page_reads_it(page):
    assert page.rpartition("/")[2] in (ROOT / ELSEWHERE[page]).read_text()


@pytest.mark.parametrize("said", ["print(1)  # 2", "for i in range(2):\n    print(i)  # 0", "print(1, 2)  # 1\n"])
def test_a_wrong_promise_is_noticed(tmp_path, said):
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n```python\n{said}\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md:\d+ says"):
        run_page(page)


def test_a_wrong_command_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```console\n$ tfrecord-fast --version\ntfrecord-fast 0.0.0\n```\n")
    with pytest.raises(AssertionError, match="and not"):
        run_page(page)


def test_the_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_bytes()) <= 6000


def test_files_that_are_linked_to_exist():
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    for path in [*top, *DOCS.rglob("*.md")]:
        text = re.sub(r"(?ms)^```.*?^```$", "", path.read_text())
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            exists = re.fullmatch(GENERATED, link) or (path.parent / link).exists()
            assert exists, f"{path.name} links to {link}"


def test_code_fits_88_columns():
    """Longer lines are cut off on the site. Output is as long as it is."""
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "benchmarks" / "README.md", ROOT / "csrc" / "README.md"]
    blocks = [(page, block) for page in pages for block in blocks_of(page.read_text())]
    lines = [(page.name, line) for page, block in blocks for line in code_of(block)]
    assert len(lines) > 1000
    assert not [(page, line) for page, line in lines if len(line) > 88]


def code_of(block):
    """Return the block's lines, without what commands print."""
    if block.language in ("text", "console"):
        return [line for line in block.text.splitlines() if line.startswith("$ ")]
    return block.text.splitlines()
