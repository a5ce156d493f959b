"""`python -m tfrecord_fast` and the command `tfrecord-fast`."""

import sys

from .cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
