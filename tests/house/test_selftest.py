"""`python -m tfrecord_fast.selftest`: passes here, and fails where something is wrong."""

import subprocess
import sys

import pytest

from tfrecord_fast import _core, selftest


def test_all_checks_pass_without_other_packages(tmp_path):
    guard = "import sys; sys.modules.update(dict.fromkeys(['google_crc32c', 'zstandard', 'pyarrow', 'PIL', 'pytest']))"
    code = f"{guard}\nimport runpy\nrunpy.run_module('tfrecord_fast.selftest', run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[-1] == "All checks passed." and lines[0].startswith("tfrecord_fast ")
    assert " ".join(line.split()[1] for line in lines[2:-1] if line.startswith("ok ")) == (
        "crc32c: varints: codecs: damage: shards: resume: records images:"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("crc32c", lambda data, crc=0: 1), ("crc32c_backends", lambda: ["none"]), ("varint_backends", lambda: ["none"])],
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
    failed = [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("FAILED")]
    assert failed == ["codecs:", "shards:", "resume:"]
