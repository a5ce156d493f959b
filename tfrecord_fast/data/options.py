"""tf.data.Options: fields can be set, read and merged, so that code for TensorFlow runs. None has an effect."""

from __future__ import annotations

import enum
from typing import Any, TypeVar

Group = TypeVar("Group", bound="OptionGroup")


class AutoShardPolicy(enum.IntEnum):
    """Division of datasets among workers; without effect: use `shard`."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """Tuning of numbers of threads; without effect."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """Treatment of state outside of a saved dataset; without effect."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class Option:
    """A field of a type: None, or `default()`, until it is set."""

    def __init__(self, type_: type, default: Any = None, alias: str | None = None) -> None:
        self.type, self._default, self.alias = type_, default, alias

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.alias or name

    def __get__(self, group: Any, owner: type | None = None) -> Any:
        if group is None:
            return self
        values = group._values
        if self.name not in values and self._default is not None:
            values[self.name] = self._default()
        return values.get(self.name)

    def __set__(self, group: Any, value: Any) -> None:
        if not isinstance(value, self.type):
            raise TypeError(
                f'Property "{self.name}" must be of type {self.type}, got: {value!r} (type: {type(value).__name__})'
            )
        group._values[self.name] = value


class OptionGroup:
    """A group of options: only its fields, which are `Option`s, can be set."""

    _values: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), Option):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in fields(type(self)))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        unset = type(self)()
        shown = (f"{name}={getattr(self, name)!r}" for name in fields(type(self)) if not _is_same(self, unset, name))
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> Any:
        return _remade, (type(self), dict(self._values))


class AutotuneOptions(OptionGroup):
    """Tuning of numbers of threads; without effect."""

    autotune_algorithm = Option(AutotuneAlgorithm)
    cpu_budget = Option(int)
    enabled = Option(bool)
    initial_parallelism = Option(int)
    min_parallelism = Option(int)
    ram_budget = Option(int)


class DistributeOptions(OptionGroup):
    """Division of datasets among workers; without effect."""

    auto_shard_policy = Option(AutoShardPolicy, lambda: AutoShardPolicy.AUTO)
    num_devices = Option(int)


class OptimizationOptions(OptionGroup):
    """Rewrites of the pipeline; without effect."""

    apply_default_optimizations = Option(bool)
    filter_fusion = Option(bool)
    filter_parallelization = Option(bool)
    inject_prefetch = Option(bool)
    map_and_batch_fusion = Option(bool)
    map_and_filter_fusion = Option(bool)
    map_fusion = Option(bool)
    map_parallelization = Option(bool)
    noop_elimination = Option(bool)
    parallel_batch = Option(bool)
    seq_interleave_prefetch = Option(bool)
    shuffle_and_repeat_fusion = Option(bool)


class ServiceOptions(OptionGroup):
    """Options of the tf.data service; without effect."""

    pinned = Option(bool)


class ThreadingOptions(OptionGroup):
    """Numbers of threads; without effect: the native reader has its own.

    >>> import tfrecord_fast as tf
    >>> options = tf.data.Options()
    >>> options.threading.private_threadpool_size = 2
    """

    max_intra_op_parallelism = Option(int)
    private_threadpool_size = Option(int)


class Options(OptionGroup):
    """Settings of tf.data, without effect: order is always deterministic, and the native reader has its own threads.

    >>> import tfrecord_fast as tf
    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    autotune = Option(AutotuneOptions, AutotuneOptions)
    dataset_name = Option(str)
    deterministic = Option(bool)
    experimental_deterministic = Option(bool, alias="deterministic")
    experimental_distribute = Option(DistributeOptions, DistributeOptions)
    experimental_external_state_policy = Option(ExternalStatePolicy)
    experimental_optimization = Option(OptimizationOptions, OptimizationOptions)
    experimental_service = Option(ServiceOptions, ServiceOptions)
    experimental_slack = Option(bool)
    experimental_symbolic_checkpoint = Option(bool)
    experimental_threading = Option(ThreadingOptions, ThreadingOptions, alias="threading")
    experimental_warm_start = Option(bool)
    framework_type = Option(list)
    threading = Option(ThreadingOptions, ThreadingOptions)

    def merge(self, options: Any) -> Options:
        """Return new options with the fields of both; where both are set, those of `options`."""
        return merged(self, options)


def fields(group_type: type[OptionGroup]) -> list[str]:
    return [name for name, field in vars(group_type).items() if isinstance(field, Option) and field.alias is None]


def merged(first: Group, *others: Any) -> Group:
    """Return new options of the same class, with the last value set for each field."""
    group_type = type(first)
    result, unset = group_type(), group_type()
    for options in (first, *others):
        is_same_name = type(options).__name__ == group_type.__name__  # TensorFlow's class
        if not isinstance(options, group_type) and not (is_same_name and hasattr(options, fields(group_type)[0])):
            raise TypeError(f"Could not merge incompatible options of type {group_type} and {type(options)}.")
        for name in fields(group_type):
            if not hasattr(options, name) or _is_same(options, unset, name):  # TensorFlow's versions differ in fields
                continue
            value, before = getattr(options, name), getattr(result, name)
            if isinstance(before, OptionGroup):
                value = merged(before, value)
            elif isinstance(value, list) and before:
                value = before + value
            elif isinstance(value, enum.Enum):  # perhaps TensorFlow's
                value = getattr(group_type, name).type(value.value)
            setattr(result, name, value)
    return result


def _is_same(options: Any, unset: OptionGroup, name: str) -> bool:
    default = getattr(unset, name)
    value = getattr(options, name, default)
    if isinstance(default, OptionGroup):
        return all(_is_same(value, default, field) for field in fields(type(default)))
    return value is None or bool(getattr(value, "value", value) == getattr(default, "value", default))


def _remade(group_type: type[OptionGroup], values: dict[str, Any]) -> OptionGroup:
    group = group_type()
    group._values.update(values)
    return group
