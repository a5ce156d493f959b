"""Random scripts of tf.data, run with TensorFlow and with tfrecord_fast.tensorflow, and compared.

    python -m tools.random_scripts --count 20000 --seed 1 --jobs 2
    python -m tools.random_scripts --case 4711              # one script, with its text and both outcomes
    python -m tools.random_scripts --block 3                # functions run on blocks of 3 records
    python -m tools.random_scripts --own --block 3          # this package on blocks, and record by record

Scripts are those of the seeds SEED, SEED + 1, … Scripts that TensorFlow refuses to trace are not counted. Known
differences are listed in comparing.py, each with its reason.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .comparing import allowed, difference
from .running import Pair
from .scripts import draw_script

AT_ONCE = 16  # scripts per question
MOST_PRINTED = 40


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="pairs of processes")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--block", type=int, help="records per block; 0: record by record")
    parser.add_argument("--own", action="store_true", help="compare blocks with record by record, without TensorFlow")
    parser.add_argument("--case", type=int, action="append", help="run the script of this seed only")
    parser.add_argument("--keep", type=Path, help="a folder for the scripts that differ")
    parser.add_argument("--quiet", action="store_true")
    arguments = parser.parse_args()
    ours = ("package", arguments.block)
    theirs = ("package", 0) if arguments.own else ("tensorflow", None)
    counts, kinds, _printed, end = Counter(), Counter(), [], time.monotonic() + 60 * arguments.minutes
    pairs = [Pair(ours, theirs) for _ in range(arguments.jobs)]
    seeds = iter(arguments.case) if arguments.case else iter(range(arguments.seed, 10**12))

    def work(pair):
        while arguments.case or (counts["compared"] < arguments.count and time.monotonic() < end):
            scripts = [
                draw_script(seed, any_order=arguments.own) for _, seed in zip(range(AT_ONCE), seeds, strict=False)
            ]
            if not scripts:
                return
            for script, outcome in zip(scripts, pair.outcomes(scripts), strict=True):
                report(script, *outcome)

    def report(script, ours, theirs):
        if arguments.case:
            print(script.text)
            print(f"records: {script.records}\nours   {ours}\ntheirs {theirs}")
        if isinstance(ours, str):
            counts["crashed"] += 1
            print(f"seed {script.seed}: {ours}\n{script.text}", flush=True)
            return
        if not theirs["built"]:
            counts["refused when traced"] += 1
            kinds[f"TensorFlow refuses, e.g. {script.seed}: {theirs['text'][:90]!r}"] += 1
            return
        counts["compared"] += 1
        tags = set(script.tags)
        if any(isinstance(item, tuple) and item[0] == "error" for item in theirs["elements"]):
            tags.add("error")
        counts["raise, split or draw"] += bool(tags & {"error", "split", "random"})
        counts.update(f"with {tag}" for tag in tags)
        unlike = difference(script, ours, theirs)
        if unlike is None:
            return
        reason = allowed(script, ours, theirs, unlike)
        if reason:
            counts["known"] += 1
            kinds[f"known: {reason}"] += 1
            return
        counts["differ"] += 1
        kinds[f"differs: {unlike.what}"] += 1
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            lines = [f"seed {script.seed}: {unlike.what}: {unlike.text}", f"ours {ours.get('messages')}"]
            comments = [" ".join(line.split()) for line in [*lines, f"theirs {theirs['messages']}"]]
            text = "".join(f"# {comment}\n" for comment in comments) + script.text
            (arguments.keep / f"{script.seed}.py").write_text(text)
        if not arguments.quiet:
            print(f"seed {script.seed}: {unlike.what}: {unlike.text}")
        if counts["differ"] <= MOST_PRINTED and not arguments.quiet:
            print(
                f"  ours   {ours.get('messages')!s:.500}\n  theirs {theirs['messages']!s:.500}\n{script.text}",
                flush=True,
            )

    try:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for future in [pool.submit(work, pair) for pair in pairs]:
                future.result()
    finally:
        for pair in pairs:
            pair.stop()
    for name, count in kinds.most_common():
        print(f"{count:7} {name}")
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    sys.exit(bool(counts["differ"] or counts["crashed"]))


if __name__ == "__main__":
    main()
