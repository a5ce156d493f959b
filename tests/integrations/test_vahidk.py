"""`tfrecord_fast.integrations.vahidk` gives what vahidk's package `tfrecord` gives, side by side."""

import gzip
import itertools
import warnings

import numpy as np
import pytest
import torch.utils.data
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast.integrations.vahidk as ours
from tests.support.their_tfrecord import tfrecord as theirs

PACKAGES = [theirs, ours]
MOST = float(np.finfo(np.float32).max)

EXAMPLES = [
    {
        "id": (i, "int"),
        "ids": (list(range(i % 4)), "int"),
        "wide": (np.arange(3, dtype=np.uint8), "int"),
        "x": (i / 3, "float"),
        "xs": (np.arange(i % 3) / 7, "float"),
        "name": (b"record %d" % i, "byte"),
        "names": ([b"a", b"bcd"][: i % 3], "byte"),
        "none": ([], "int"),
        "zero": (b"ends in \0", "byte"),
    }
    for i in range(40)
]
SEQUENCES = [
    (
        {"length": (i % 5, "int"), "name": (b"%d" % i, "byte")},
        {
            "tokens": ([[i] * (j % 3) for j in range(i % 5)], "int"),
            "scores": ([0.5, 1.5], "float"),
            "words": ([b"a", [b"b", b"cd"], []][: i % 4], "byte"),
        },
    )
    for i in range(20)
]


def assert_same(mine, other):
    """The same values of the same types, dtypes and shapes."""
    assert type(mine) is type(other)
    if isinstance(mine, dict):
        assert mine.keys() == other.keys()
        for key in mine:
            assert_same(mine[key], other[key])
    elif isinstance(mine, list | tuple):
        assert len(mine) == len(other)
        for one, another in zip(mine, other, strict=True):
            assert_same(one, another)
    elif isinstance(mine, np.ndarray):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(mine, other)
    else:
        assert mine == other


def write(path, records, package=ours):
    writer = package.TFRecordWriter(str(path))
    for record in records:
        writer.write(*record) if isinstance(record, tuple) else writer.write(record)
    writer.close()
    return str(path)


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "a.tfrecord", EXAMPLES)


@pytest.fixture
def index(tmp_path, file):
    ours.tools.create_index(file, str(tmp_path / "a.index"))
    return str(tmp_path / "a.index")


def zipped(path):
    with open(path, "rb") as plain, gzip.open(path + ".gz", "wb") as target:
        target.write(plain.read())
    return path + ".gz"


# ---- Reading ----


@pytest.mark.parametrize("written_by", PACKAGES)
@pytest.mark.parametrize(
    "description",
    [
        None,
        [],
        {},
        ["id", "name"],
        {"id": "int", "x": "float", "name": "byte", "names": "byte"},
        {"xs": None, "ids": "int"},
    ],
)
def test_examples_are_decoded_alike(tmp_path, written_by, description):
    path = write(tmp_path / "a", EXAMPLES, written_by)
    assert_same(
        list(ours.example_loader(path, None, description)), list(theirs.example_loader(path, None, description))
    )


@pytest.mark.parametrize("context", [None, ["name"], {"length": "int"}])
@pytest.mark.parametrize("lists", [{}, ["tokens"], {"scores": "float", "words": "byte"}])
def test_sequence_examples_are_decoded_alike(tmp_path, context, lists):
    path = write(tmp_path / "a", SEQUENCES)
    mine, other = (
        list(package.tfrecord_loader(path, None, context, sequence_description=lists)) for package in PACKAGES
    )
    assert_same(mine, other)


def test_records_with_other_keys_and_kinds_are_decoded_alike(tmp_path):
    data = [{"a": (1, "int")}, {"b": (b"x", "byte")}, {"a": (1.5, "float"), "c": ([], "float")}, {}] * 5
    path = write(tmp_path / "a", data)
    assert_same(list(ours.tfrecord_loader(path, None)), list(theirs.tfrecord_loader(path, None)))


PAIRS = st.one_of(
    st.tuples(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3), st.just("int")),
    st.tuples(st.lists(st.floats(width=32, allow_nan=False), max_size=3), st.just("float")),
    st.tuples(st.lists(st.binary(max_size=3).filter(lambda one: one[-1:] != b"\0"), max_size=3), st.just("byte")),
)
KEYS = st.sampled_from(["a", "b", "ü", ""])
STEPS = PAIRS.flatmap(lambda pair: st.tuples(st.lists(st.just(pair[0]) | st.just(pair[0][:1])), st.just(pair[1])))


