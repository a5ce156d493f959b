"""docs/integrations/grain.md does what it says."""

import re
import subprocess
import sys

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "integrations" / "grain.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_prints_what_it_says(tmp_path):
    code = "\n".join(BLOCKS)
    (tmp_path / "page.py").write_text(code)
    # Worker processes import the script, and are not to run it again.
    (tmp_path / "run.py").write_text("if __name__ == '__main__':\n    exec(open('page.py').read())\n")
    done = subprocess.run(
        [sys.executable, "run.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^ *print\(.*  # (.*)$", code, re.MULTILINE)
    assert done.stdout.splitlines() == promised and len(promised) == 10
