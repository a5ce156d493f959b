"""Regular expressions of `tf.strings`: RE2's, or simple ones without that library."""

import re
import sys

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences
from tfrecord_fast.tensorflow.ops import expressions

with_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

TEXTS = ["", "b\n", "café crème ê", "日本語", "aab", "É é", "a.b,c!", "a_1 b", "x\ny", "😀a", "aaa", b"a\xffb", b"\xc3"]
PATTERNS = r"""
[éè] . [[:punct:]] (?i)é b$ b\z \p{L} \pL+ \Q.\E \C a* é* (a)(b)? [^a] [^é] \w+ \s \S \W \b \B (?s). (?m)^. ^
$ (?=a) (a)\1 a++ a** ( [z-a] a{1001} (?P<n>a) (?P=n) (?U)a+ \x{e9} \d [[:alpha:]]+ (a*)* (?:) (?#x) \Z \A \G
a{,2} (?<=a)b (?>a) \u0061 [\d-z] x{2}{3} ((a{9}){9}){9} \pN \p{Greek} \X \h \07 \8 (a|b)* a|b a| (|a)+ |
""".split()
REWRITES = ["-", "", r"[\0]", r"\1", r"<\1\2>", "\\\\", r"\x", r"a\xb", "x\\", r"\x\1", "é", r"\g<1>", "\\\\1"]


@with_tensorflow
def test_patterns_mean_what_they_mean_in_tensorflow():
    setup = f"texts = {TEXTS!r}"
    expressions = [
        f"tf.strings.{call}"
        for item in [*PATTERNS, ""]
        for call in (
            f"regex_replace(texts, {item!r}, '<\\\\0>')",
            f"regex_replace(texts, {item!r}, '-', replace_global=False)",
            f"regex_replace(['a', 'é', '日'], tf.constant({item!r}), '')",
        )
    ]
    assert differences(expressions, setup) == []


@with_tensorflow
def test_rewrites_mean_what_they_mean_in_tensorflow():
    expressions = [
        f"tf.strings.regex_replace({TEXTS!r}, {pattern!r}, {rewrite!r}, replace_global={everywhere})"
        for rewrite in REWRITES
        for pattern in ("a", "(a)(b)?", "(.)", "z")
        for everywhere in (True, False)
    ]
    assert differences(expressions) == []


@with_tensorflow
def test_arguments_are_taken_as_tensorflow_takes_them():
    expressions = """
tf.strings.regex_replace('ab', ['a'], 'x'); tf.strings.regex_replace('ab', 'a', ['x'])
tf.strings.regex_replace(5, 'a', 'x'); tf.strings.regex_replace('a', 5, 'x'); tf.strings.regex_replace('a', 'a', 5)
tf.strings.regex_replace([], 'a', 'x'); tf.strings.regex_replace(tf.constant([], tf.string), '(', 'x')
tf.strings.regex_replace(tf.ragged.constant([['é'], ['b', 'cc']]), '[éb]', '-')
tf.strings.regex_replace([['é'], ['b']], tf.constant('[éb]'), tf.constant('-'))
"""
    assert differences([item.strip() for item in re.split(r"[;\n]", expressions) if item.strip()]) == []


PIECES = [
    "a",
    "b",
    "é",
    "日",
    ".",
    "[aé]",
    "[^b]",
    r"\w",
    r"\b",
    "(a)",
    "(?:é|b)",
    "^",
    "$",
    r"\C",
    "(?i)É",
    r"\s",
    "\n",
]


@with_tensorflow
def test_made_up_patterns_mean_what_they_mean_in_tensorflow():
    result = []

    @given(
        st.lists(
            st.tuples(st.sampled_from(PIECES), st.sampled_from(["", "*", "+", "?", "*?", "{2}", "|"])), max_size=4
        ),
        st.lists(st.text("abéÉ日 \n", max_size=8), min_size=3, max_size=3),
        st.sampled_from(["-", r"<\0>", r"\1"]),
        st.booleans(),
    )
    def make(pieces, texts, rewrite, everywhere):
        pattern = "".join(piece + times for piece, times in pieces)
        result.append(f"tf.strings.regex_replace({texts!r}, {pattern!r}, {rewrite!r}, replace_global={everywhere})")

    make()
    assert differences(result) == []


@pytest.mark.parametrize("pattern", [b"\xff", "(", "(?=a)"])
def test_a_pattern_that_is_not_valid_is_an_argument_that_is_not(pattern):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        tf.strings.regex_replace("a", pattern, "")


@pytest.fixture
def without_re2(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)


@pytest.mark.parametrize("pattern", ["é", "(", "(?i)a", "[[:punct:]]", r"\z", r"\p{L}", "(a*)*", "(?=a)", "a++", r"\_"])
def test_without_re2_a_pattern_that_is_not_simple_names_the_extra(without_re2, pattern):
    with pytest.raises(ImportError, match=r"tfrecord_fast\[regex\]"):
        tf.strings.regex_replace("a", pattern, "")


def test_without_re2_a_text_that_is_not_ascii_names_the_extra(without_re2):
    for _ in range(2):
        with pytest.raises(ImportError, match=r"tfrecord_fast\[regex\]"):
            tf.strings.regex_replace(["a", "é"], ".", "")


@pytest.mark.parametrize(
    "pattern",
    [
        "<[^>]+>",
        r"\d+",
        "[^a-zA-Z0-9]",
        "b$",
        r"^\s*(\w+)\s+(.*?)\s*$",
        "a|b",
        "(?:ab)+",
        "<br />",
        r"[!\"#\-\]]",
        "a{1,2}",
    ],
)
def test_without_re2_usual_patterns_are_simple(without_re2, pattern):
    tf.strings.regex_replace("ab<br />\n1", pattern, "-")


ATOMS = [
    "a",
    "b",
    ".",
    r"\.",
    "-",
    "&",
    "#",
    " ",
    "[ab]",
    "[^a]",
    "[a-c-]",
    r"[\]\\^]",
    r"\d",
    r"\S",
    r"\s",
    r"[\s~&|]",
    "[b-a]",
]
TIMES = ["", "", "*", "+", "?", "*?", "??", "{2}", "{1,2}", "{2,1}", "{,2}", "+*", "|"]
AROUND = ["(", ")", "(?:", ")*", ")+?", "|", "^", "$", r"\b", "("]


@given(
    st.lists(
        st.tuples(st.sampled_from(ATOMS), st.sampled_from(TIMES)).map("".join) | st.sampled_from(AROUND), max_size=6
    ),
    st.lists(st.text("abc.-&#~^\\] \n\v1", max_size=8), min_size=4, max_size=4),
    st.sampled_from([b"-", rb"<\0>", rb"\1", rb"\2\1"]),
    st.booleans(),
)
def test_what_is_simple_means_the_same_in_both(pieces, texts, rewrite, everywhere):
    pattern = "".join(pieces).encode()
    try:
        mine = expressions._simple(pattern, ImportError())
    except ImportError:
        return
    theirs = expressions._compiled(re2, pattern)  # it is valid
    for text in map(str.encode, texts):
        assert mine.replaced(text, rewrite, everywhere) == theirs.replaced(text, rewrite, everywhere)
