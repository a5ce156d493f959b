"""Random pipelines of tf.data, drawn by hypothesis, each run with this package and with TensorFlow.

    python -m tests.tensorflow.random_pipelines [--count 20000] [--seed 1] [--minutes 30]

A pipeline is a Python expression: a source and 3 to 8 transformations, whose functions fail for some elements. Elements
are compared one by one, with their structure, dtypes and shapes, or the class of the error in their place; so is the
cardinality.
"""

import argparse
import sys
import time

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import tfrecord_fast.tensorflow as tf
from tests.support.live_tensorflow import Crashed
from tests.tensorflow.side_by_side import of_both, same

__all__ = ["PIPELINE", "compared", "differences"]

AT_ONCE = 20  # pipelines per call of TensorFlow


def run_all(sources):
    """Return (elements and errors, cardinality) for each pipeline, or the error of building it."""

    def described(value):
        if isinstance(value, dict):
            return ["dict", [[key, described(item)] for key, item in sorted(value.items())]]
        if isinstance(value, (tuple, list)):
            return ["tuple", [described(item) for item in value]]
        if hasattr(value, "dense_shape"):
            return ["sparse", described(value.indices), described(value.values), described(value.dense_shape)]
        if hasattr(value, "row_splits") and hasattr(value, "to_list"):
            return ["tensor", value.dtype.name, value.shape.rank, value.to_list()]  # dense where shapes are known
        array = np.asarray(value.numpy())
        return ["tensor", value.dtype.name, value.shape.rank, array.tolist()]

    def fail(x):
        """Raise an error for some elements."""
        return tf.reshape(x, [1 + tf.cast(tf.cast(x, tf.int64) % 5 == 3, tf.int32)])[0]

    results = []
    for source in sources:
        try:
            dataset = eval(source, {"tf": tf, "np": np, "D": tf.data.Dataset, "fail": fail})
        except Exception as error:
            results.append(["error", type(error).__name__])
            continue
        elements, iterator = [], None
        for _ in range(40):
            try:
                iterator = iter(dataset) if iterator is None else iterator
                elements.append(described(next(iterator)))
            except StopIteration:
                break
            except Exception as error:
                elements.append(["error", type(error).__name__])
        results.append([elements, int(dataset.cardinality())])
    return results


# ---- Transformations for each kind of element, and the kind that they yield ----

