"""The mistakes of the mutation commands are still to be made: the code that they change has not moved away."""

import ast
import collections

import pytest

import tfrecord_fast as tf
from tests.faults import preload
from tests.support.paths import ROOT
from tools.mutation import native, overlay, python, python_mutants

NATIVE = native.mutants()


def test_the_text_of_each_entry_is_in_its_file_once():
    assert not [(mutant.file, mutant.old, native.stale(mutant)) for mutant in NATIVE if native.stale(mutant)]
    assert not [(mutant.file, mutant.old) for mutant in NATIVE if mutant.old == mutant.new or not mutant.why]


def test_there_are_enough_entries_and_none_twice():
    made = collections.Counter((mutant.file, mutant.old, mutant.new) for mutant in NATIVE)
    assert len(NATIVE) >= 150 and max(made.values()) == 1


def test_the_tests_that_entries_and_rooms_name_exist():
    named = {name for mutant in NATIVE for name in mutant.tests.split()}
    named |= {name for tests in native.TESTS.values() for name in tests.split()}
    assert {name for name in named if not (ROOT / "tests" / f"{name}.py").exists()} == set()


def test_every_room_of_the_core_has_tests():
    assert set(native.TESTS) == {path.name for path in native.CORE.iterdir() if path.is_dir()} == set(native.ROOMS)


def test_only_mistakes_in_backends_that_the_processor_lacks_are_left_out():
    lacked = {mutant.file for mutant in NATIVE if native.lacking(mutant)}
    assert lacked <= {f"{room}/{name}.cc" for room in ("crc32c", "varint", "images") for name in native.BACKENDS}
    for room, available in tf.build_info()["simd_available"].items():
        assert not lacked & {f"{room}/{name}.cc" for name in available}
        assert (native.CORE / room).is_dir() and set(available) <= {"portable"}.union(*native.BACKENDS.values())


STARTS = """
import subprocess, sys
from tests.faults import preload
from tests.support.processes import printed

WHERE = "import tfrecord_fast; print(tfrecord_fast.__file__)"


def test_by_run_code():
    assert printed(WHERE).startswith({folder!r})


def test_with_faults():
    command = [sys.executable, "-c", WHERE]
    done = subprocess.run(command, env=preload.environment(), capture_output=True, text=True, check=True)
    assert done.stdout.startswith({folder!r})
"""


@pytest.mark.skipif(not preload.available(), reason="preloads a library that g++ compiles, on Linux")
def test_processes_that_tests_start_have_the_mistake_too(tmp_path, monkeypatch):
    monkeypatch.setattr(overlay, "BUILD", tmp_path)
    copy = overlay.Overlay("copy")
    (tmp_path / "test_starts.py").write_text(STARTS.format(folder=str(copy.folder)))
    passed, said = copy.pytest([tmp_path / "test_starts.py"], 300)
    assert passed, said


SMALL = "def f(a, b=2):\n    if a < b and not a:\n        raise ValueError(g(a, b))\n    return a + b\n"


def test_the_mistakes_of_a_small_function():
    made = {f"{mutant.before} -> {mutant.after}" for mutant in python_mutants.mutants_of("f.py", SMALL)}
    assert {"a < b -> a <= b", "a < b and (not a) -> a < b or not a", "not a -> a", "g(a, b) -> g(b, a)"} <= made
    assert {"a + b -> a - b", "return a + b -> return None", "2 -> 3", "2 -> 1"} <= made
    assert "raise ValueError(g(a, b)) -> nothing" in made


def test_every_mistake_changes_the_code():
    whole = ast.unparse(ast.parse(SMALL))
    for mutant in python_mutants.mutants_of("f.py", SMALL):
        assert ast.unparse(ast.parse(python_mutants.with_mistake(SMALL, mutant))) != whole


def test_mistakes_that_look_the_same_have_names_of_their_own():
    source = "def f(a, b):\n    return g(a[0], b[0])\n"
    names = [mutant.name for mutant in python_mutants.mutants_of("f.py", source) if mutant.before == "0"]
    assert names == ["f.py f: 0 -> 1", "f.py f: 0 -> 1 (2)"]


CLASS = 'class C:\n    size = 1\n    def f(\n        self, a=2\n    ):\n        """Of a."""\n        return a * 3\n'


def test_a_mistake_knows_which_line_its_tests_execute():
    made = {mutant.before: mutant.runs for mutant in python_mutants.mutants_of("f.py", CLASS)}
    assert made == {"size = 1": None, "1": None, "2": 7, "return a * 3": 7, "a * 3": 7, "3": 7}


NOTED = {
    "tests/values/test_a.py::test_quick": [1.0, {"f.py": [7], "integrations/ray/g.py": [1]}],
    "tests/values/test_a.py::test_quicker": [0.5, {"f.py": [7]}],
    "tests/values/test_a.py::test_import": [0.1, {"f.py": [1, 2]}],
    "tests/values/test_a.py::test_slow": [500.0, {"f.py": [7]}],
    "tests/integrations/test_ray.py::test_task": [3.0, {}],
}


@pytest.mark.parametrize(
    ("file", "runs", "names"),
    [
        ("f.py", 7, ["test_quicker", "test_quick"]),
        ("f.py", None, ["test_import", "test_quicker", "test_quick"]),
        ("f.py", 9, ["test_import", "test_quicker", "test_quick"]),
        ("integrations/ray/g.py", 1, ["test_quick", "test_task"]),
    ],
)
def test_the_tests_of_a_mistake_are_those_that_may_execute_it(file, runs, names):
    tests = object.__new__(python.Tests)
    tests.noted = NOTED
    chosen = tests.of(python_mutants.Mutant(file, 7, "f", "1", "2", (0, 0), runs))
    assert [name.split("::")[1] for name in chosen] == names


def test_mutants_that_change_nothing_are_still_made():
    names = {mutant.name for mutant in python.all_mutants([""], known=set())}
    assert python.equivalent() - names == set()
