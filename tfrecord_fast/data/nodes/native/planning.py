"""The nodes that the native reader executes: `record_plan` recognises them.

A chain over the records of files becomes one `_core.RecordStream`, as far as the stream has TensorFlow's order:

* shuffle directly after reading: the stream shuffles each epoch by itself;
* then one repeat: batches run on from epoch to epoch, as in TensorFlow. If the order of the files is random, it is
  drawn again for each epoch, which has its own stream;
* then take, skip and shard, which are slices (views) of the stream's batches;
* then batch, which completes the plan. A prefetch adds nothing: the stream reads ahead by itself.

Files whose paths are requested as needed have a stream each, which take, skip, shard and batch cut.
interleave and flat_map over file names become one stream.
Everything else runs in Python, on the elements of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....base.handlers import raised_by_handler
from ....values.elements.nests import stack
from ..ahead.prefetch import Prefetch
from ..base.node import Iterations, Node, Of, Run
from ..batches.batching import Batch
from ..elements.checks import IgnoreErrors
from ..elements.options import WithOptions
from ..joins.joining import FlatMap, Interleave
from ..order.cache import Cache
from ..order.ordering import Repeat, Shuffle, Slice
from ..sources.records import Records, joined, lists_paths
from .plan import RecordPlan

_MOST_FILES = 10_000  # that an interleave may open; if there are more, Python opens them one by one


def record_plan(node: Node, run: Run) -> RecordPlan | None:
    """Return the plan of a node that the native reader executes from end to end, or None.

    Planning counts as an iteration of the node of an interleave's paths.
    """
    steps: list[Of] = []
    while isinstance(node, Of) and type(node) in _STEPS and not node.has_no_plan:
        steps.append(node)
        node = node.input
    source = _SOURCES.get(type(node))
    if source is None:
        for step in steps:
            step.has_no_plan = True
        return None
    before = Iterations(node, run)
    plan: RecordPlan | None = None
    try:
        plan = source(node, run)
        while plan is not None and steps:
            step = steps.pop()
            plan = _STEPS[type(step)](plan, step)
        return plan
    finally:
        if plan is None:
            before.restore()  # the source is planned again, by itself


def _interleaved(node: FlatMap, run: Run) -> RecordPlan | None:
    """Return a plan if each element is a path, and the function returns the file's records."""
    if not lists_paths(node.input, _MOST_FILES):
        return None
    opened: list[Node] = []
    for path in run(node.input):
        try:
            opened.append(node.open(path))
        except Exception as error:
            if raised_by_handler(error):
                raise
            return None  # the function raises again when it is this path's turn
        if joined(opened[-1:], 1, 1) is None:
            break
    source = joined(opened, node.cycle_length, node.block_length)
    return None if source is None else RecordPlan(source, steps=(node.label(),), is_drawn=_draws_anew(node.input))


def _draws_anew(node: Node) -> bool:
    """Return True if the node's paths are in a different order each time."""
    is_cut = False
    while isinstance(node, Of):
        if node.draws is not None and node.draws.again:
            return True
        if isinstance(node, Cache) and not is_cut:  # complete after the first time
            return False
        is_cut = is_cut or isinstance(node, Slice)
        node = node.input
    return False


def _batch(plan: RecordPlan, node: Batch) -> RecordPlan | None:
    if (
        plan.batch_size is not None
        or node.join is not stack
        or (plan.source.cycle_length > 1 and not plan.source.at_hand)
    ):
        return None
    return plan.then(node.label(), batch_size=node.size, drop_remainder=node.drop_remainder)


def _shuffle(plan: RecordPlan, node: Shuffle) -> RecordPlan | None:
    if plan.shuffle is not None or plan.epochs != 1 or plan.windows or not _is_listed(plan):
        return None
    return plan.then(node.label(), shuffle=node)


def _repeat(plan: RecordPlan, node: Repeat) -> RecordPlan | None:
    if node.times == 0 or plan.epochs != 1 or plan.windows or not _is_listed(plan):
        return None
    if plan.is_drawn and node.times != 1:
        return plan.then(node.label(), epochs=node.times, one_epoch=node.input)
    if plan.shuffle is not None and not plan.shuffle.draws.again:
        return None  # the stream shuffles each epoch in a different order
    return plan.then(node.label(), epochs=node.times)


def _slice(plan: RecordPlan, node: Slice) -> RecordPlan | None:
    return None if plan.batch_size is not None else plan.then(node.label(), windows=(*plan.windows, node.window))


def _ignore_errors(plan: RecordPlan, node: IgnoreErrors) -> RecordPlan | None:
    if plan.windows or plan.epochs != 1 or plan.shuffle or node.log_warning or not _is_listed(plan):
        return None
    return plan.then(node.label(), on_corrupt="skip_file")


def _is_listed(plan: RecordPlan) -> bool:
    """Return True for records, not batches, of files whose paths are at hand."""
    return plan.batch_size is None and plan.source.at_hand


_SOURCES: dict[type[Node], Callable[[Any, Run], RecordPlan | None]] = {
    FlatMap: _interleaved,
    Interleave: _interleaved,
    Records: lambda node, run: RecordPlan(node, is_drawn=isinstance(node.files, Node) and _draws_anew(node.files)),
}
_STEPS: dict[type[Node], Callable[[RecordPlan, Any], RecordPlan | None]] = {
    Batch: _batch,
    IgnoreErrors: _ignore_errors,
    Prefetch: lambda plan, node: plan.then(node.label()),
    Repeat: _repeat,
    Shuffle: _shuffle,
    Slice: _slice,
    WithOptions: lambda plan, node: plan,
}
