"""tf.data.Options: every field can be set, read and merged, so that code that does so runs; none changes the elements.

A group of options is a class whose fields are `Option`s: each knows the type of its values.
"""

from __future__ import annotations

import enum
from typing import Any, TypeVar

__all__ = [
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Options",
    "ServiceOptions",
    "ThreadingOptions",
    "fixed",
    "merged",
]

Group = TypeVar("Group", bound="OptionGroup")


class AutoShardPolicy(enum.IntEnum):
    """How datasets would be divided among workers; without effect: `shard` does that."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """How numbers of threads would be tuned; without effect."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What becomes of state outside of a dataset that is saved; without effect."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class Option:
    """A field: None, or what `default` makes, until it is set to a value of its type."""

    def __init__(self, kind: type, default: Any = None, alias: str | None = None) -> None:
        self.kind, self._default, self.alias = kind, default, alias

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.alias or name

    def __get__(self, group: Any, owner: type | None = None) -> Any:
        if group is None:
            return self
        given = group._given
        if self.name not in given and self._default is not None:
            given[self.name] = self._default()
        return given.get(self.name)

    def __set__(self, group: Any, value: Any) -> None:
        if not isinstance(value, self.kind):
            raise TypeError(
                f'Property "{self.name}" must be of type {self.kind}, got: {value!r} (type: {type(value).__name__})'
            )
        group._given[self.name] = value


class OptionGroup:
    """Fields that can be set, and nothing else."""

    _given: dict[str, Any]
    _is_fixed: bool

    def __init__(self) -> None:
        object.__setattr__(self, "_given", {})
        object.__setattr__(self, "_is_fixed", False)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_fixed:
            raise ValueError(
                "the options of a dataset can't be changed; give others with `Dataset.with_options(options)`"
            )
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
        return _remade, (type(self), dict(self._given))


class AutotuneOptions(OptionGroup):
    """How numbers of threads would be tuned; without effect."""

    autotune_algorithm = Option(AutotuneAlgorithm)
    cpu_budget = Option(int)
    enabled = Option(bool)
    initial_parallelism = Option(int)
    min_parallelism = Option(int)
    ram_budget = Option(int)


class DistributeOptions(OptionGroup):
    """How datasets would be divided among workers; without effect."""

    auto_shard_policy = Option(AutoShardPolicy, lambda: AutoShardPolicy.AUTO)
    num_devices = Option(int)


class OptimizationOptions(OptionGroup):
    """Which rewrites of the pipeline would be made; without effect."""

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
    """For a service that makes elements elsewhere; without effect."""

    pinned = Option(bool)


class ThreadingOptions(OptionGroup):
    """How many threads would be used; without effect: they are the native reader's own."""

    max_intra_op_parallelism = Option(int)
    private_threadpool_size = Option(int)


class Options(OptionGroup):
    """Settings of tf.data, kept without effect: order is always deterministic, threads are the native reader's own.

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
        """New options: those of both, where both are set, those of `options`."""
        return merged(self, options)


def fields(kind: type[OptionGroup]) -> list[str]:
    """The names of its fields, without those that are another name for one."""
    return [name for name, one in vars(kind).items() if isinstance(one, Option) and one.alias is None]


def merged(first: Group, *others: Any) -> Group:
    """New options of the same class: for each field what was set last.

    Raises:
      TypeError: one that is no such options.
    """
    kind = type(first)
    made, unset = kind(), kind()
    for one in (first, *others):
        if not _has_fields(one, kind):
            raise TypeError(f"Could not merge incompatible options of type {kind} and {type(one)}.")
        for name in fields(kind):
            if not hasattr(one, name) or _is_same(one, unset, name):  # another TensorFlow may have other fields
                continue
            value, before = getattr(one, name), getattr(made, name)
            if isinstance(before, OptionGroup):
                value = merged(before, value)
            elif isinstance(value, list) and before:
                value = before + value
            elif isinstance(value, enum.Enum):  # of TensorFlow's own options, too
                value = getattr(kind, name).kind(value.value)
            setattr(made, name, value)
    return made


def fixed(options: Group) -> Group:
    """A copy that refuses changes."""
    made = merged(options)
    values = [getattr(made, name) for name in fields(type(made))]
    for group in (made, *(one for one in values if isinstance(one, OptionGroup))):
        object.__setattr__(group, "_is_fixed", True)
    return made


def _has_fields(one: Any, kind: type[OptionGroup]) -> bool:
    """Whether it is such options, or TensorFlow's of that name."""
    return isinstance(one, kind) or (type(one).__name__ == kind.__name__ and hasattr(one, fields(kind)[0]))


def _is_same(one: Any, unset: OptionGroup, name: str) -> bool:
    default = getattr(unset, name)
    value = getattr(one, name, default)
    if isinstance(default, OptionGroup):
        return all(_is_same(value, default, part) for part in fields(type(default)))
    return value is None or bool(getattr(value, "value", value) == getattr(default, "value", default))


def _remade(kind: type[OptionGroup], given: dict[str, Any]) -> OptionGroup:
    made = kind()
    made._given.update(given)
    return made
