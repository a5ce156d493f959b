"""Kills workers in the middle of Beam's reads and writes, round by round.

python -m tools.kills.beam --rounds 20

Each round kills a worker that reads a bundle, one that writes one, and one that gives shards their names. It ends with
1 if a record was lost, came twice or was changed, or if something was left in the folder that was written.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import traceback

from tools.kills.beam_kit import (
    NAME_STAGES,
    READ_STAGES,
    WRITE_STAGES,
    check,
    check_folder,
    make_files,
    read_while,
    write_while,
)

__all__ = ["WAYS", "kill_once"]

WAYS = ("reading", "writing", "naming")


def kill_once(way, folder, draw):
    """One of WAYS; `draw` chooses the moment. Returns which it was."""
    if way == "reading":
        stage, split_at = draw.choice(READ_STAGES), draw.choice([None, 0.3, 0.9])
        files = make_files(f"{folder}/in")
        check(read_while(files, folder, stage, draw.randrange(3), split_at))
        return stage if split_at is None else f"{stage}, divided at {split_at}"
    os.mkdir(f"{folder}/out")
    stage = draw.choice(WRITE_STAGES if way == "writing" else NAME_STAGES)
    bundle = draw.randrange(4) if way == "writing" else None
    write_while(f"{folder}/out", folder, stage, bundle, draw.choice(["", "GZIP"]))
    check_folder(f"{folder}/out")
    return stage


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    right = dict.fromkeys(WAYS, 0)
    for number in range(given.rounds):
        for way in WAYS:
            begun = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                try:
                    stage = kill_once(way, folder, draw)
                    right[way] += 1
                    print(f"{number + 1}: {way}, {stage}: right, {time.monotonic() - begun:.1f} s", flush=True)
                except Exception:
                    print(f"{number + 1}: {way}: WRONG", flush=True)
                    traceback.print_exc()
    print(", ".join(f"{way}: {count} of {given.rounds}" for way, count in right.items()))
    return 0 if all(count == given.rounds for count in right.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
