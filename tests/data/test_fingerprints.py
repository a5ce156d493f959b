"""A dataset never reads the snapshot, the cache in a file or the saved records of another dataset."""

import functools
import os
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tfrecord_fast.data import Dataset
from tfrecord_fast.data.handle import node_of
from tfrecord_fast.data.saving.fingerprint import fingerprint

NUMBERS = Dataset.range(5)
SETTINGS = {"step": 1}
HELPERS = types.ModuleType("helpers_of_a_script")


def helper(x):
    return x + SETTINGS["step"]


def adding(step):
    return lambda x: x + step


class Adder:
    def __init__(self, step):
        self.step = step

    def __call__(self, x):
        return x + self.step

    def add(self, x):
        return self(x)


def ones():
    yield np.int64(1)


def twos():
    yield np.int64(2)


# Datasets, by name, of which each differs from the others.
DIFFERENT = {
    "numbers": lambda: NUMBERS,
    "range": lambda: Dataset.range(6),
    "take": lambda: NUMBERS.take(3),
    "take 4": lambda: NUMBERS.take(4),
    "constant 1": lambda: NUMBERS.map(lambda x: x + 1),
    "constant 2": lambda: NUMBERS.map(lambda x: x + 2),
    "operator": lambda: NUMBERS.map(lambda x: x * 2),
    "name": lambda: NUMBERS.map(np.negative),
    "name 2": lambda: NUMBERS.map(np.square),
    "outer": lambda: NUMBERS.map(adding(1)),
    "outer 2": lambda: NUMBERS.map(adding(2)),
    "array": lambda: NUMBERS.map(adding(np.array([1, 2]))),
    "array 2": lambda: NUMBERS.map(adding(np.array([1, 3]))),
    "float": lambda: NUMBERS.map(adding(1.0)),
    "partial": lambda: NUMBERS.map(functools.partial(np.add, 1)),
    "partial 2": lambda: NUMBERS.map(functools.partial(np.add, 2)),
    "default": lambda: NUMBERS.map(lambda x, step=1: x + step),
    "default 2": lambda: NUMBERS.map(lambda x, step=2: x + step),
    "object": lambda: NUMBERS.map(Adder(1)),
    "object 2": lambda: NUMBERS.map(Adder(2)),
    "method": lambda: NUMBERS.map(Adder(1).add),
    "method 2": lambda: NUMBERS.map(Adder(2).add),
    "cached": lambda: NUMBERS.map(functools.lru_cache(adding(1))),
    "cached 2": lambda: NUMBERS.map(functools.lru_cache(adding(2))),
    "set": lambda: NUMBERS.map(lambda x: str(x) in {"1", "2"}),
    "set 2": lambda: NUMBERS.map(lambda x: str(x) in {"1", "3"}),
    "inner": lambda: NUMBERS.map(lambda x: (lambda y: y + 1)(x)),
    "inner 2": lambda: NUMBERS.map(lambda x: (lambda y: y + 2)(x)),
    "filter": lambda: NUMBERS.filter(lambda x: x > 1),
    "filter 2": lambda: NUMBERS.filter(lambda x: x > 2),
    "slices": lambda: Dataset.from_tensor_slices([1, 2]),
    "slices 2": lambda: Dataset.from_tensor_slices([1, 3]),
    "texts": lambda: Dataset.from_tensor_slices(["a", "b"]),
    "texts 2": lambda: Dataset.from_tensor_slices(["a", "c"]),
    "generator": lambda: Dataset.from_generator(ones),
    "generator 2": lambda: Dataset.from_generator(twos),
    "shuffle": lambda: NUMBERS.shuffle(3),
    "seed": lambda: NUMBERS.shuffle(3, seed=1),
    "seed 2": lambda: NUMBERS.shuffle(3, seed=2),
    "batch": lambda: NUMBERS.batch(2),
    "batch 3": lambda: NUMBERS.batch(3),
    "padded": lambda: NUMBERS.map(np.ones).padded_batch(2, padding_values=0.0),
    "padded 2": lambda: NUMBERS.map(np.ones).padded_batch(2, padding_values=1.0),
    "zip": lambda: Dataset.zip(NUMBERS, NUMBERS.take(3)),
    "zip 2": lambda: Dataset.zip(NUMBERS.take(3), NUMBERS),
    "concatenate": lambda: NUMBERS.concatenate(NUMBERS.take(3)),
    "concatenate 2": lambda: NUMBERS.concatenate(NUMBERS.take(4)),
    "flat_map": lambda: NUMBERS.flat_map(lambda x: Dataset.range(x)),
    "interleave": lambda: NUMBERS.interleave(lambda x: Dataset.range(x), cycle_length=2),
    "interleave 3": lambda: NUMBERS.interleave(lambda x: Dataset.range(x), cycle_length=3),
    "group": lambda: NUMBERS.group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2),
    "group 2": lambda: NUMBERS.group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 2),
    "random": lambda: Dataset.random(seed=1).take(2),
    "random 2": lambda: Dataset.random(seed=2).take(2),
}


