"""Phrases and names that a reader has to translate stay rare in code and documents."""

import ast
import re

from tests.support.paths import ROOT

PATHS = sorted(
    path
    for folder in ("tfrecord_fast", "csrc", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".pyi", ".cc", ".h", ".md")
)

# Each phrase, and how many lines may have it.
PHRASES = {
    r'(?:"""|// |# )(?:What|Whoever|Who|Whatever)\b': 20,  # a relative clause in place of a noun
    r"\b[Ww]hether it\b": 0,
    r"\b(?:is|are) no\b": 10,
    r"\b[Ss]o many\b": 3,
}

# Variables that stand for anything.
FILLERS = {"one", "made", "found", "given", "part", "kind", "place"}
MOST_FILLERS = 200


def test_phrases_that_have_to_be_translated_are_rare():
    lines = [line for path in PATHS for line in path.read_text().splitlines()]
    counts = {phrase: sum(1 for line in lines if re.search(phrase, line)) for phrase in PHRASES}
    assert not {phrase: count for phrase, count in counts.items() if count > PHRASES[phrase]}


def test_variables_have_nouns_for_names():
    trees = [ast.parse(path.read_text()) for path in PATHS if path.suffix == ".py"]
    assert sum(binds_a_filler(node) for tree in trees for node in ast.walk(tree)) <= MOST_FILLERS


def binds_a_filler(node):
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Store) and node.id in FILLERS
    return isinstance(node, ast.arg) and node.arg in FILLERS
