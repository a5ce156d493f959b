"""`tfrecord.tools.tfrecord2idx`: indexes for the readers, also as a command:

python -m tfrecord_fast.integrations.vahidk.tools.tfrecord2idx FILE INDEX
python -m tfrecord_fast.integrations.vahidk.tools.tfrecord2idx FOLDER
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ....errors import InvalidArgumentError, TFRecordError
from ....files.indexing.index import RecordIndex, core_of
from ....typing import PathLike

__all__ = ["create_index", "create_indices", "main"]

_USAGE = """Usage:
  tfrecord2idx FILE INDEX   writes the index of FILE to INDEX
  tfrecord2idx FOLDER       for each NAME.tfrecord in FOLDER, writes NAME.tfindex
"""


def create_index(tfrecord_file: PathLike, index_file: PathLike) -> None:
    """Write a line `offset size` for each record of an uncompressed file; the index appears when it is complete.

    Raises:
      OSError: a file can't be read or written.
      errors.DataLossError: the file is damaged or cut off.
      errors.InvalidArgumentError: the file is compressed.
    """
    index = RecordIndex.build(tfrecord_file)
    if core_of(index).checkpoints():
        raise InvalidArgumentError(f"{os.fsdecode(tfrecord_file)}: the file is compressed; tfrecord2idx can't index it")
    index.save(index_file)


def create_indices(tfrecord_dir: PathLike) -> None:
    """Write the index of each `*.tfrecord` in a folder, as `*.tfindex` next to it. Errors as for `create_index`."""
    folder = os.fsdecode(tfrecord_dir)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".tfrecord") and not name.startswith("."):
            path = os.path.join(folder, name)
            create_index(path, os.path.splitext(path)[0] + ".tfindex")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Return its exit status: 0, 1 if a file can't be indexed, or 2 for wrong arguments."""
    paths = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if len(paths) == 1 and os.path.isdir(paths[0]):
            create_indices(paths[0])
        elif len(paths) == 2:
            create_index(*paths)
        else:
            sys.stderr.write(_USAGE)
            return 2
    except (OSError, TFRecordError) as error:
        sys.stderr.write(f"tfrecord2idx: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
