"""Splits such as "train[:80%]+test" have the examples that tensorflow-datasets gives them."""

import os

import pytest

from tests.support import tfds_folders
from tfrecord_fast.integrations import tfds
from tfrecord_fast.integrations.tfds.splits import pieces_of

# Where tensorflow-datasets reads other examples than the split says, or none, without an error.
OUR_OWN = {"train[10:2]": "ends before it begins"}


@pytest.fixture(scope="module")
def infos():
    return tfds.info(tfds_folders.made() / "matrix", config="many").splits


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (tfds.ReadInstruction("train"), "ReadInstruction('train')"),
        (tfds.ReadInstruction("train", from_=3, to=-1, unit="abs"), "ReadInstruction('train[3:-1]')"),
        (tfds.ReadInstruction("a", to=50, unit="%"), "ReadInstruction('a[:50%]', rounding='closest')"),
        (
            tfds.ReadInstruction("a", from_=5, unit="%", rounding="pct1_dropremainder"),
            "ReadInstruction('a[5%:]', rounding='pct1_dropremainder')",
        ),
        (tfds.ReadInstruction("a") + tfds.ReadInstruction("b"), "ReadInstruction('a')+ReadInstruction('b')"),
    ],
    ids=range(5),
)
def test_a_part_shows_how_it_was_made(made, said):
    assert repr(made) == said


def test_a_string_means_what_it_means_there(infos):
    for spec in [spec for spec in tfds_folders.SPECS if spec not in OUR_OWN]:
        assert_means(infos, spec, spec)


@pytest.mark.parametrize("spec", tfds_folders.SPECIAL)
def test_a_part_means_what_it_means_there(infos, spec):
    try:
        split = eval(spec, {"even_splits": tfds.even_splits, "ReadInstruction": tfds.ReadInstruction})
    except ValueError:
        split = None
    assert_means(infos, spec, split)


def assert_means(infos, spec, split):
    theirs = tfds_folders.loaded("splits")[spec]
    if isinstance(theirs, str) or not theirs or split is None:
        assert not theirs or theirs in ("ValueError", "NotImplementedError")
        with pytest.raises(ValueError):
            pieces_of(split, infos) if split is not None else eval(f"tfds.{spec}", {"tfds": tfds})
    else:
        assert [(os.path.basename(one.file), one.skip, one.take) for one in pieces_of(split, infos)] == theirs


@pytest.mark.parametrize("count", [1, 2, 3, 7, 640, 1000])
def test_even_splits_are_disjoint_and_together_the_whole(infos, count):
    places = []
    for part in tfds.even_splits("train", count):
        try:
            pieces = pieces_of(part, infos)
        except ValueError:
            assert count == 1000
            continue
        places += [(one.file, one.skip + i) for one in pieces for i in range(one.take)]
    assert len(places) == len(set(places)) == 640


def test_splits_are_added_on_either_side(infos):
    half = tfds.even_splits("train", 2)[0]
    assert sum(one.take for one in pieces_of(half + "test[:5]", infos)) == 325
    assert sum(one.take for one in pieces_of("test[:5]" + half, infos)) == 325
    with pytest.raises(TypeError):
        half + 5
