"""Long chains of steps: their costs grow with their length, and they end at a limit that says so."""

import copy
import pickle
import subprocess
import sys

import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as tf_compat

Dataset = tf.data.Dataset
STEPS = {
    "map": lambda data: data.map(lambda x: x),
    "map on threads": lambda data: data.map(lambda x: x, num_parallel_calls=tf.data.AUTOTUNE),
    "filter": lambda data: data.filter(lambda x: x >= 0),
    "take": lambda data: data.take(5),
    "skip": lambda data: data.skip(0),
    "shard": lambda data: data.shard(1, 0),
    "shuffle": lambda data: data.shuffle(1),
    "repeat": lambda data: data.repeat(1),
    "batch": lambda data: data.batch(2).unbatch(),
    "padded_batch": lambda data: data.padded_batch(1).unbatch(),
    "cache": lambda data: data.cache(),
    "concatenate": lambda data: data.concatenate(Dataset.range(0)),
    "zip": lambda data: Dataset.zip((data,)).map(lambda x: x),
    "enumerate": lambda data: data.enumerate().map(lambda number, x: x),
    "scan": lambda data: data.scan(0, lambda state, x: (state, x)),
    "take_while": lambda data: data.take_while(lambda x: True),
    "ignore_errors": lambda data: data.ignore_errors(),
    "unique": lambda data: data.unique(),
    "with_options": lambda data: data.with_options(tf.data.Options()),
    "flat_map": lambda data: data.flat_map(Dataset.from_tensors),
    "window": lambda data: data.window(1).flat_map(lambda window: window),
    "mixed": lambda data: data.map(lambda x: x).take(5).filter(lambda x: True).shuffle(1),
}


def chain(source, step, count):
    for _ in range(count):
        source = step(source)
    return source


def looked_at(dataset):
    """Everything that goes through a chain."""
    assert [int(x) for x in dataset] == [int(x) for x in dataset] == [0, 1, 2, 3, 4]
    assert [int(x) for x in copy.copy(dataset).as_numpy_iterator()] == [0, 1, 2, 3, 4]
    assert int(dataset.cardinality()) in (5, -2)
    assert dataset.element_spec.shape == () and len(repr(dataset)) > 5
    dataset.options()


@pytest.mark.parametrize("package", [tf, tf_compat], ids=["plain", "tensorflow"])
@pytest.mark.parametrize("name", STEPS)
def test_three_hundred_steps_work(name, package):
    looked_at(
        chain(package.data.Dataset.range(5), STEPS[name], 75 if name == "mixed" else 150 if name == "window" else 300)
    )


@pytest.mark.parametrize("name", ["map", "take", "filter", "prefetch"])
def test_a_thousand_steps_work_over_files(tmp_path, name):
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write_batch([b"a", b"b"])
    step = (lambda data: data.prefetch(2)) if name == "prefetch" else STEPS[name]
    if name == "filter":
        step = lambda data: data.filter(lambda x: True)  # noqa: E731
    dataset = chain(tf.data.TFRecordDataset(str(tmp_path / "a")), step, 1000)
    assert list(dataset) == [b"a", b"b"] and dataset.element_spec.dtype == tf.string


def calls(function):
    """How many functions are called."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", sorted(STEPS.keys() - {"with_options", "mixed", "window", "flat_map"}))
def test_costs_grow_with_the_length_of_a_chain(name):
    def build_and_iterate(count):
        dataset = chain(Dataset.range(5), STEPS[name], count)
        list(dataset)
        dataset.cardinality()
        dataset.element_spec  # noqa: B018

    few, many = (calls(lambda count=count: build_and_iterate(count)) for count in (60, 240))
    assert many < 8 * few  # 4 times, if not for small things; 16 times if costs grew with the square


@pytest.mark.parametrize("step", [STEPS["map"], STEPS["concatenate"]], ids=["map", "concatenate"])
def test_the_limit_names_the_ways_out(step):
    longest = chain(Dataset.range(5), step, 1000)
    assert len(list(longest)) == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"at most 1,000 steps.*one `map`.*`save`"):
        step(longest)


def test_a_long_chain_goes_to_another_process(tmp_path):
    (tmp_path / "dataset").write_bytes(
        pickle.dumps(chain(Dataset.from_tensor_slices([1, 2]), lambda data: data.map(abs), 999))
    )
    code = "import pickle, sys; print(len(list(pickle.load(open(sys.argv[1], 'rb')))))"
    command = [sys.executable, "-c", code, str(tmp_path / "dataset")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "2\n"


def test_the_limit_of_python_is_raised_for_long_chains_only():
    code = (
        "import sys, tfrecord_fast as tf\n"
        "data = tf.data.Dataset.range(5)\n"
        "for count in range(1, 201):\n"
        "    data = data.map(lambda x: x)\n"
        "    if count in (50, 200): print(sys.getrecursionlimit())\n"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.split() == ["1000", "3000"]
