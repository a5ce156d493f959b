"""MkDocs hooks: pages that are generated, and links to files outside of docs/.

Generated are the API reference, the command line, the tables of the benchmarks, the examples, and the documents at the
top of the repository. None of them is written to docs/.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import commands
import llms
import reference
import results
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
# Files outside of docs/, and their pages.
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "csrc/README.md": "core.md",
    "benchmarks/README.md": "measuring.md",
} | {f"examples/{path.name}": f"examples/{path.stem}.md" for path in sorted((ROOT / "examples").glob("*.py"))}
BOOSTS = {
    "guide/": 6,
    "recipes/": 3,
    "object_stores": 8,
    "api/features": 8,
    "api/readers": 4,
    "api/writers": 4,
    "tutorial": 3,
    "integrations/": 2,
    "api/typing": 0.2,
    "api/compat": 0.2,
    "performance": 0.2,
    "dev/": 0.2,
    "benchmarks": 0.2,
    "measuring": 0.2,
    "changelog": 0.1,
    "contributing": 0.2,
    "core": 0.2,
    "examples/": 0.3,
}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(?ms)^( *)(```|~~~).*?^\1\2$")


def on_config(config: Any) -> Any:
    """Add the generated pages to the navigation."""
    pages = reference.pages()
    flat = [{title: file} for file, (title, _) in pages.items() if "/integrations/" not in file]
    deep = [{title: file} for file, (title, _) in pages.items() if "/integrations/" in file]
    examples = [{Path(page).stem: page} for page in OUTSIDE.values() if page.startswith("examples/")]
    config.nav = filled(config.nav, {"API reference": [*flat, {"Integrations": deep}], "Examples": examples})
    return config


def filled(nav: list[Any], entries: dict[str, list[Any]]) -> list[Any]:
    """Return the navigation with the entries that mkdocs.yml leaves empty."""
    return [
        {title: entries[title] if inside == [] else filled(inside, entries) if isinstance(inside, list) else inside}
        for entry in nav
        for title, inside in entry.items()
    ]


def on_files(files: Any, config: Any) -> Any:
    texts = {file: text for file, (_, text) in reference.pages().items()}
    texts["cli.md"] = commands.page()
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text()
        texts[page] = example_page(source, text) if source.endswith(".py") else text
    texts |= results.pages()
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "llms.txt", content=llms.text(config)))
    return files


def example_page(source: str, text: str) -> str:
    summary = text.split('"""')[1].strip().splitlines()[0]
    return f"# {Path(source).name}\n\n{summary}\n\n```python\n{text}```\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links to files outside of docs/ to their pages; links to files without a page become text."""
    page.meta.setdefault("search", {"boost": boost_of(page.file.src_uri)})
    if page.file.src_uri in results.pages() or page.file.src_uri.startswith("examples/"):
        page.meta["hide"] = ["toc"]  # their tables and lines are wide
    source = {page: source for source, page in OUTSIDE.items()}.get(page.file.src_uri)
    here = posixpath.dirname(source if source else f"docs/{page.file.src_uri}")
    return outside_fences(markdown, lambda text: _LINK.sub(lambda link: rewritten(link, here, page), text))


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Unlink `bool` in signatures: Griffe links Python's to the package's."""
    return re.sub(r'<a [^>]*title="tfrecord_fast\.dtypes\.bool"[^>]*>bool</a>', "bool", output)


def boost_of(page: str) -> float:
    """Return a page's weight in the search: instructions come before pages that only mention a thing."""
    return next((boost for begins, boost in BOOSTS.items() if page.startswith(begins)), 1)


def outside_fences(markdown: str, change: Any) -> str:
    texts, at = [], 0
    for fence in _FENCE.finditer(markdown):
        texts += [change(markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*texts, change(markdown[at:])])


def rewritten(link: re.Match[str], here: str, page: Any) -> str:
    text, target, anchor = link[1], link[2], link[3] or ""
    path = posixpath.normpath(posixpath.join(here, target))
    if path in OUTSIDE:
        inside = OUTSIDE[path]
    elif path == "README.md":
        inside = "index.md"
    elif path.startswith("docs/") and (not here.startswith("docs") or (ROOT / path).suffix == ".md"):
        inside = path.removeprefix("docs/")
    elif path.startswith("docs/") and (ROOT / path).is_file():
        return link[0]
    elif (ROOT / path).exists():
        return text
    else:
        return link[0]  # MkDocs reports it as broken
    own = posixpath.dirname(page.file.src_uri)
    return f"[{text}]({posixpath.relpath(inside, own or '.')}{anchor})"
