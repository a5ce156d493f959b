"""What the native reader does of a dataset gives what Python would, damage included; and repr tells the two apart."""

import copy
import itertools
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.paths import ROOT
from tfrecord_fast.data.handle import node_of
from tfrecord_fast.data.nodes.base.node import Run

NODES = Path(tf.__file__).parent / "data" / "nodes"
PLANS = {".plan", ".planning", ".running", ".describing"}
SIZES = (7, 0, 11, 3)
RECORDS = [[b"%d.%d" % (file, i) for i in range(size)] for file, size in enumerate(SIZES)]
ALL = list(itertools.chain(*RECORDS))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    for number, records in enumerate(RECORDS):
        with tf.io.TFRecordWriter(folder / f"{number}.tfrecord", "GZIP" if number == 2 else None) as writer:
            writer.write_batch(records)
    return sorted(map(str, folder.iterdir()))


small = st.integers(-1, 30)
steps = st.one_of(
    st.tuples(st.just("take"), small),
    st.tuples(st.just("skip"), small),
    st.tuples(st.just("repeat"), st.integers(0, 3)),
    st.tuples(st.just("shuffle"), st.just(1)),
    st.tuples(st.just("prefetch"), st.integers(0, 3)),
    st.integers(1, 4).flatmap(lambda n: st.tuples(st.just("shard"), st.just(n), st.integers(0, n - 1))),
    st.tuples(st.just("batch"), st.integers(1, 9), st.booleans()),
)


def plain(element):
    return [plain(item) for item in element] if isinstance(element, (np.ndarray, tf.RecordBatch)) else element


class Unplanned(Run):
    """An iteration in Python, in which the native reader only reads records."""

    def __call__(self, node):
        return node.iterate(self)


unplanned = Unplanned()


@settings(deadline=None, max_examples=300)
@given(chain=st.lists(steps, max_size=6))
def test_any_chain_over_files_gives_what_it_gives_over_a_list(chain, files):
    if sum(name == "batch" for name, *_ in chain) > 2:
        return
    native, python = tf.data.TFRecordDataset(files), tf.data.Dataset.from_tensor_slices(ALL)
    for name, *arguments in chain:
        native, python = (getattr(dataset, name)(*arguments) for dataset in (native, python))
    try:
        expected = [plain(element) for element in python]
    except tf.errors.InvalidArgumentError:  # a batch of batches that differ in length
        with pytest.raises(tf.errors.InvalidArgumentError):
            list(native)
        return
    assert [plain(element) for element in native] == expected
    assert [plain(element) for element in native] == expected
    assert [plain(element) for element in unplanned(node_of(native))] == expected


@pytest.fixture
def damaged_path(tmp_path):
    """20 records, of which number 12 is damaged."""
    path = tmp_path / "damaged.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%02d" % i for i in range(20)])
    data = bytearray(path.read_bytes())
    data[12 * 18 + 12] ^= 1
    path.write_bytes(data)
    return path


@pytest.fixture
def damaged(damaged_path):
    return tf.data.TFRecordDataset(damaged_path)


def before_the_error(dataset):
    found = []
    with pytest.raises(tf.errors.DataLossError):
        for element in dataset:
            found.append(element if isinstance(element, bytes) else element.tolist())
    return found


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        (lambda data: data.skip(10), [b"10", b"11"]),
        (lambda data: data.skip(2).batch(4), [[b"%02d" % i for i in range(a, a + 4)] for a in (2, 6)]),
        (lambda data: data.shard(3, 1).batch(2), [[b"01", b"04"], [b"07", b"10"]]),
    ],
    ids=["skip", "skip.batch", "shard.batch"],
)
def test_records_before_damage_come_whatever_is_cut_out_of_them(damaged, cut, expected):
    assert before_the_error(cut(damaged)) == expected


def test_damage_after_the_records_that_are_taken_is_not_seen(damaged):
    assert list(damaged.take(12)) == [b"%02d" % i for i in range(12)]


def test_damage_after_the_batches_that_are_taken_is_not_seen(damaged):
    assert [batch.tolist() for batch in damaged.take(12).batch(5)][-1] == [b"10", b"11"]


@pytest.fixture
def with_errors_ignored(damaged_path, files):
    return tf.data.TFRecordDataset([str(damaged_path), files[0]]).ignore_errors()


def test_ignore_errors_continues_with_the_next_file(with_errors_ignored):
    assert list(with_errors_ignored) == [b"%02d" % i for i in range(12)] + RECORDS[0]


def test_batches_run_on_over_ignored_errors(with_errors_ignored):
    assert [len(batch) for batch in with_errors_ignored.batch(5)] == [5, 5, 5, 4]


@pytest.fixture(params=["native", "in Python"])
def to_shuffle(request, files):
    """Makes the dataset of all records: one that the native reader shuffles, or one that Python does."""

    def make():
        dataset = tf.data.TFRecordDataset(files)
        return dataset if request.param == "native" else dataset.map(lambda record: record)

    return make


def test_a_shuffle_is_a_permutation(to_shuffle):
    assert sorted(to_shuffle().shuffle(100)) == sorted(ALL)


