"""Random scripts do what they do with TensorFlow, and on blocks what they do record by record.

`python -m tools.random_scripts` draws more; `--case SEED` shows one.
"""

import random

import pytest

from tests.support import live_tensorflow
from tools.random_scripts.comparing import allowed, difference
from tools.random_scripts.running import Pair
from tools.random_scripts.scripts import Script, draw_script

pytest.importorskip("google.protobuf")
RECORDS = ("package", 0)
TENSORFLOW = ("tensorflow", None)


def unknown_differences(seeds, ours, theirs):
    """Return the differences that are not listed, as texts with the seed and the script."""
    pair = Pair(ours, theirs)
    texts = []
    try:
        scripts = [draw_script(seed, any_order=theirs == RECORDS) for seed in seeds]
        for start in range(0, len(scripts), 16):
            some = scripts[start : start + 16]
            for script, (mine, other) in zip(some, pair.outcomes(some), strict=True):
                if isinstance(mine, str):
                    texts += [] if mine.startswith("tensorflow") else [f"seed {script.seed}: {mine}\n{script.text}"]
                elif other["built"]:
                    unlike = difference(script, mine, other)
                    if unlike is not None and allowed(script, mine, other, unlike) is None:
                        texts.append(f"seed {script.seed}: {unlike.what}: {unlike.text}\n{script.text}")
    finally:
        pair.stop()
    return texts


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
@pytest.mark.parametrize("first", [1, 1001, random.randrange(10**9)], ids=["1", "1001", "random"])
def test_scripts_do_what_they_do_with_tensorflow(first):
    assert not unknown_differences(range(first, first + 100), ("package", None), TENSORFLOW)


@pytest.mark.parametrize("block", [1, 2, 3, 1000])
@pytest.mark.parametrize("first", [1, random.randrange(10**9)], ids=["1", "random"])
def test_scripts_do_on_blocks_what_they_do_record_by_record(first, block):
    assert not unknown_differences(range(first, first + 100), ("package", block), RECORDS)


def test_a_seed_draws_one_script():
    assert draw_script(7) == draw_script(7) != draw_script(8)


@pytest.mark.parametrize(
    "text, what",
    [
        ("tf.data.Dataset.range(4)", "count"),
        ("tf.data.Dataset.range(1, 4)", "element"),
        ("tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.int32))", "element"),
        ("tf.data.Dataset.range(3).map(lambda x: tf.reshape(x, [2]))", "error"),
        ("tf.data.Nothing()", "built"),
    ],
)
def test_a_difference_is_seen(text, what):
    pair = Pair(RECORDS, RECORDS)
    try:
        scripts = [Script(0, f"dataset = {code}\n", []) for code in ("tf.data.Dataset.range(3)", text)]
        (right, _), (wrong, _) = pair.outcomes(scripts)
    finally:
        pair.stop()
    assert difference(scripts[0], right, right) is None
    unlike = difference(scripts[0], wrong, right)
    assert unlike.what == what and allowed(scripts[0], wrong, right, unlike) is None
