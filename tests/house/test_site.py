"""The site builds without a warning, every public name has its entry, and its links, search and llms.txt are right."""

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from benchmarks.data.tasks import TASKS
from benchmarks.reporting.document import PAGES
from tests.support.paths import ROOT
from tests.support.surface import PUBLIC

pytest.importorskip("mkdocs", reason="the extra docs is not installed")

SURFACE = (ROOT / "tests" / "house" / "surface.txt").read_text()
NAMES = sorted({line.split(" ")[0].rstrip(":").partition("(")[0] for line in SURFACE.splitlines() if ">>>" not in line})


class Reader(HTMLParser):
    """What a page has of ids, links, and things that a browser would fetch."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if given.get("src") or (tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect")):
            self.fetched.add(given.get("src") or given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where it was built, strictly."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    environment["PATH"] = f"{os.path.dirname(sys.executable)}:{environment['PATH']}"  # mkdocstrings calls ruff
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]
    assert not re.search("WARNING|Formatting signatures requires", done.stderr)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """By address, as "guide/reading/"."""
    found = sorted(site.rglob("*.html"))
    return {str(path.relative_to(site)).removesuffix("index.html"): Reader(path.read_text()) for path in found}


def entry_of(name):
    """The full names under which a thing's entry may stand: those of all public modules that have it."""
    parts = name.split(".")
    cut = next(i for i in range(len(parts), 0, -1) if ".".join(parts[:i]) in PUBLIC)
    owner, *members = parts[cut:]
    thing = getattr(importlib.import_module(".".join(parts[:cut])), owner)
    places = [f"{module}.{name}" for module in PUBLIC for name in names_of(module, thing)]
    if members and inspect.isclass(thing):  # a member is told where its class is, or the public class it is from
        for base in thing.__mro__[1:]:
            places += [f"{module}.{name}" for module in PUBLIC for name in names_of(module, base)]
    return [".".join([place, *members]) for place in places]


def names_of(module, thing):
    inside = importlib.import_module(module)
    return [name for name in inside.__all__ if getattr(inside, name) is thing]


def is_module(name):
    module, _, attribute = name.rpartition(".")
    return name in PUBLIC or (
        module in PUBLIC and inspect.ismodule(getattr(importlib.import_module(module), attribute))
    )


def is_pythons_own(name):
    """A member that a class has from tuple, int and the like."""
    owner, _, member = name.rpartition(".")
    module = next((one for one in sorted(PUBLIC, key=len, reverse=True) if owner.startswith(f"{one}.")), None)
    if module is None:
        return False
    thing = getattr(importlib.import_module(module), owner.removeprefix(f"{module}."), None)
    bases = thing.__mro__ if inspect.isclass(thing) else ()
    return next((base.__module__ for base in bases if member in vars(base)), None) in ("builtins", "collections.abc")


def test_every_public_name_has_an_entry(pages):
    ids = set().union(*(page.ids for address, page in pages.items() if address.startswith("api/")))
    missing = [
        name for name in NAMES if not is_module(name) and not is_pythons_own(name) and not ids & set(entry_of(name))
    ]
    assert len(NAMES) > 500 and not missing


def test_every_name_of_an_integration_has_an_entry(pages):
    for path in (ROOT / "tfrecord_fast" / "integrations").iterdir():
        file = path / "__init__.py" if path.is_dir() else path
        if file.exists() and path.stem not in ("__init__", "__pycache__", "vahidk"):
            [names] = [
                ast.literal_eval(node.value)
                for node in ast.parse(file.read_text()).body
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            ]
            full = {f"tfrecord_fast.integrations.{path.stem}.{name}" for name in names}
            assert full <= pages[f"api/integrations/{path.stem}/"].ids, path


def test_links_inside_lead_somewhere(site, pages):
    for address, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link) or address == "404.html":
                continue
            target, anchor = urldefrag(urljoin(f"http://site/{address}", link))
            inside = unquote(target.removeprefix("http://site/"))
            assert inside in pages or (site / inside).is_file(), f"{address} links to {link}"
            assert not anchor or unquote(anchor) in pages[inside].ids, f"{address} links to {link}"


def test_nothing_is_fetched_from_elsewhere(pages):
    assert not [link for page in pages.values() for link in page.fetched if re.match(r"(https?:)?//", link)]


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("parse_example", "api/features/#tfrecord_fast.parse_example"),
        ("shuffle", "guide/shuffling/#shuffle"),
        ("shuffle", "api/data/#tfrecord_fast.data.Dataset.shuffle"),
        ("GZIP", "guide/writing/#compressed-gzip-zstd-snappy"),
        ("s3", "object_stores/"),
        ("s3", "recipes/bucket_and_cache/"),
        ("count", "cli/#count"),
        ("how many records", "guide/faq/#how-many-records-are-in-a-file"),
    ],
)
def test_the_search_knows(site, words, address):
    found = {one["location"]: one for one in json.loads((site / "search" / "search_index.json").read_text())["docs"]}
    assert words.lower() in (found[address]["title"] + found[address]["text"]).lower()


def test_the_sidebar_has_15_guides_at_most():
    guides = (ROOT / "mkdocs.yml").read_text().partition("  - Guide:\n")[2].partition("\n  - ")[0]
    assert 10 < guides.count(".md") <= 15


def test_an_entry_opens_with_a_sentence_and_its_types_are_links(site):
    text = (site / "api" / "readers" / "index.html").read_text()
    _, _, entry = text.partition('id="tfrecord_fast.ShardReader"')
    opening, signature = entry.index("Batches of records, or of columns"), entry.index("doc-signature")
    assert opening < signature
    assert 'href="../typing/#tfrecord_fast.typing.Files"' in entry[signature : entry.index("Parameters:")]


def test_the_index_of_the_reference_has_a_line_for_each_name(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "making"))
    reference = importlib.import_module("reference")
    lines = [line for line in reference.pages()["api/index.md"][1].splitlines() if line.startswith("| [")]
    assert len(lines) > 200
    assert not [line for line in lines if re.search(r"\|\s*\|$|PEP 604|ProtocolMessage", line)]


def test_pages_of_the_benchmarks_begin_with_their_tasks(site, pages):
    for name in PAGES:
        inside = pages.get(f"benchmarks/{name}/")
        assert inside is None or any(link.startswith("#") and link != "#" for link in inside.links)
    text = (site / "benchmarks" / "reading" / "index.html").read_text()
    assert text.index('href="#raw-reading-in-batches"') < text.index("<table>")


def test_llms_txt_lists_the_pages(site):
    text = (site / "llms.txt").read_text()
    links = re.findall(r"\]\((.*?)\)", text)
    assert text.startswith("# tfrecord_fast\n\n> ") and len(links) > 40
    assert not [link for link in links if not (site / link).is_file()]


def test_every_task_of_the_benchmarks_has_a_page(pages):
    tasks = [task for name, (_, tasks) in PAGES.items() if f"benchmarks/{name}/" in pages for task in tasks]
    assert sorted(tasks) == sorted(TASKS)


def test_charts_are_drawn_with_the_site_and_only_the_readmes_are_kept(site):
    drawn = {path.name for path in (site / "benchmarks").glob("*.svg")}
    assert {"task-raw.svg", "targets.svg", "overview.svg"} < drawn
    kept = {path.name for path in (ROOT / "docs" / "benchmarks").glob("*.svg")}
    assert kept == {"speedup.svg", "speedup-dark.svg"}
