"""The subcommands of `tfrecord-fast`: one module or folder each, listed in COMMANDS (app.py).

A subcommand's module has `NAME`, `SUMMARY` (one line), `EXAMPLES` (command lines), `add_arguments(parser)` and
`run(args, console)`, which returns an exit status: 0 fine, 1 damage found, 2 usage or a file that can't be read. Its
docstring is the description that --help prints.

GROUPS (app.py) has them in four groups, as `tfrecord-fast --help` lists them.
"""
