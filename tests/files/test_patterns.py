"""Patterns of local files: what shells and TensorFlow find."""

import ctypes
import fnmatch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tfrecord_fast.files.naming.patterns import python_pattern
from tfrecord_fast.files.stores import StoreSettings
from tfrecord_fast.files.stores.matching import pattern_of
from tfrecord_fast.files.streams.listing import listed_parts

NAMES = ["a.tfr", "b.tfr", "^.tfr", "!.tfr", "-.tfr", "c[1].txt", "c1.txt", "c*.txt", "]x", "x-y", "q\\r", "qr"]
PATTERNS = r"""
[^a].tfr [!a].tfr [^].tfr [!].tfr [^^].tfr []x]* [^]a].tfr [^a-b].tfr [a^].tfr [^-a].tfr c\[1\].txt c\[1].txt c[[]1].txt
c\*.txt c\1.txt q\r q\\r [\^a].tfr [\!a].tfr [!!].tfr [\!].tfr x[\-]y s[^a]b/* su\b/* sub[/]a.tfr sub[^a]a.tfr [c-a].tfr
[a [^a [!--].tfr [+--].tfr [^\]a].tfr [\]x]* *.tfr c[^x]*.txt
""".split()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in [*NAMES, "sub/a.tfr"]:
        with tf.TFRecordWriter(name) as writer:
            writer.write(name)
    return tmp_path


def listed(folder, patterns):
    import os

    def plain(names):
        return getattr(names, "numpy", lambda: names)().tolist()

    here = os.getcwd()
    os.chdir(folder)
    try:
        globs = [sorted(tf.io.gfile.glob(pattern)) for pattern in patterns]
        kept = [pattern for pattern, names in zip(patterns, globs, strict=True) if names]
        lists = [sorted(tf.data.Dataset.list_files(pattern).as_numpy_iterator()) for pattern in kept]
        return globs, lists, [plain(tf.io.matching_files(pattern)) for pattern in kept]
    finally:
        os.chdir(here)


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_patterns_find_what_tensorflow_finds(folder):
    ours, theirs = listed(folder, PATTERNS), live_tensorflow.call(listed, str(folder), PATTERNS)
    assert dict(zip(PATTERNS, ours[0], strict=True)) == dict(zip(PATTERNS, theirs[0], strict=True))
    assert ours[1:] == theirs[1:]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[^a].tfr", [*"!-^b"]),
        ("[!a-b].tfr", [*"!-^"]),
        ("q\\r*", ["q\\r"]),
    ],
)
def test_readers_find_the_same_and_a_backslash_is_part_of_a_name(pattern, expected):
    assert [record.decode().removesuffix(".tfr") for record in tf.data.TFRecordDataset(pattern)] == expected
    assert tf.ShardReader(pattern).num_records == len(listed_parts(pattern, StoreSettings())) == len(expected)


@pytest.mark.usefixtures("folder")
def test_brackets_that_are_not_closed_are_a_name(tmp_path):
    (tmp_path / "[^b").touch()
    assert tf.io.gfile.glob(["[^b", "[^b*"]) == ["./[^b", "./[^b"]


LIBC = ctypes.CDLL(None)


def as_shells(pattern, name, escapes):
    return LIBC.fnmatch(pattern.encode(), name.encode(), 0 if escapes else 2) == 0


@given(st.text("[]^!-ab*?\\c", max_size=9), st.text("[]^!-ab\\c", max_size=3), st.booleans())
@example("[^-!]", "!", True)
@example("[!-\\]]", "a", True)
@example("[--!]", "a", True)
@example("[?-", "[[-", False)
def test_names_match_as_in_shells(pattern, name, escapes):
    if "--" in pattern or pattern.endswith("\\") or ("[" in pattern and pattern.endswith("-")):
        return  # the C library has rules of its own for these
    expected = as_shells(pattern, name, escapes)
    assert fnmatch.fnmatchcase(name, python_pattern(pattern, escapes=escapes)) == expected
    if not escapes and "**" not in pattern:
        assert (pattern_of(pattern).fullmatch(name) is not None) == expected