SOURCES = {
    "D.range(7)": "int",
    "D.range(2, 20, 3)": "int",
    "D.range(0)": "int",
    "D.from_tensor_slices([5, 3, 8, 1, 3])": "int32",
    "D.from_tensor_slices([0.5, 3.0, -1.5, 8.25])": "float",
    "D.from_tensor_slices(['a', '', 'bc', 'a'])": "str",
    "D.from_tensor_slices([[1, 2], [3, 4], [5, 6]])": "rows",
    "D.from_tensor_slices(([4, 5, 6, 7], [0.5, 1.5, 2.5, 3.5]))": "pair",
    "D.from_tensor_slices({'a': [1, 2, 3], 'b': ['x', 'y', 'z']})": "dict",
    "D.from_tensors([[1, 2, 3]])": "other",
    "D.from_tensor_slices(tf.ragged.constant([[1], [], [2, 3], [4]]))": "ragged",
    "D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2], [3, 3]]))": "sparse",
    "D.from_generator(lambda: iter([1, 2, 3, 4]), output_signature=tf.TensorSpec([], tf.int64))": "int",
    "D.zip((D.range(4), D.range(10, 16)))": "ints",
    "D.zip(D.range(5).map(fail), D.range(9))": "ints",
    "D.counter(2, 3).take(6)": "int",
}
ANY = {
    ".take({n})": None,
    ".skip({n})": None,
    ".repeat(2)": None,
    ".shard(2, {b})": None,
    ".shuffle(1)": None,
    ".cache()": None,
    ".prefetch(2)": None,
    ".enumerate({n})": "other",
    ".ignore_errors()": None,
    ".apply(lambda d: d.skip(1))": None,
    ".concatenate({self})": None,
    ".interleave(lambda *e: D.range({n}), cycle_length={m}, block_length={m})": "int",
    ".flat_map(lambda *e: D.range(3).map(fail))": "int",
    ".window({m}, {m}).map(lambda *w: 1)": "int32",
    ".batch({m}, drop_remainder={d})": "batch",
    ".ragged_batch({m})": "ragged",
}
NUMBERS = {
    ".map(lambda x: x * 2 + 1)": None,
    ".map(fail)": None,
    ".map(fail, num_parallel_calls=2)": None,
    ".map(lambda x: (x, x))": "ints",
    ".map(lambda x: {{'b': x, 'a': tf.cast(x, tf.float32) / 2.0}})": "numbers",
    ".map(lambda x: tf.strings.as_string(tf.cast(x, tf.int32)))": "str",
    ".map(lambda x: tf.fill([tf.cast(x, tf.int32) % 3], x))": "vector",
    ".map(lambda x: tf.cast(x, tf.float32))": "float",
    ".map(lambda x: [x, 2 * x])": "rows",
    ".filter(lambda x: x > {n})": None,
    ".filter(lambda x: fail(x) > 1)": None,
    ".take_while(lambda x: x < 6)": None,
    ".scan(tf.constant(0, tf.int64), lambda s, x: (s + tf.cast(x, tf.int64), s))": "int",
    ".scan(tf.constant(0, tf.int64), lambda s, x: (s + tf.cast(fail(x), tf.int64), x))": None,
    ".window({m}, shift={m}, drop_remainder={d}).flat_map(lambda w: w.batch(3))": "batch",
    ".group_by_window(lambda x: tf.cast(x, tf.int64) % 2, lambda k, g: g.batch({m}), {m})": "batch",
    ".batch({m}).unbatch()": None,
    ".batch({m}).rebatch({n} + 1)": "batch",
    ".flat_map(lambda x: D.from_tensors(x).repeat(2))": None,
}
INTEGERS = {
    ".unique()": None,
    ".interleave(lambda x: D.range(tf.cast(x, tf.int64) % 3), cycle_length={m})": "int",
    ".flat_map(lambda x: D.range(tf.cast(fail(x), tf.int64) % 4))": "int",
}
BY_KIND = {
    "int": NUMBERS | INTEGERS,
    "int32": NUMBERS | INTEGERS,
    "float": NUMBERS,
    "str": {
        ".map(lambda s: s + 'x')": None,
        ".map(tf.strings.length)": "int32",
        ".map(lambda s: (s, tf.strings.length(s)))": "other",
        ".filter(lambda s: s != '')": None,
        ".unique()": None,
        ".padded_batch({m})": "other",
    },
    "vector": {
        ".padded_batch({m})": "other",
        ".padded_batch({m}, padded_shapes=[3], drop_remainder={d})": "other",
        ".padded_batch({m}, padded_shapes=[1])": "other",
        ".map(lambda x: tf.size(x))": "int32",
        ".map(lambda x: tf.reduce_sum(x))": "other",
        ".batch(1)": "other",
        ".unbatch()": "other",
        ".bucket_by_sequence_length(lambda x: tf.shape(x)[0], [1, 2], [2, 2, {m}])": "other",
    },
    "rows": {
        ".unbatch()": "other",
        ".map(lambda x: x[0])": "other",
        ".map(lambda x: tf.reduce_sum(x))": "other",
        ".map(lambda x: tf.concat([x, x], 0))": None,
        ".map(lambda x: x[5])": "other",
    },
    "batch": {
        ".unbatch()": "other",
        ".map(lambda x: x * 2)": "other",
        ".map(lambda x: tf.shape(x)[0])": "int32",
        ".rebatch({m})": None,
        ".map(lambda x: tf.reverse(x, [0]))": None,
        ".filter(lambda x: tf.shape(x)[0] > 1)": None,
        ".flat_map(D.from_tensor_slices)": "other",
        ".padded_batch({m})": "other",
    },
    "pair": {
        ".map(lambda i, f: tf.cast(i, tf.float32) * f)": "float",
        ".map(lambda i, f: {{'x': (i, f)}})": "other",
        ".filter(lambda i, f: f > 1.0)": None,
        ".map(lambda i, f: (fail(i), f))": None,
        ".map(lambda *both: both[0])": "int32",
    },
    "ints": {
        ".map(lambda i, j: i + j)": "int",
        ".map(lambda i, j: (j, fail(i)))": None,
        ".filter(lambda i, j: i < j)": None,
        ".unbatch()": "other",
        ".padded_batch({m})": "other",
    },
    "numbers": {
        ".map(lambda e: e['b'])": "other",
        ".map(lambda e: {{**e, 'c': e['a'] + 1.0}})": "other",
        ".filter(lambda e: e['a'] > 1.0)": None,
        ".map(lambda e: (e, e['a']))": "other",
    },
    "dict": {
        ".map(lambda e: e['a'])": "int32",
        ".map(lambda e: (e['b'], e['a'] * 2))": "other",
        ".map(lambda e: {{'c': fail(e['a'])}})": "other",
        ".map(lambda e: e['missing'])": "other",
        ".filter(lambda e: e['b'] == 'y')": None,
    },
    "ragged": {".map(lambda r: tf.size(r))": "int32", ".map(lambda r: r * 2)": None},
    "sparse": {".map(lambda s: tf.sparse.to_dense(s))": "rows", ".map(lambda s: s.values)": "other"},
    "other": {},
}


