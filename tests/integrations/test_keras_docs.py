"""docs/integrations/keras.md does what it says."""

import re
import subprocess
import sys

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "integrations" / "keras.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_prints_what_it_says(tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(BLOCKS))
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "KERAS_BACKEND": "torch", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^print\(.*  # (.*)$", "\n".join(BLOCKS), re.MULTILINE)
    assert done.stdout.splitlines() == promised and len(promised) == 3


def test_the_extra_on_the_page_exists():
    assert "pip install '.[keras]'" in PAGE and "\nkeras = [" in (ROOT / "pyproject.toml").read_text()
