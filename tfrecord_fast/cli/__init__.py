"""The command `tfrecord-fast`.

- `app`: the table of subcommands; runs one and ends the process. `parsing`: the grammar. `manual`: the man page.
- `commands/`: one module or folder per subcommand, and what a subcommand's module has.
- `files`, `folders`, `tally`: the FILE arguments, and reading them. `copying`: what the commands that write share.
- `formats/`: the formats that `convert` reads and writes.
- `records/`: decoding, showing and testing a record.
- `console`, `progress`: results, problems and the progress bar.
"""

from .app import main

__all__ = ["main"]