# docs/differences.md; and in TensorFlow an error inside a window stays in the window.
_UNLIKE_AFTER_ERRORS = [".skip", ".shard", ".apply", ".window", ".ragged_batch"]


@st.composite
def _pipeline(draw):
    source = draw(st.sampled_from(sorted(SOURCES)))
    element_kind = SOURCES[source]
    for _ in range(draw(st.integers(3, 8))):
        choices = BY_KIND[element_kind]
        others = [".batch", ".ragged_batch"] * (
            element_kind == "ragged" or "tf.ragged" in source
        ) + _UNLIKE_AFTER_ERRORS * ("fail" in source)
        anyhow = [item for item in sorted(ANY) if not item.startswith(tuple(others))]  # docs/differences.md
        step = draw(st.sampled_from(sorted(choices) if choices and draw(st.booleans()) else anyhow))
        numbers = {"n": draw(st.integers(0, 4)), "m": draw(st.integers(1, 3)), "b": draw(st.integers(0, 1))}
        other = source if len(source) < 200 else "D.range(2)"
        source += step.format(**numbers, d=draw(st.booleans()), self=other)
        element_kind = {**ANY, **choices}[step] or element_kind
    return source


PIPELINE = _pipeline()


def differences(sources):
    """Return (source, ours, theirs) for the pipelines that differ."""
    ours, theirs = of_both(run_all, sources)
    return [(source, *both) for source, *both in zip(sources, ours, theirs, strict=True) if not compared(*both)]


def compared(ours, theirs):
    """Return True if two outcomes are alike; a cardinality may be unknown.

    TensorFlow refuses functions when it traces them, this package when it calls them (docs/differences.md). So a
    pipeline that TensorFlow refuses to build counts as alike.
    """
    if theirs[0] == "error":
        return True
    if ours[0] == "error":
        return False
    return (ours[1] == theirs[1] or -2 in (ours[1], theirs[1])) and same(ours[0], theirs[0], 1e-6)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    given_here = arguments.parse_args()
    counted, different, crashed, end = set(), {}, {}, time.monotonic() + 60 * given_here.minutes

    @seed(given_here.seed)
    @settings(
        max_examples=3 * given_here.count // AT_ONCE,  # some come twice
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(PIPELINE, min_size=AT_ONCE, max_size=AT_ONCE))
    def run(sources):
        is_enough = len(counted) >= given_here.count or time.monotonic() > end
        sources = [] if is_enough else sorted(set(sources) - counted)
        try:
            outcomes = differences(sources)
        except Crashed:  # one at a time, then
            outcomes = [outcome for source in sources for outcome in survived(source)]
        counted.update(sources)
        for source, ours, theirs in outcomes:
            different[source] = (ours, theirs)

    def survived(source):
        try:
            return differences([source])
        except Crashed as error:
            crashed[source] = str(error)
            return []

    run()
    counted -= set(crashed)
    for source, message in crashed.items():
        print(f"TensorFlow crashed, not compared: {source}\n  {message.splitlines()[0]}")
    for source, (ours, theirs) in sorted(different.items(), key=lambda item: len(item[0])):
        print(f"{source}\n  ours   {str(ours)[:600]}\n  theirs {str(theirs)[:600]}")
    print(f"{len(counted)} pipelines (seed {given_here.seed}), {len(different)} differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
