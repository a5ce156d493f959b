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
    recognise = _RECOGNISE.get(type(node))
    return None if recognise is None else recognise(node, run)


def _interleaved(node: FlatMap, run: Run) -> RecordPlan | None:
    """Return a plan if each element is a path, and the function returns the file's records."""
    if not lists_paths(node.input, _MOST_FILES):
        return None
    before = Iterations(node.input, run)
    opened: list[Node] = []
    for path in run(node.input):
        try:
            opened.append(node.open(path))
        except Exception as error:
            before.restore()
            if raised_by_handler(error):
                raise
            return None  # the function raises again when it is this path's turn
        if joined(opened[-1:], 1, 1) is None:
            break
    source = joined(opened, node.cycle_length, node.block_length)
    if source is None:
        before.restore()  # the paths are requested again
        return None
    return RecordPlan(source, steps=(node.label(),), is_drawn=_draws_anew(node.input))


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


_Recognise = Callable[[Any, Run], RecordPlan | None]


def _further(step: Callable[[RecordPlan, Any], RecordPlan | None]) -> _Recognise:
    """Return a function that plans a node: its input's plan with one more step, or None."""

    def recognise(node: Of, run: Run) -> RecordPlan | None:
        before = Iterations(node.input, run)
        below = record_plan(node.input, run)
        plan = None if below is None else step(below, node)
        if plan is None:
            before.restore()  # the input is planned again, by itself
        return plan

    return recognise


_RECOGNISE: dict[type[Node], _Recognise] = {
    Batch: _further(_batch),
    FlatMap: _interleaved,
    IgnoreErrors: _further(_ignore_errors),
    Interleave: _interleaved,
    Prefetch: _further(lambda plan, node: plan.then(node.label())),
    Records: lambda node, run: RecordPlan(node, is_drawn=isinstance(node.files, Node) and _draws_anew(node.files)),
    Repeat: _further(_repeat),
    Shuffle: _further(_shuffle),
    Slice: _further(_slice),
    WithOptions: _further(lambda plan, node: plan),
}
