"""Which of several processes this one is: the worker of a PyTorch DataLoader, the rank of a distributed program.

Nothing is imported for it: a program that is distributed by torch or jax has imported that itself.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

__all__ = [
    "Rank",
    "dividing",
    "in_worker_of_grain",
    "is_dividing",
    "local_ranks",
    "parent_process",
    "rank_of_process",
    "refuse_to_divide_again",
    "worker_info",
]


class Rank(NamedTuple):
    """This process is number `number` of `total`, counted from 0."""

    number: int
    total: int


# What launchers say, as (rank, number of ranks): torchrun and others, Open MPI, MPICH and Intel's, MVAPICH, Slurm.
_LAUNCHERS = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
]
_LOCAL = ["LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"]


def worker_info() -> Any:
    """Inside a worker of a PyTorch DataLoader: what torch says about it; elsewhere None."""
    torch = sys.modules.get("torch.utils.data")
    return torch.get_worker_info() if torch is not None else None


def in_worker_of_grain() -> bool:
    """Whether a Grain pipeline has started this process to make elements for another one."""
    # Grain has no public way to ask.
    grain = sys.modules.get("grain._src.python.dataset.transformations.process_prefetch")
    return bool(getattr(grain, "is_in_worker_process", bool)())


_dividing: ContextVar[bool] = ContextVar("tfrecord_fast.dividing", default=False)


@contextmanager
def dividing(value: bool = True) -> Iterator[None]:
    """What this thread does meanwhile makes elements of which a DataLoader's worker gives its part only."""
    before = _dividing.set(value)
    try:
        yield
    finally:
        _dividing.reset(before)


def is_dividing() -> bool:
    return _dividing.get()


def refuse_to_divide_again(what: str) -> None:
    """For what divides records among the workers of a DataLoader by itself; most would be lost where both do.

    Raises:
      RuntimeError: this thread makes elements that are divided.
    """
    if _dividing.get() and worker_info() is not None:
        raise RuntimeError(
            f"{what} divides records among the DataLoader's workers by itself, and so does the TFRecordIterableDataset "
            "over the Dataset that it is read in: records would be lost. Give it to TFRecordIterableDataset as it is, "
            "or use data.TFRecordDataset in the Dataset"
        )


def parent_process() -> int | None:
    """Of a process that Python's multiprocessing has started: the number of the one that did."""
    process = sys.modules.get("multiprocessing.process")
    parent = process.parent_process() if process is not None else None
    return None if parent is None else int(parent.pid)


def rank_of_process() -> Rank:
    """This process' rank: that of torch.distributed or JAX, if initialised, or else of the environment; (0, 1) if none.

    Raises:
      ValueError: the environment contradicts itself.
    """
    return _rank_of_torch() or _rank_of_jax() or _rank_of_environment(os.environ) or Rank(0, 1)


def _rank_of_torch() -> Rank | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Rank(distributed.get_rank(), distributed.get_world_size())


def _rank_of_jax() -> Rank | None:
    # jax.process_index() would start the devices, which is not for a reader to do, least of all in a forked process.
    state = getattr(sys.modules.get("jax._src.distributed"), "global_state", None)
    if getattr(state, "client", None) is None:
        return None
    return Rank(int(state.process_id), int(state.num_processes))  # type: ignore[union-attr]


def _rank_of_environment(environment: Mapping[str, str]) -> Rank | None:
    for names in _LAUNCHERS:
        if names[0] == "SLURM_PROCID" and _is_batch_script(environment):
            continue
        given = [environment.get(name) for name in names]
        if given == [None, None]:
            continue
        said = ", ".join(f"{name}={value}" for name, value in zip(names, given, strict=True) if value is not None)
        if None in given:
            missing = names[given.index(None)]
            raise ValueError(f'shard="auto": the environment has {said}, but not {missing}')
        try:
            index, count = (int(value or "") for value in given)
        except ValueError:
            raise ValueError(f'shard="auto": the environment has {said}, which are not numbers') from None
        if not 0 <= index < count:
            raise ValueError(f'shard="auto": the environment has {said}, but a rank is below the number')
        return Rank(index, count)
    return None


def _is_batch_script(environment: Mapping[str, str]) -> bool:
    """Whether Slurm runs this as the script of a job, or something that it calls: it is none of the job's tasks."""
    return "SLURM_JOB_ID" in environment and "SLURM_STEP_ID" not in environment


def local_ranks(environment: Mapping[str, str] | None = None) -> int:
    """How many ranks the launcher has started on this host, or 1 if it doesn't say."""
    environment = os.environ if environment is None else environment
    for name in _LOCAL:
        if environment.get(name, "").isdecimal():
            return max(1, int(environment[name]))
    return 1 if _is_batch_script(environment) else _tasks_of_slurm(environment)


def _tasks_of_slurm(environment: Mapping[str, str]) -> int:
    """Of its list, such as "4(x2),3": nodes 0 and 1 have 4, node 2 has 3."""
    tasks = environment.get("SLURM_STEP_TASKS_PER_NODE", environment.get("SLURM_TASKS_PER_NODE", ""))
    node = environment.get("SLURM_NODEID", "0")
    left = int(node) if node.isdecimal() else 0
    for part in tasks.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            break
        left -= int(match[2] or 1)
        if left < 0:
            return max(1, int(match[1]))
    return 1