def test_two_iterations_of_a_shuffle_differ(to_shuffle):
    shuffled = to_shuffle().shuffle(100)
    assert list(shuffled) != list(shuffled)


def test_iterations_are_the_same_unless_reshuffled(to_shuffle):
    same = to_shuffle().shuffle(100, reshuffle_each_iteration=False)
    assert list(same) == list(same) and list(same.repeat(2)) == list(same) * 2


def test_shuffles_with_the_same_seed_are_the_same(to_shuffle):
    one, other = to_shuffle().shuffle(100, seed=5), to_shuffle().shuffle(100, seed=5)
    assert [list(one), list(one)] == [list(other), list(other)]


def test_shuffled_epochs_do_not_mix_and_batches_run_on(files):
    batches = [batch.tolist() for batch in tf.data.TFRecordDataset(files).shuffle(100).repeat(3).batch(10)]
    assert [len(batch) for batch in batches] == [10] * 6 + [3]
    records = list(itertools.chain(*batches))
    for epoch in range(3):
        assert sorted(records[epoch * 21 : (epoch + 1) * 21]) == sorted(ALL)


def test_a_repeated_shuffle_in_batches_differs_each_epoch(files):
    batches = tf.data.TFRecordDataset(files).shuffle(100).batch(21).repeat(2)
    first, second = (batch.tolist() for batch in batches)
    assert first != second and sorted(first) == sorted(second)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda r: r, "RECORDS"),
        (lambda r: r.shuffle(9).batch(2), "native[RECORDS.shuffle(9).batch(2)]"),
        (lambda r: r.take(9).map(len), "native[RECORDS.take(9)].map(len)"),
        (lambda r: r.repeat().shuffle(5), "native[RECORDS.repeat()].shuffle(5)"),
        (lambda r: tf.data.Dataset.zip(r, r.take(1)), "zip(RECORDS, native[RECORDS.take(1)])"),
        (lambda r: r.batch(2).prefetch(1).batch(3), "native[RECORDS.batch(2).prefetch(1)].batch(3)"),
    ],
)
def test_repr_shows_the_plan(make, text, files):
    expected = text.replace("RECORDS", "TFRecordDataset(4 files)")
    assert repr(make(tf.data.TFRecordDataset(files))) == f"<Dataset {expected}>"


def test_files_that_differ_in_how_they_are_read_are_interleaved_in_python(files):
    names = tf.data.Dataset.from_tensor_slices(files)

    def open_file(path):
        return tf.data.TFRecordDataset(path, "GZIP" if path.endswith(b"2.tfrecord") else "")

    mixed = names.interleave(open_file, cycle_length=2)
    alike = names.interleave(tf.data.TFRecordDataset, cycle_length=2)
    assert "native" not in repr(mixed) and repr(alike.batch(2)).startswith("<Dataset native[")
    assert list(mixed) == list(alike)


def test_records_of_a_window_know_where_they_come_from(files):
    dataset = tf.data.TFRecordDataset(files).skip(1).shard(2, 0).batch(4)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"0\.tfrecord.*record 1|record 1.*0\.tfrecord"):
        list(dataset.map(lambda batch: tf.parse_example(batch, {"a": tf.FixedLenFeature([], tf.int64)})))


MEMORY = """
import resource, sys
import tfrecord_fast as tf
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
with tf.io.TFRecordWriter(sys.argv[1]) as writer:
    for _ in range(200):
        writer.write(bytes(1 << 20))
data = tf.data.TFRecordDataset([sys.argv[1]])
for _ in zip(range(9), data.skip(1).batch(4)):
    pass
before = peak()
assert sum(len(batch) for batch in data.skip(1).batch(4)) == 199
print(peak() - before)
"""


def test_batches_that_are_cut_do_not_keep_those_before_them(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "large")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 100


def test_a_dataset_of_files_pickles(files):
    dataset = pickle.loads(pickle.dumps(tf.data.TFRecordDataset(files).shuffle(1).take(9).batch(4)))
    assert [batch.tolist() for batch in dataset] == [ALL[:4], ALL[4:8], ALL[8:9]]


def test_datasets_of_datasets_pickle(files):
    names = tf.data.Dataset.from_tensor_slices(files)
    for dataset in (names.interleave(tf.data.TFRecordDataset, 2), names.map(bytes.upper).window(3).flat_map(itself)):
        assert list(pickle.loads(pickle.dumps(dataset))) == list(dataset)


def itself(window):
    return window


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.data.Dataset.range(5),
        lambda: tf.data.Dataset.from_tensor_slices(ALL),
        lambda: tf.data.Dataset.from_tensors(1),
    ],
    ids=["range", "from_tensor_slices", "from_tensors"],
)
def test_a_dataset_of_values_pickles(make):
    dataset = make().skip(1).batch(2).prefetch(1)
    assert list(map(plain, pickle.loads(pickle.dumps(dataset)))) == list(map(plain, dataset))


def test_a_known_length_is_given():
    assert len(tf.data.Dataset.range(10).batch(3)) == 4


