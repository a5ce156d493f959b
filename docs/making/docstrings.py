"""A Griffe extension: examples in docstrings become code blocks, and the core's docstrings come from the extension.

The first paragraph of a docstring is kept apart: the templates of an entry put it before the signature.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

__all__ = ["Docstrings"]

SECTIONS = ("Args:", "Raises:", "Returns:", "Yields:")  # which a docstring may begin with
SHORT = 70  # characters of a text that may be repeated
# A run of examples: prompts, what continues them and what they print, up to an empty line.
_EXAMPLES = re.compile(r"(?m)^( *)>>> .*(?:\n\1\S.*|\n\1 +\S.*)*")


# Headings of pages that docstrings name.
_PAGES = {
    "docs/design.md": "[How it works][how-it-works]",
    "docs/differences.md": "[Differences][differences-from-tensorflow]",
    "docs/format.md": "[the format][the-tfrecord-file-format]",
    "docs/tensorflow.md": "[Scripts for TensorFlow][scripts-for-tensorflow]",
}
# Arguments that are described together: the names, and the text with what continues it.
_TOGETHER = re.compile(r"(?m)^( {2,4})((?:\*{0,2}\w+, )+\*{0,2}\w+)(: .*(?:\n\1 +\S.*)*)$")
_ARGUMENTS = re.compile(r"(?m)^Args:\n(?: +.*\n?|\n(?= ))*")


def apart(text: str) -> str:
    """Return the text with an entry for each argument, so that each has its own type and default."""

    def each(match: re.Match[str]) -> str:
        first, *others = match[2].split(", ")
        text = match[3] if len(match[3]) < SHORT else f": see `{first.lstrip('*')}`."
        return "\n".join([f"{match[1]}{first}{match[3]}", *(f"{match[1]}{name}{text}" for name in others)])

    return _ARGUMENTS.sub(lambda section: _TOGETHER.sub(each, section[0]), text)


def fenced(text: str) -> str:
    """Return the text with a fence around each run of examples, which Markdown would read as quotations."""
    return _EXAMPLES.sub(lambda run: f"{run[1]}```pycon\n{run[0]}\n{run[1]}```", text)


def linked(text: str) -> str:
    """Return the text with links in place of the names of pages."""
    return re.sub("|".join(_PAGES), lambda name: _PAGES[name[0]], text)


class Docstrings(griffe.Extension):
    """Changes docstrings when they are loaded."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            self._set(obj, fenced(apart(linked(inspect.cleandoc(obj.docstring.value)))))

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        core = pkg.members.get("_core")
        if core is not None:
            self._from_extension(core, importlib.import_module(f"{pkg.path}._core"))

    def _set(self, obj: Any, text: str) -> None:
        opening, _, rest = text.partition("\n\n")
        if not obj.is_module and not opening.lstrip().startswith(("```", *SECTIONS)):
            obj.extra["tfrecord_fast"]["opening"] = opening
            text = rest.strip("\n")
        obj.docstring.value = text

    def _from_extension(self, obj: Any, thing: Any) -> None:
        for name, member in obj.members.items():
            inside = getattr(thing, name, None)
            if inside is None or member.is_alias:
                continue
            text = inspect.getdoc(inside) if name != "__init__" else None
            if text and member.docstring is None:
                # pybind11 puts the signature into the first line; the stub has a better one.
                text = re.sub(rf"^{name}\(.*\n+", "", text)
                member.docstring = griffe.Docstring(text, parent=member)
                self._set(member, fenced(text))
            if member.is_class:
                self._from_extension(member, inside)
