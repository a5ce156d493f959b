"""tf.data.Options: accepted, so that code that sets them runs; none of them changes the elements."""

from __future__ import annotations

from types import SimpleNamespace

__all__ = ["Options", "ThreadingOptions"]


class ThreadingOptions(SimpleNamespace):
    """`private_threadpool_size`, `max_intra_op_parallelism`, kept without effect."""


class Options(SimpleNamespace):
    """Settings of tf.data, kept without effect: order is always deterministic, threads are the native reader's own.

    >>> import tfrecord_fast as tf
    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    def __init__(self) -> None:
        super().__init__(
            autotune=SimpleNamespace(),
            deterministic=None,
            experimental_deterministic=None,
            experimental_distribute=SimpleNamespace(),
            experimental_optimization=SimpleNamespace(),
            experimental_slack=None,
            experimental_threading=ThreadingOptions(),
            threading=ThreadingOptions(),
        )
