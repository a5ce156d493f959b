"""The command `tfrecord-fast`: one module per subcommand, listed in COMMANDS (app.py).

A subcommand's module has `NAME`, `SUMMARY` (one line), `EXAMPLES` (command lines),
`add_arguments(parser)` and `run(args, console) -> int`, which
returns an exit status: 0 fine, 1 damage found, 2 usage or a file that can't be read.
"""

from .app import main

__all__ = ["main"]
