"""`python -m tfrecord_fast.selftest`: passes here, and fails where something is wrong."""

import errno
import resource
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tfrecord_fast import _core, selftest

COMMAND = [sys.executable, "-m", "tfrecord_fast.selftest"]
IN_MEMORY = ["crc32c", "varints", "examples", "statistics", "images", "damage"]
IN_FILES = ["codecs", "shards", "resume", "records by number"]


def names(out, result):
    checks = [line.partition(": ") for line in out.splitlines()]
    return [name for name, _, text in checks if text.startswith(result)]


def test_all_checks_pass_without_other_packages(tmp_path):
    guard = "import sys; sys.modules.update(dict.fromkeys(['google_crc32c', 'zstandard', 'pyarrow', 'PIL', 'pytest']))"
    code = f"{guard}\nimport runpy\nrunpy.run_module('tfrecord_fast.selftest', run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[-1] == "All checks passed." and lines[0].startswith("tfrecord_fast ")
    assert names(run.stdout, "ok, ") == [*IN_MEMORY, *IN_FILES]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("crc32c", lambda data, crc=0: 1), ("crc32c_backends", lambda: ["none"]), ("resize_backends", lambda: ["none"])],
)
def test_what_is_wrong_is_said_and_fails(monkeypatch, capsys, name, wrong):
    monkeypatch.setattr(_core, name, wrong)
    before = _core.varint_backend(), _core.crc32c_backend()
    assert selftest.main() == 1
    out = capsys.readouterr().out
    assert out.count("FAILED") == 1 and out.endswith("1 checks failed; send these lines with your report\n")
    assert (_core.varint_backend(), _core.crc32c_backend()) == before


def test_a_reader_that_loses_records_fails(monkeypatch, capsys):
    class Lossy(selftest.ShardReader):
        def __iter__(self):
            return iter(list(super().__iter__())[:-1])

    monkeypatch.setattr(selftest, "ShardReader", Lossy)
    assert selftest.main() == 1
    assert names(capsys.readouterr().out, "FAILED, ") == ["codecs", "shards", "resume"]


@pytest.mark.parametrize(
    ("parser", "key"),
    [(0, "float32 scalar 1"), (0, "int64 dense"), (0, "string ragged"), (1, "float32 dense"), (2, "int64")],
)
def test_a_wrong_column_fails(monkeypatch, parser, key):
    name = "parse_sequence_example" if parser else "parse_example"
    parse = getattr(selftest, name)

    def wrong(*args):
        results = parse(*args)
        columns = results[parser - 1] if parser else results
        if key in columns:
            columns[key] = WithoutFirst(columns[key])
        return results

    class WithoutFirst:
        def __init__(self, column):
            self.column = column

        def tolist(self):
            rows = self.column.to_list if isinstance(self.column, selftest.RaggedTensor) else self.column.tolist
            return rows()[1:]

    monkeypatch.setattr(selftest, name, wrong)
    with pytest.raises(AssertionError, match=f"{key}, "):
        selftest.examples("")


FIGURES = ["values", "zeros", "minimum", "maximum", "mean", "std", "distinct", "frequent"]


def with_figures(feature, kind, **changes):
    """Return the figures of a feature that the check looks at, some of them changed."""
    if (figures := getattr(feature, kind)) is None:
        return feature
    figures = SimpleNamespace(**({name: getattr(figures, name) for name in FIGURES} | changes))
    return SimpleNamespace(**{"int64": None, "floats": None, kind: figures})


@pytest.mark.parametrize("kind", ["int64", "floats"])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_wrong_figure_fails(monkeypatch, kind, figure):
    class Wrong(_core.StatsCollector):
        def features(self):
            return [self.changed(feature) for feature in super().features()]

        def changed(self, feature):
            value = getattr(feature.int64 or feature.floats, figure)
            return with_figures(feature, kind, **{figure: value[1:] if figure == "frequent" else value * 1.2})

    monkeypatch.setattr(_core, "StatsCollector", Wrong)
    with pytest.raises(AssertionError, match="int" if kind == "int64" else "float"):
        selftest.statistics("")


def test_vectors_that_count_other_distinct_values_fail(monkeypatch):
    class Wrong(_core.StatsCollector):
        merged = False

        def merge(self, other):
            self.merged = True
            super().merge(other)

        def features(self):
            floats, ints = super().features()
            if self.merged:
                return [floats, ints]
            return [with_figures(floats, "floats", distinct=floats.floats.distinct + 1), ints]

    monkeypatch.setattr(_core, "StatsCollector", Wrong)
    with pytest.raises(AssertionError, match="float"):
        selftest.statistics("")


def test_checks_in_memory_need_no_folder():
    def write_nothing():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    run = subprocess.run(COMMAND, capture_output=True, text=True, preexec_fn=write_nothing)
    assert (run.returncode, run.stderr) == (1, "")
    assert names(run.stdout, "ok, ") == IN_MEMORY
    assert names(run.stdout, "not run, ") == IN_FILES and "No usable temporary directory" in run.stdout
    assert run.stdout.splitlines()[-1] == (
        "4 checks were not run: this machine lacks what they need. The others passed."
    )


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (MemoryError("std::bad_alloc"), "not run, "),
        (OSError(errno.EMFILE, "Too many open files", "a"), "not run, "),
        (OSError(errno.EINVAL, "Invalid argument"), "FAILED, "),
        (FileNotFoundError(errno.ENOENT, "No such file", "a"), "FAILED, "),
    ],
)
def test_errors_of_the_machine_are_no_failures(monkeypatch, capsys, error, result):
    def fail(numbers):
        raise error

    monkeypatch.setattr(selftest.IndexedReader, "take", lambda reader, numbers: fail(numbers))
    assert selftest.main() == 1
    out = capsys.readouterr().out
    assert names(out, result) == ["records by number"] and str(error) in out
    assert ("report" in out) == (result == "FAILED, ")


def test_a_crash_shows_the_name_of_its_check():
    code = "import os; from tfrecord_fast import selftest as s; s.parse_example = lambda *_: os.abort(); s.main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode < 0 and run.stdout.splitlines()[-1] == "varints: "


def test_ctrl_c_ends_with_one_line(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(_core, "varint_backends", interrupt)
    assert selftest.main() == 130
    assert capsys.readouterr().err.split() == ["Interrupted"]


def test_output_that_fails_gives_no_traceback():
    with open("/dev/full", "w") as full:
        run = subprocess.run(COMMAND, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (run.returncode, run.stderr) == (1, "standard output: No space left on device\n")
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == "" and process.wait() == 1


def test_help_runs_no_check(capsys):
    with pytest.raises(SystemExit) as exit:
        selftest.main(["--help"])
    out = capsys.readouterr().out
    assert exit.value.code == 0 and "usage: python -m tfrecord_fast.selftest" in out and "crc32c" not in out