@pytest.mark.parametrize("make", [tf.data.TFRecordDataset, lambda _: tf.data.Dataset.range(3).repeat()])
def test_an_unknown_length_is_a_type_error(make, files):
    with pytest.raises(TypeError):
        len(make(files))


def test_a_dataset_of_unknown_length_is_true(files):
    assert bool(tf.data.TFRecordDataset(files))


def test_the_spec_of_records_is_a_string(files):
    assert tf.data.TFRecordDataset(files).element_spec == tf.TensorSpec((), tf.string)


def test_the_spec_of_batches_of_records_is_a_vector_of_strings(files):
    assert tf.data.TFRecordDataset(files).batch(2).element_spec == tf.TensorSpec((None,), tf.string)


def test_specs_of_batches_have_their_size_if_the_remainder_is_dropped():
    pairs = tf.data.Dataset.from_tensor_slices((np.zeros((4, 3), np.float32), [1, 2, 3, 4]))
    assert pairs.batch(2, drop_remainder=True).element_spec == (
        tf.TensorSpec((2, 3), tf.float32),
        tf.TensorSpec((2,), tf.int32),
    )


LOOKS = {
    "repr": repr,
    "element_spec": lambda data: data.element_spec,
    "map.prefetch": lambda data: data.map(lambda x: x).prefetch(2),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("native", [True, False], ids=["native", "in Python"])
def test_looking_at_a_shuffled_dataset_changes_nothing(files, look, native):
    opened = []

    def open_(path):
        opened.append(path)
        data = tf.data.TFRecordDataset(path)
        return data if native else data.map(lambda record: record)

    def build():
        return tf.data.Dataset.from_tensor_slices(files * 5).shuffle(20, seed=3).interleave(open_, cycle_length=2)

    untouched, looked = build(), build()
    expected = [list(untouched), list(untouched)]
    opened.clear()
    seen = look(looked)
    data = seen if isinstance(seen, tf.data.Dataset) else looked
    if data is looked:
        opened.clear()
    assert [list(data), list(data)] == expected
    assert len(opened) <= 2 * (20 if native else 22)  # one or two to see that it is not the native reader's
    assert native == ("native[" in repr(looked))


def test_looking_at_records_of_shuffled_files_changes_nothing(files):
    def build():
        names = tf.data.Dataset.from_tensor_slices(files * 5).shuffle(20, seed=3)
        return tf.data.TFRecordDataset(names).map(lambda record: record)

    untouched, looked = build(), build()
    assert looked.element_spec == tf.TensorSpec((), tf.string)
    assert list(looked) == list(untouched)


def test_a_class_that_iterates_in_its_own_way_is_a_source():
    class Two(tf.data.Dataset):
        def __init__(self):
            pass

        def __iter__(self):
            return iter([b"a", b"b"])

    assert list(Two().map(bytes.upper)) == [b"A", b"B"]
    assert repr(Two().repeat(2).take(3)) == "<Dataset Two.repeat(2).take(3)>"


def test_without_a_node_there_are_no_elements():
    with pytest.raises(TypeError, match="Dataset is not iterable on its own"):
        iter(tf.data.Dataset())


def test_a_function_that_gives_no_dataset_is_reported_when_elements_are_asked_for(files):
    iterator = iter(tf.data.Dataset.from_tensor_slices(files).interleave(len))
    with pytest.raises(TypeError, match="the function of interleave must return a Dataset, got int"):
        next(iterator)


@pytest.mark.parametrize("path", sorted(NODES.glob("*.py")), ids=lambda path: path.stem)
def test_nodes_know_nothing_of_datasets(path):
    """Nor of the methods that make them; and only what runs and describes nodes knows of plans."""
    imported = set(re.findall(r"(?m)^from (\.+[\w.]*) import", path.read_text()))
    assert not imported & {"..", "..dataset", "..handle", "..records"}
    assert not any(name.startswith("..methods") for name in imported)
    assert f".{path.stem}" in PLANS or not imported & PLANS


class Five(tf.data.Dataset):
    def __iter__(self):
        return iter(range(5))

    def cardinality(self):
        return 5


@pytest.mark.parametrize(
    ("make", "count"), [(lambda d: d.batch(2), 3), (lambda d: d.repeat(2), 10), (lambda d: d.take(3), 3)]
)
def test_a_class_that_knows_its_length_is_asked_for_it(make, count):
    assert make(Five()).cardinality() == count


def test_a_class_that_never_called_its_base_has_no_elements():
    class Bare(tf.data.Dataset):
        def __init__(self):
            pass

    assert (repr(Bare()), Bare().cardinality()) == ("<Dataset Bare>", tf.data.UNKNOWN_CARDINALITY)
    with pytest.raises(TypeError, match="Bare is not iterable on its own"):
        iter(Bare())


def test_a_copy_counts_its_own_iterations():
    dataset = tf.data.Dataset.range(20).shuffle(10, seed=3)
    other = copy.copy(dataset)
    first, second = [int(x) for x in dataset], [int(x) for x in dataset]
    assert first != second
    assert [[int(x) for x in other] for _ in range(2)] == [first, second]