def of(dataset):
    return fingerprint(node_of(dataset))


def test_different_datasets_have_different_fingerprints():
    prints = {name: of(dataset()) for name, dataset in DIFFERENT.items()}
    assert len(set(prints.values())) == len(prints), prints


@pytest.mark.parametrize("name", DIFFERENT)
def test_equal_datasets_have_equal_fingerprints_also_after_an_iteration(name):
    dataset = DIFFERENT[name]()
    before = of(dataset)
    list(dataset)
    assert before == of(dataset) == of(DIFFERENT[name]())


def test_steps_that_change_no_element_do_not_count():
    same = [NUMBERS.prefetch(2), NUMBERS.cache(), NUMBERS.with_options(tf.data.Options())]
    assert {of(dataset) for dataset in same} == {of(NUMBERS)}
    assert of(NUMBERS.map(helper, num_parallel_calls=2)) == of(NUMBERS.map(helper))


def test_variables_of_the_script_and_functions_that_it_calls_count(monkeypatch):
    calls_helper = lambda x: helper(x) + HELPERS.add(x)  # noqa: E731
    prints = []
    for step, added in ((1, 1), (2, 1), (2, 2)):
        monkeypatch.setitem(SETTINGS, "step", step)
        monkeypatch.setattr(HELPERS, "add", adding(added), raising=False)
        HELPERS.__file__ = __file__
        monkeypatch.setitem(sys.modules, HELPERS.__name__, HELPERS)
        prints += [of(NUMBERS.map(calls_helper)), of(tf_compat.data.Dataset.range(5).map(calls_helper))]
    assert len(set(prints)) == 6


SNAPSHOTS = """
def snapshots(folder):
    D = tf.data.Dataset
    numbers = D.range(3)
    signature = tf.TensorSpec((), tf.int64)

    def ones():
        yield 1

    def twos():
        yield 2

    def add_one(x):
        return x + 1

    def add_two(x):
        return x + 2

    steps = [1]

    def add_step(x):
        return x + steps[0]

    def stepped():
        yield numbers.map(add_step)
        steps[0] = 5
        yield numbers.map(add_step)

    pairs = {
        "range": (D.range(4), D.range(8)),
        "map": (numbers.map(add_one), numbers.map(add_two)),
        "again": (numbers.map(add_one), numbers.map(add_one)),
        "slices": (D.from_tensor_slices([1, 2]), D.from_tensor_slices([1, 3])),
        "generator": [D.from_generator(generator, output_signature=signature) for generator in (ones, twos)],
        "step": stepped(),
    }
    found = {}
    for name, datasets in pairs.items():
        path = os.path.join(folder, name)
        elements = [[int(x) for x in dataset.snapshot(path)] for dataset in datasets]
        folders = [entry for entry in os.scandir(path) if entry.is_dir()]
        found[name] = elements, len(folders)
    return found
"""


def test_a_snapshot_of_a_changed_dataset_is_another_one_as_in_tensorflow(tmp_path):
    spaces = {"tf": tf_compat, "os": os}
    exec(SNAPSHOTS, spaces)
    (tmp_path / "ours").mkdir()
    ours = spaces["snapshots"](str(tmp_path / "ours"))
    assert ours["range"] == ([[0, 1, 2, 3], [*range(8)]], 2)
    assert ours["again"] == ([[1, 2, 3]] * 2, 1)
    assert ours["step"] == ([[1, 2, 3], [5, 6, 7]], 2)
    if live_tensorflow.INSTALLED:
        (tmp_path / "theirs").mkdir()
        assert live_tensorflow.call(SNAPSHOTS.strip() + "\n", str(tmp_path / "theirs")) == ours


