"""Stand-ins for TensorFlow's devices, strategies and logs: one processor, one replica, Python's logging.

Where TensorFlow is installed, `tf.config`, `tf.distribute` and so on are TensorFlow's.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..base.optional import optional

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "autograph", "config", "debug", "distribute", "error", "fatal",
    "get_logger", "get_verbosity", "info", "log", "set_verbosity", "test", "tpu", "version", "warning",
]  # fmt: skip

# ---- Logs ----

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.FATAL
_logger = logging.getLogger("tfrecord_fast")
debug, info, warning, error, fatal = _logger.debug, _logger.info, _logger.warning, _logger.error, _logger.critical
log, set_verbosity, get_verbosity = _logger.log, _logger.setLevel, _logger.getEffectiveLevel


def get_logger() -> logging.Logger:
    """Return the logger "tensorflow"."""
    return logging.getLogger("tensorflow")


# ---- Abseil, as `tf.app` and `tf.flags` of TensorFlow 1 ----


class _App:
    @staticmethod
    def run(main: Any = None, argv: Any = None) -> None:
        """Parse the flags, call `main`, by default that of the script, and end the process."""
        function = sys.modules["__main__"].main if main is None else main
        optional("absl.app", "tf.app needs Abseil").run(function, argv)

    @property
    def flags(self) -> Any:
        return optional("absl.flags", "tf.app.flags needs Abseil")


class _Flags:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(optional("absl.flags", "tf.flags needs Abseil"), name)


app, flags = _App(), _Flags()


# ---- Devices and strategies ----


class _Device(NamedTuple):
    name: str
    device_type: str


def _devices(prefix: str) -> Callable[..., list[_Device]]:
    def list_devices(device_type: str | None = None) -> list[_Device]:
        """Return the processor."""
        return [_Device(f"/{prefix}device:CPU:0", "CPU")] if device_type in (None, "CPU") else []

    return list_devices


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing."""


def _unchanged(function: Any = None, **kwargs: Any) -> Any:
    """Return the function itself; also a decorator with arguments."""
    return _unchanged if function is None else function


def _no_tpu(*args: Any, **kwargs: Any) -> Any:
    """Raise ValueError."""
    raise ValueError("Please provide a TPU Name to connect to: TPUs need TensorFlow, which is not installed")


def _false(*args: Any, **kwargs: Any) -> bool:
    """Return False."""
    return False


class InputContext:
    """The share of the data that a worker reads: all of it."""

    num_input_pipelines = num_replicas_in_sync = 1
    input_pipeline_id = 0

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size."""
        return global_batch_size


class Strategy:
    """A strategy with one replica: it calls functions and returns datasets unchanged."""

    num_replicas_in_sync = 1
    cluster_resolver = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def scope(self) -> Any:
        """Return a context without effect."""
        return contextlib.nullcontext(self)

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Call the function."""
        return fn(*args, **(kwargs or {}))

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the dataset itself."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """Call the function."""
        return dataset_fn(InputContext())

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Return the value, or its sum or mean over an axis."""
        if axis is None:
            return value
        return value.sum(axis) if str(reduce_op).upper().endswith("SUM") else value.mean(axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the value in a tuple."""
        return (value,)


autograph = SimpleNamespace(
    experimental=SimpleNamespace(do_not_convert=_unchanged, set_loop_options=_nothing),
    set_verbosity=_nothing,
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
    gpu_device_name=str, is_built_with_cuda=_false, is_built_with_gpu_support=_false, is_gpu_available=_false
)
tpu = SimpleNamespace(experimental=SimpleNamespace(initialize_tpu_system=_no_tpu))
version = SimpleNamespace(COMPILER_VERSION="", GIT_VERSION="", GRAPH_DEF_VERSION=0, VERSION="2.21.0")
