"""docs/tensorflow.md runs and prints what it promises."""

import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

pytest.importorskip("google.protobuf")
PAGE = (ROOT / "docs" / "tensorflow.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_prints_what_it_says(tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(BLOCKS))
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^ *print\(.*\)  # (.*)$", "\n".join(BLOCKS), re.MULTILINE)
    assert done.stdout.splitlines() == promised and len(promised) == 4
