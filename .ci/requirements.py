"""Prints what the package, and these of its extras, require: requirements.py [EXTRA,…], from the checkout's root."""

import re
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
found = dict.fromkeys(project["dependencies"])  # a set that keeps the order
extras = sys.argv[1].split(",") if sys.argv[1:] else []
for extra in extras:  # grows
    for requirement in project["optional-dependencies"][extra]:
        if own := re.fullmatch(rf"{project['name']}\[(.+)\]", requirement):
            extras += [name for name in own[1].split(",") if name not in extras]
        else:
            found[requirement] = None
print("\n".join(found))
