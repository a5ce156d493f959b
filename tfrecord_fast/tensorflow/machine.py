"""What scripts ask about devices and workers, where TensorFlow is not installed: there is one processor, one replica.

Where TensorFlow is installed, `tf.config`, `tf.distribute` and so on are TensorFlow's.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

__all__ = ["autograph", "config", "distribute", "get_logger", "test", "tpu", "version"]


class _Device(NamedTuple):
    name: str
    device_type: str


def _devices(place: str) -> Callable[..., list[_Device]]:
    def listed(device_type: str | None = None) -> list[_Device]:
        """The processor."""
        return [_Device(f"/{place}device:CPU:0", "CPU")] if device_type in (None, "CPU") else []

    return listed


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Has no effect."""


def _unchanged(function: Any = None, **kwargs: Any) -> Any:
    """The function itself; also as a decorator with arguments."""
    return _unchanged if function is None else function


def _refused(what: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ValueError(f"{what}: that is TensorFlow's, which is not installed")

    refuse.__doc__ = "Raises ValueError."
    return refuse


def _false(*args: Any, **kwargs: Any) -> bool:
    """False."""
    return False


def _true(*args: Any, **kwargs: Any) -> bool:
    """True."""
    return True


def _no_name() -> str:
    """No name."""
    return ""


class InputContext:
    """Which part of the data a worker reads: all of it."""

    num_input_pipelines = num_replicas_in_sync = 1
    input_pipeline_id = 0

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size."""
        return global_batch_size


class Strategy:
    """One replica: functions are called, datasets stay what they are."""

    num_replicas_in_sync = 1
    cluster_resolver = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def scope(self) -> Any:
        """A context in which nothing is different."""
        return contextlib.nullcontext(self)

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """What the function gives."""
        return fn(*args, **(kwargs or {}))

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """What the function gives."""
        return dataset_fn(InputContext())

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The value, or over an axis its sum or mean."""
        if axis is None:
            return value
        return value.sum(axis) if str(reduce_op).upper().endswith("SUM") else value.mean(axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value, in a tuple."""
        return (value,)


_no_tpu = _refused("Please provide a TPU Name to connect to")
autograph = SimpleNamespace(
    experimental=SimpleNamespace(do_not_convert=_unchanged, set_loop_options=_nothing),
    set_verbosity=_nothing,
    to_graph=_unchanged,
)
config = SimpleNamespace(
    LogicalDeviceConfiguration=SimpleNamespace,
    experimental=SimpleNamespace(
        get_memory_growth=_false,
        list_logical_devices=_devices(""),
        list_physical_devices=_devices("physical_"),
        set_memory_growth=_nothing,
        set_virtual_device_configuration=_nothing,
        VirtualDeviceConfiguration=SimpleNamespace,
    ),
    experimental_connect_to_cluster=_no_tpu,
    experimental_run_functions_eagerly=_nothing,
    functions_run_eagerly=_true,
    get_visible_devices=_devices("physical_"),
    list_logical_devices=_devices(""),
    list_physical_devices=_devices("physical_"),
    optimizer=SimpleNamespace(set_experimental_options=_nothing, set_jit=_nothing),
    run_functions_eagerly=_nothing,
    set_logical_device_configuration=_nothing,
    set_soft_device_placement=_nothing,
    set_visible_devices=_nothing,
    threading=SimpleNamespace(set_inter_op_parallelism_threads=_nothing, set_intra_op_parallelism_threads=_nothing),
)
distribute = SimpleNamespace(
    InputContext=InputContext,
    MirroredStrategy=Strategy,
    OneDeviceStrategy=Strategy,
    ReduceOp=SimpleNamespace(MEAN="MEAN", SUM="SUM"),
    Strategy=Strategy,
    TPUStrategy=_no_tpu,
    cluster_resolver=SimpleNamespace(TPUClusterResolver=_no_tpu),
    experimental=SimpleNamespace(TPUStrategy=_no_tpu),
    get_strategy=Strategy,
    has_strategy=_false,
)
test = SimpleNamespace(
    gpu_device_name=_no_name, is_built_with_cuda=_false, is_built_with_gpu_support=_false, is_gpu_available=_false
)
tpu = SimpleNamespace(experimental=SimpleNamespace(initialize_tpu_system=_no_tpu))
version = SimpleNamespace(COMPILER_VERSION="", GIT_VERSION="", GRAPH_DEF_VERSION=0, VERSION="2.21.0")


def get_logger() -> logging.Logger:
    """The logger "tensorflow"."""
    return logging.getLogger("tensorflow")
