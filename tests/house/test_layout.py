"""tests/ mirrors the rooms of the project: one folder per room, and no test outside of them."""

from tests.support.paths import ROOT

TESTS = ROOT / "tests"
ROOMS = {
    "benchmarks": "the harness in benchmarks/",
    "cli": "tfrecord-fast",
    "contracts": "laws that hold in several places, each with an adapter per place",
    "core": "reading and writing records: csrc/ as it shows through its bindings",
    "data": "tf.data",
    "examples": "Examples: parsing, encoding, inference",
    "tensorflow": "TensorFlow's names",
    "tensorflow/blocks": "functions on blocks of records",
    "faults": "damage, and what the system refuses",
    "files": "names, writers of shards, ShardReader, indexes",
    "house": "layout, documents, types, docstrings, imports, examples/",
    "integrations": "other projects that read what we write, or take what we yield",
    "remote": "stores of objects: servers on loopback, a proxy with faults, caches",
    "tools": "short forms of the commands in tools/",
    "values": "columns: BytesArray, RaggedTensor, SparseTensor",
}


def test_every_folder_is_a_room_or_the_support_of_all():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*(room.partition("/")[0] for room in ROOMS), "support"}


def test_each_room_is_a_package_with_tests():
    assert not [room for room in ROOMS if not (TESTS / room / "__init__.py").exists()]
    assert not [room for room in ROOMS if not list((TESTS / room).glob("test_*.py"))]


def test_no_test_is_outside_of_a_folder():
    assert {path.name for path in TESTS.glob("*.py")} == {"__init__.py", "conftest.py"}


def test_every_test_is_in_a_room():
    assert {path.parent for path in TESTS.rglob("test_*.py")} <= {TESTS / room for room in ROOMS}


def test_only_one_file_works_out_paths_from_its_own_place():
    own_place = "Path(" + "__file__)"
    assert [path.name for path in TESTS.rglob("*.py") if own_place in path.read_text()] == ["paths.py"]