@given(st.lists(st.dictionaries(KEYS, PAIRS), max_size=6), st.sampled_from(PACKAGES))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_examples_are_decoded_alike(tmp_path, records, written_by):
    path = write(tmp_path / "a", records, written_by)
    assert_same(*(list(package.example_loader(path, None)) for package in (ours, theirs)))


@given(st.lists(st.tuples(st.dictionaries(KEYS, PAIRS), st.dictionaries(KEYS, STEPS)), max_size=5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_examples_are_decoded_alike(tmp_path, records):
    path = write(tmp_path / "a", records, theirs)
    assert_same(*(list(package.sequence_loader(path, None)) for package in (ours, theirs)))
    mine = [ours.TFRecordWriter.serialize_tf_sequence_example(*record) for record in records]
    assert [theirs.example_pb2.SequenceExample.FromString(one) for one in mine] == [
        theirs.example_pb2.SequenceExample.FromString(one) for one in theirs.tfrecord_iterator(path)
    ]


@pytest.mark.parametrize("shard", [None, (0, 1), (0, 3), (1, 3), (2, 3), (49, 50), (0, 50)])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_shard_by_an_index_has_the_same_records(file, index, shard, compressed):
    path, compression = (zipped(file), "gzip") if compressed else (file, None)
    ids = []
    for package in PACKAGES:
        np.random.seed(3)
        rows = package.tfrecord_loader(path, index, ["id"], shard=shard, compression_type=compression)
        ids.append([int(row["id"][0]) for row in rows])
    assert ids[0] == ids[1]


@pytest.mark.parametrize("seed", range(8))
def test_with_an_index_and_no_shard_reading_begins_at_the_same_random_record(file, index, seed):
    rows = []
    for package in PACKAGES:
        np.random.seed(seed)
        rows.append(list(package.tfrecord_loader(file, index, {"id": "int"})))
    assert_same(*rows)


def test_an_index_that_lacks_the_last_records_leads_to_them(file, index, tmp_path):
    short = tmp_path / "short.index"
    short.write_text("".join(open(index).readlines()[:10]))
    for shard in [None, (0, 2), (1, 2)]:
        rows = []
        for package in PACKAGES:
            np.random.seed(1)
            rows.append(list(package.tfrecord_loader(file, str(short), ["id"], shard=shard)))
        assert_same(*rows)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A file which no buffer holds, and its index."""
    folder = tmp_path_factory.mktemp("long")
    records = [{"id": (i, "int"), "room": (bytes(100 + i % 7), "byte")} for i in range(50_000)]
    path, index = write(folder / "a.tfrecord", records), str(folder / "a.index")
    ours.tools.create_index(path, index)
    return path, index


@pytest.mark.parametrize(
    ("indexed", "shard"), [(False, None), (True, None), (True, (0, 1)), (True, (0, 2)), (True, (1, 2)), (True, (6, 7))]
)
def test_a_long_file_is_read_to_its_end(long, indexed, shard):
    path, index = long
    ids = []
    for package in PACKAGES:
        np.random.seed(5)
        rows = package.tfrecord_loader(path, index if indexed else None, {"id": "int"}, shard=shard)
        ids.append(np.concatenate([row["id"] for row in rows]))
    np.testing.assert_array_equal(*ids)


def test_a_part_of_an_index_of_a_long_file_leads_to_its_records(long, tmp_path):
    """Wherever it ends: with a batch, before it or after it."""
    path, index = long
    lines = open(index).readlines()
    batches = [len(batch) for batch in ours.records.record_batches(ours.records.Source(path, index, (0, 1), None))]
    assert len(batches) > 3
    short = str(tmp_path / "short.index")
    for last in (*np.cumsum(batches)[:3].tolist(), 7000):
        # All records from the first that the index has, and the range's end is the file's; so two ranges are read.
        open(short, "w").writelines(lines[: 2 * last])
        rows = ours.tfrecord_loader(path, short, {"id": "int"}, shard=(0, 2))
        assert [int(row["id"][0]) for row in rows] == list(range(last))


def test_compressed_files_are_read_alike(file):
    path = zipped(file)
    mine, other = (list(package.tfrecord_loader(path, None, compression_type="gzip")) for package in PACKAGES)
    assert_same(mine, other)


def test_iterators_give_the_records_bytes(file):
    other = [bytes(record) for record in theirs.tfrecord_iterator(file)]
    records = list(ours.tfrecord_iterator(file))
    assert all(type(record) is memoryview for record in records)
    assert [bytes(record) for record in records] == other


@pytest.mark.parametrize("call", ["x", "GZIP", "zlib"])
def test_another_compression_is_refused_alike(file, call):
    for package in PACKAGES:
        with pytest.raises(ValueError, match="compression_type should be either 'gzip' or None"):
            next(iter(package.tfrecord_iterator(file, compression_type=call)))


@pytest.mark.parametrize(
    ("description", "error"), [(["nothing"], KeyError), ({"id": "float"}, TypeError), ({"id": "integer"}, KeyError)]
)
def test_what_does_not_fit_raises_alike(file, description, error):
    for package in PACKAGES:
        with pytest.raises(error):
            list(package.tfrecord_loader(file, None, description))


# ---- Mixing and shuffling ----


@pytest.mark.parametrize("infinite", [True, False])
@pytest.mark.parametrize("shard", [None, (0, 2), (1, 2)])
def test_several_files_are_mixed_alike(tmp_path, infinite, shard):
    for name, first in [("a", 0), ("b", 100)]:
        write(tmp_path / f"{name}.tfrecord", [{"id": (first + i, "int")} for i in range(20)])
        ours.tools.create_index(tmp_path / f"{name}.tfrecord", tmp_path / f"{name}.index")
    rows = []
    for package in PACKAGES:
        np.random.seed(5)
        loader = package.reader.multi_tfrecord_loader(
            str(tmp_path / "{}.tfrecord"),
            str(tmp_path / "{}.index"),
            {"a": 0.8, "b": 0.2},
            {"id": "int"},
            infinite=infinite,
            shard=shard,
        )
        rows.append(list(itertools.islice(loader, 100)))
    assert_same(*rows)


@pytest.mark.parametrize("size", [1, 5, 20, 30])
def test_shuffling_draws_alike(size):
    drawn, messages = [], []
    for package in PACKAGES:
        np.random.seed(7)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn.append(list(package.iterator_utils.shuffle_iterator(iter(range(20)), size)))
        messages.append([str(warning.message) for warning in caught])
        assert package is theirs or all(one.filename == __file__ for one in caught)
    assert drawn[0] == drawn[1] and messages[0] == messages[1] and len(messages[0]) == (size > 20)


@pytest.mark.parametrize("infinite", [True, False])
def test_sampling_draws_alike(infinite):
    drawn = []
    for package in PACKAGES:
        np.random.seed(7)
        iterators = [lambda: iter("abc"), lambda: iter("defghi"), lambda: iter("j")]
        mixed = package.iterator_utils.sample_iterators(iterators, [1, 2, 0.5], infinite=infinite)
        drawn.append(list(itertools.islice(mixed, 50)))
    assert drawn[0] == drawn[1]


def test_cycle_repeats():
    for package in PACKAGES:
        assert list(itertools.islice(package.cycle(lambda: iter("ab")), 5)) == list("ababa")


# ---- Writing ----


@pytest.mark.parametrize(
    "pair",
    [
        *[(value, "int") for value in (3, -1, np.int32(3), np.uint64(7), (1, 2), [], [np.array(3)], 2**63 - 1)],
        *[(np.arange(3, dtype=kind), "int") for kind in ("i1", "u1", "i8", "u8", ">i4")],
        *[
            (value, "float")
            for value in (
                1,
                True,
                0.1,
                [1, 2.5],
                [],
                2**70,
                np.array([True]),
                float("nan"),
                float("inf"),
                3.4e38,
                [np.float16(2), np.True_],
                [MOST, -MOST],
            )
        ],
        *[(value, "float") for value in ([np.float16(2), np.True_], [MOST, -MOST])],
        *[(np.arange(3).astype(kind), "float") for kind in ("f2", "f4", "f8", "i4")],
        *[(value, "byte") for value in (b"", b"a\0", [b"a", b""], [], np.bytes_(b"x"), np.array([b"a", b"bc"]))],
    ],
    ids=repr,
)
def test_values_are_written_alike(pair):
    assert ours.TFRecordWriter.serialize_tf_example({"k": pair}) == theirs.TFRecordWriter.serialize_tf_example(
        {"k": pair}
    )


@pytest.mark.parametrize(
    "pair",
    [
        *[(value, "int") for value in (True, 1.0, "a", b"a", None, 2**63, [1, 2.0], np.array([[1]]), np.array(3))],
        *[(value, "float") for value in ("a", b"a", None, 1j, np.array([[1.0]]), np.array(["1"]))],
        *[(value, "byte") for value in ("a", bytearray(b"a"), 1, None, [b"a", "b"], np.zeros(2, np.uint8))],
        (1, "bytes"),
        5,
    ],
    ids=repr,
)
def test_values_are_refused_alike(pair):
    kinds = []
    for package in PACKAGES:
        with pytest.raises((TypeError, ValueError, KeyError)) as raised:
            package.TFRecordWriter.serialize_tf_example({"k": pair})
        kinds.append(raised.type)
    assert kinds[0] is kinds[1]
    assert "'k'" in str(raised.value)


@pytest.mark.parametrize(
    "steps",
    [
        ([[1], [2, 3], []], "int"),
        ([1, 2], "int"),
        (np.arange(4).reshape(2, 2), "int"),
        ([], "float"),
        ([[]], "float"),
        ([b"a", [b"b", b"c\0"]], "byte"),
        ([[]], "byte"),
        ([], "byte"),
    ],
    ids=repr,
)
def test_sequences_are_written_alike(steps):
    mine, other = (
        package.TFRecordWriter.serialize_tf_sequence_example({"c": (1, "int")}, {"k": steps}) for package in PACKAGES
    )
    assert mine == other


@pytest.mark.parametrize("data", [({},), ({}, {}), ({"a": (1, "int")}, {}), ({}, {"a": ([1], "int")})], ids=repr)
def test_what_is_empty_is_written_alike(tmp_path, data):
    paths = [tmp_path / "theirs", tmp_path / "ours"]
    for package, path in zip(PACKAGES, paths, strict=True):
        writer = package.TFRecordWriter(str(path))
        writer.write(*data)
        writer.close()
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("data", [b"", b"a", bytes(range(256))])
def test_checksums_are_alike(data):
    assert ours.TFRecordWriter.masked_crc(data) == theirs.TFRecordWriter.masked_crc(data)


# ---- Tools ----


def test_indexes_are_alike(file, tmp_path):
    for package, name in zip(PACKAGES, ["theirs", "ours"], strict=True):
        package.tools.create_index(file, str(tmp_path / name))
    assert (tmp_path / "theirs").read_text() == (tmp_path / "ours").read_text()


def test_indexes_of_a_folder_are_alike(tmp_path):
    for package, tool in [("theirs", theirs.tools.tfrecord2idx), ("ours", ours.tools.tfrecord2idx)]:
        folder = tmp_path / package
        folder.mkdir()
        for name in ["a.tfrecord", "b.c.tfrecord", "d.txt"]:
            write(folder / name, EXAMPLES[:3])
        tool.create_indices(str(folder))
    found = [
        sorted((path.name, path.read_bytes()) for path in (tmp_path / name).iterdir()) for name in ("theirs", "ours")
    ]
    assert found[0] == found[1]


# ---- PyTorch ----


def batches(dataset, workers):
    return list(torch.utils.data.DataLoader(dataset, batch_size=4, num_workers=workers))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("queue", [None, 8])
def test_a_data_loader_gives_the_same_batches(file, index, workers, queue):
    description = {"id": "int", "wide": "int", "x": "float", "name": "byte"}
    given = []
    for package in PACKAGES:
        np.random.seed(2)
        torch.manual_seed(2)
        dataset = package.torch.TFRecordDataset(file, index, description, queue, transform=half)
        given.append(batches(dataset, workers))
    for mine, other in zip(*given, strict=True):
        assert mine.keys() == other.keys() == description.keys()
        for key in ("id", "wide", "x"):
            assert torch.equal(mine[key], other[key])
        assert mine["name"] == other["name"]


def half(features):
    features["x"] = features["x"] / 2
    return features


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_loader_gives_the_same_mix(tmp_path, workers):
    for name, first in [("a", 0), ("b", 100)]:
        write(tmp_path / name, [{"id": (first + i, "int")} for i in range(20)])
        ours.tools.create_index(tmp_path / name, tmp_path / f"{name}.index")
    given = []
    for package in PACKAGES:
        np.random.seed(2)
        torch.manual_seed(2)
        dataset = package.torch.MultiTFRecordDataset(
            str(tmp_path / "{}"), str(tmp_path / "{}.index"), {"a": 3, "b": 1}, ["id"], infinite=False
        )
        given.append([batch["id"].flatten().tolist() for batch in batches(dataset, workers)])
    assert given[0] == given[1]
    assert sorted(itertools.chain(*given[0])) == [*range(20), *range(100, 120)]


def test_a_data_loader_gives_sequence_examples(tmp_path):
    path = write(tmp_path / "a", [({"n": (2, "int")}, {"t": ([[1, 2], [3, 4]], "int")})] * 4)
    given = [batches(package.torch.TFRecordDataset(path, None, sequence_description={}), 0) for package in PACKAGES]
    (mine,), (other,) = given
    assert torch.equal(mine[0]["n"], other[0]["n"])
    assert all(torch.equal(*pair) for pair in zip(mine[1]["t"], other[1]["t"], strict=True))
