"""The position of this process among several: DataLoader worker, or rank of a distributed program.

Nothing is imported for it: a program distributed by torch or jax has already imported that.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


class Rank(NamedTuple):
    """The number of this process, from 0, and the number of processes."""

    number: int
    total: int


# Launchers' variables of (rank, number of ranks): torchrun and others, Open MPI, MPICH and Intel MPI, MVAPICH, Slurm.
_LAUNCHERS = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
]
_LOCAL = ["LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"]


def worker_info() -> Any:
    """Return torch's WorkerInfo inside a worker of a PyTorch DataLoader; elsewhere None."""
    torch = sys.modules.get("torch.utils.data")
    return torch.get_worker_info() if torch is not None else None


def in_worker_of_grain() -> bool:
    # Grain has no public function for this.
    grain = sys.modules.get("grain._src.python.dataset.transformations.process_prefetch")
    return bool(getattr(grain, "is_in_worker_process", bool)())


_dividing: ContextVar[bool] = ContextVar("tfrecord_fast.dividing", default=False)


@contextmanager
def dividing(value: bool = True) -> Iterator[None]:
    """Mark that the elements this thread makes meanwhile are divided among DataLoader workers."""
    before = _dividing.set(value)
    try:
        yield
    finally:
        _dividing.reset(before)


def is_dividing() -> bool:
    return _dividing.get()


def refuse_to_divide_again(what: str) -> None:
    """Refuse to divide records among DataLoader workers twice, which would lose most of them."""
    if _dividing.get() and worker_info() is not None:
        raise RuntimeError(
            f"{what} already divides records among the DataLoader's workers, and so does the TFRecordIterableDataset "
            "over its Dataset: records would be lost. Pass it to TFRecordIterableDataset directly, or use "
            "data.TFRecordDataset in the Dataset"
        )


def parent_process() -> int | None:
    """Return the id of the process that started this one through Python's multiprocessing, or None."""
    process = sys.modules.get("multiprocessing.process")
    parent = process.parent_process() if process is not None else None
    return None if parent is None else int(parent.pid)


def rank_of_process() -> Rank:
    """Return this process' rank: of torch.distributed or JAX, if initialised, or of the environment; or else (0, 1)."""
    return _rank_of_torch() or _rank_of_jax() or _rank_of_environment(os.environ) or Rank(0, 1)


def _rank_of_torch() -> Rank | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Rank(distributed.get_rank(), distributed.get_world_size())


def _rank_of_jax() -> Rank | None:
    # jax.process_index() would start the devices, which a reader must not do, least of all in a forked process.
    state = getattr(sys.modules.get("jax._src.distributed"), "global_state", None)
    if getattr(state, "client", None) is None:
        return None
    return Rank(int(state.process_id), int(state.num_processes))  # type: ignore[union-attr]


def _rank_of_environment(environment: Mapping[str, str]) -> Rank | None:
    for names in _LAUNCHERS:
        if names[0] == "SLURM_PROCID" and _is_batch_script(environment):
            continue
        values = [environment.get(name) for name in names]
        if values == [None, None]:
            continue
        settings = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True) if value is not None)
        if None in values:
            missing = names[values.index(None)]
            raise ValueError(f'shard="auto": the environment sets {settings}, but not {missing}')
        try:
            index, count = (int(value or "") for value in values)
        except ValueError:
            raise ValueError(f'shard="auto": the environment sets {settings}, which are not numbers') from None
        if not 0 <= index < count:
            raise ValueError(
                f'shard="auto": the environment sets {settings}, but the rank must be less than the number of ranks'
            )
        return Rank(index, count)
    return None


def _is_batch_script(environment: Mapping[str, str]) -> bool:
    """Return True in a job's batch script, which is not one of the job's tasks in Slurm."""
    return "SLURM_JOB_ID" in environment and "SLURM_STEP_ID" not in environment


def local_ranks(environment: Mapping[str, str] | None = None) -> int:
    """Return the number of ranks that the launcher started on this host, or 1 if unknown."""
    environment = os.environ if environment is None else environment
    for name in _LOCAL:
        if environment.get(name, "").isdecimal():
            return max(1, int(environment[name]))
    return 1 if _is_batch_script(environment) else _tasks_of_slurm(environment)


def _tasks_of_slurm(environment: Mapping[str, str]) -> int:
    """Parse Slurm's list of tasks per node: in "4(x2),3", nodes 0 and 1 have 4 tasks, node 2 has 3."""
    tasks = environment.get("SLURM_STEP_TASKS_PER_NODE", environment.get("SLURM_TASKS_PER_NODE", ""))
    node = environment.get("SLURM_NODEID", "0")
    nodes_before = int(node) if node.isdecimal() else 0
    for item in tasks.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", item)
        if match is None:
            break
        nodes_before -= int(match[2] or 1)
        if nodes_before < 0:
            return max(1, int(match[1]))
    return 1