def test_both_snapshots_are_kept(tmp_path):
    for _ in range(2):
        for count in (4, 8):
            calls = iter(range(count))  # too few for another iteration
            numbers = Dataset.range(count).map(lambda x, calls=calls: (next(calls), x)[1])
            assert [int(x) for x in numbers.snapshot(tmp_path)] == [*range(count)]
    assert sorted(len(list(Dataset.load(folder))) for folder in tmp_path.iterdir()) == [4, 8]
    assert [int(x) for x in Dataset.range(4).snapshot(tmp_path, compression="GZIP")] == [0, 1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 3


SCRIPT = """
import sys
import numpy as np
import tfrecord_fast{} as tf

class Words:
    def __init__(self, words):
        self.words = words
    def __call__(self, x):
        print("called")
        return x

known = {{"a", "b", "c"}}
def parse(x):
    return np.int64(len(known)) + (str(x) in {{"a", "b"}})

path = sys.argv[1]
names = tf.data.Dataset.list_files(path + "/*.tfrecord", shuffle=False)
files = names.interleave(lambda name: tf.data.TFRecordDataset(name), cycle_length=2)
words = files.map(Words({{"x", "y", "z"}})).map(parse).shuffle(3)
print(len(list(words.snapshot(path + "/kept"))))
"""


@pytest.mark.parametrize("package", ["", ".tensorflow"])
def test_another_process_reads_the_snapshot_until_a_file_changes(tmp_path, package):
    def run(seed):
        code = [sys.executable, "-c", SCRIPT.format(package), str(tmp_path)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(code, env=environment, check=True, capture_output=True, text=True).stdout.split()

    for name in ("a", "b"):
        with tf.io.TFRecordWriter(str(tmp_path / f"{name}.tfrecord")) as writer:
            writer.write(b"one")
    assert run("1")[-1:] == ["2"] and run("2") == ["2"]
    status = (tmp_path / "b.tfrecord").stat()
    (tmp_path / "b.tfrecord").unlink()
    with tf.io.TFRecordWriter(str(tmp_path / "b.tfrecord")) as writer:
        writer.write(b"two")
    os.utime(tmp_path / "b.tfrecord", ns=(status.st_atime_ns, status.st_mtime_ns))  # the same size and time
    assert "called" in run("3")
    assert run("4") == ["2"]


@pytest.mark.parametrize(
    "read",
    [
        tf.data.TFRecordDataset,
        tf.data.TextLineDataset,
        lambda path: tf.data.FixedLengthRecordDataset(path, 3),
        lambda path: Dataset.from_tensor_slices([path]).flat_map(tf.data.TFRecordDataset),
        lambda path: NUMBERS.map(lambda x: open(path).read()),
    ],
)
def test_a_file_that_was_written_again_is_another_one(tmp_path, read):
    path = str(tmp_path / "a")
    prints = {of(read(path))}
    for text in ("abc", "abc", "abcdef"):
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").rename(path)
        prints |= {of(read(path)), of(read(path))}
    assert len(prints) == 4


def test_credentials_of_a_url_do_not_count():
    url = "https://host.example/a.tfrecord?X-Amz-Signature="
    assert of(tf.data.TFRecordDataset(url + "1")) == of(tf.data.TFRecordDataset(url + "2"))


def test_contents_of_memory_count():
    assert len({of(tf.data.TFRecordDataset(bytearray(data))) for data in (b"", b"a", b"b")}) == 3


def test_values_without_a_fixed_text_do_not_disturb(tmp_path):
    class Odd:
        __slots__ = ("odd",)

        def __repr__(self):
            raise RuntimeError

    lock, odd = __import__("threading").Lock(), Odd()
    around = [lock]
    around.append(around)
    dataset = NUMBERS.map(lambda x: (lock, odd, around, x)[-1])
    assert of(dataset) == of(dataset)
    assert [int(x) for x in dataset.snapshot(tmp_path)] == [0, 1, 2, 3, 4]


# ---- Caches and saved datasets ----

CACHES = """
def caches(path):
    return [[int(x) for x in tf.data.Dataset.range(count).cache(path)] for count in (3, 5, 0, 3)]
"""


def test_a_cache_of_another_dataset_is_used_as_in_tensorflow_with_a_warning(tmp_path):
    space = {"tf": tf}
    exec(CACHES, space)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert space["caches"](str(tmp_path / "kept")) == [[0, 1, 2]] * 4
    assert ["kept.tfrecord has the elements of another" in str(warning.message) for warning in caught] == [True] * 2
    if live_tensorflow.INSTALLED:
        assert live_tensorflow.call(CACHES.strip() + "\n", str(tmp_path / "theirs")) == [[0, 1, 2]] * 4


def test_a_dataset_is_saved_anew(tmp_path):
    for count in (3, 5):
        Dataset.range(count).save(tmp_path)
        assert len(list(Dataset.load(tmp_path))) == count
