"""Kills workers and nodes of Ray in the middle of reads and writes, round by round.

python -m tools.kills.ray --rounds 20

Each round kills a worker during a read and during a write, and a node of two during a read and during a write. It ends
with 1 if a record was lost, came twice or was changed, or if something was left in the folder that was written.
"""

import argparse
import logging
import os
import sys
import tempfile
import time
import traceback

import ray
import ray.data
from ray.cluster_utils import Cluster

from tests.integrations.ray_kit import started
from tools.kills.ray_kit import (
    READ_STAGES,
    WRITE_STAGES,
    Trap,
    kill_worker,
    make_files,
    node_killer,
    read_while,
    write_while,
)

__all__ = ["WAYS", "TwoNodes", "kill_once"]

WAYS = ("worker, reading", "worker, writing", "node, reading", "node, writing")
MEMORY = 100 << 20  # of each node's object store


class TwoNodes:
    """A cluster of a node that stays, which is the driver's, and one that is started anew when it was killed."""

    def __init__(self):
        head = {"num_cpus": 1, "object_store_memory": MEMORY}
        self.cluster = started(lambda: Cluster(initialize_head=True, head_node_args=head, connect=False), ray.shutdown)
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        self._block_size = context.target_max_block_size
        context.target_max_block_size = 20_000  # bytes: several blocks leave a task before it is killed
        self.other = None

    def second(self):
        """The node that may be killed."""
        if self.other is None or self.other.node_id not in self._alive():
            self.other = started(lambda: self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY), lambda: None)
            self.cluster.wait_for_nodes(timeout=60)
            until = time.monotonic() + 60
            while self.other.node_id not in self._alive() and time.monotonic() < until:
                time.sleep(0.1)
        return self.other

    @staticmethod
    def _alive():
        return {one["NodeID"] for one in ray.nodes() if one["Alive"]}

    def close(self):
        ray.data.DataContext.get_current().target_max_block_size = self._block_size
        ray.shutdown()
        self.cluster.shutdown()


def kill_once(nodes, way, number, folder):
    """One of WAYS, on a cluster. `number` chooses the moment."""
    what, doing = way.split(", ")
    stages = READ_STAGES if doing == "reading" else WRITE_STAGES
    second = nodes.second()
    trap = Trap(f"{folder}/trap", stages[number % len(stages)], second.node_id if what == "node" else None)
    strike = kill_worker if what == "worker" else node_killer(nodes.cluster, second)
    if what == "node":
        nodes.other = None  # Ray takes it for alive for some seconds more
    files = make_files(f"{folder}/in")
    if doing == "reading":
        read_while(trap, files, strike, shuffle_buffer=2_000 * (number % 2))
    else:
        write_while(trap, files, f"{folder}/out", strike)
    return trap.stage


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", choices=WAYS, action="append")
    given = parser.parse_args()
    right, wrong = dict.fromkeys(given.only or WAYS, 0), 0
    nodes = TwoNodes()
    try:
        for number in range(1, given.rounds + 1):  # the first strikes in the middle
            for way in right:
                begun = time.monotonic()
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        stage = kill_once(nodes, way, number, folder)
                        right[way] += 1
                        print(f"{number}: {way}, {stage}: right, {time.monotonic() - begun:.1f} s", flush=True)
                    except Exception:
                        wrong += 1
                        print(f"{number}: {way}: WRONG", flush=True)
                        traceback.print_exc()
    finally:
        nodes.close()
    print(", ".join(f"{way}: {count} of {given.rounds}" for way, count in right.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    sys.exit(main())
