"""What the commands that run workloads under faults share: their folder and inputs, and which workloads and which k."""

import argparse
import gc
import os

from tests.faults import preload
from tools.faults.work_kit import WORKLOADS, Inputs


class Rig:
    """Where workloads run, each in a forked child, and what arms the faults in it."""

    def __init__(self, folder):
        self.folder = folder
        self.faults = preload.Faults()
        inputs = os.path.join(folder, "inputs")
        os.mkdir(inputs)
        self.inputs = Inputs(inputs)
        gc.freeze()  # children collect their own garbage only


def spread(count, most):
    """1 to count; at most `most` of them, the first and the last among them."""
    if not most or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + (count - 1) * i // max(most - 1, 1) for i in range(most)})


def parser_of(program, about, each, in_short):
    """The arguments that such commands share. `each`: what has its own k; `in_short`: how many k --short tries."""
    parser = argparse.ArgumentParser(prog=program, description=about.split("\n")[0])
    parser.add_argument("--workloads", help="names or their beginnings, separated by commas; all without it")
    parser.add_argument("--most", type=int, default=0, help=f"how many k of each {each}; every one without it")
    parser.add_argument("--short", action="store_true", help=f"some of the workloads, and {in_short} k of each {each}")
    return parser


def chosen(args, short, starts=("",)):
    """The names of the workloads that were asked for; `short` with --short. `starts`: those of all that count."""
    starts = tuple(args.workloads.split(",")) if args.workloads else starts
    return [name for name in (short if args.short else WORKLOADS) if name.startswith(starts)]
