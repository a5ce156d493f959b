"""Where things are: nothing else in tests/ works out a path from its own place."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
FUZZ = ROOT / "tools" / "fuzz"
EXAMPLES = ROOT / "examples"
REAL_FILES = Path(os.environ.get("TFRECORD_FAST_DATA") or ROOT.parent / "shared" / "data")
