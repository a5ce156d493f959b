"""The elements of a `data.Dataset`, divided among the workers of a DataLoader, each epoch in an order of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ... import _core
from ...base.ranks import dividing, refuse_to_divide_again, worker_info
from ...data.dataset import Dataset
from ...data.handle import node_of
from ...data.nodes.base.node import Node, draws_of
from ...data.nodes.native.running import Epoch, part_of
from ...files.reading.epochs import MOST_EPOCHS, EpochCounter, checked_epoch

_VERSION = 1
_OF_STATE = {"version", "epoch", "given", "workers", "seeds"}


class Elements:
    """A dataset that is iterated like a ShardReader: by epochs, divided among workers, resumable.

    Worker i of n yields elements i, i + n, i + 2n, …. All workers iterate over the dataset up to its last functions,
    which only see the worker's elements. Resuming skips the elements already yielded in the same way.
    """

    def __init__(self, dataset: Dataset[Any]) -> None:
        self.dataset = dataset
        self._epochs = EpochCounter()
        self._epochs.share()
        self._resume: dict[str, Any] | None = None
        self._state: dict[str, Any] | None = None  # of the iteration that began last

    def converted(self, convert: Callable[[Any], Any]) -> Iterator[Any]:
        """Begin an iteration; `convert` makes something else of each element."""
        refuse_to_divide_again("a TFRecordIterableDataset over a Dataset")
        info = worker_info()
        number, workers = (0, 1) if info is None else (info.id, info.num_workers)
        node = node_of(self.dataset)
        seeds = _seeds(node)
        resume = self._resume
        if resume is not None:
            _check_state(resume, workers, seeds)
        self._resume = None
        epoch = self._epochs.begin(1)
        try:
            return self._begun(convert, node, epoch, resume, (number, workers, seeds))
        except BaseException:
            self._resume = resume
            self._epochs.take_back(epoch)
            raise

    def _begun(
        self,
        convert: Callable[[Any], Any],
        node: Node,
        epoch: int,
        resume: dict[str, Any] | None,
        share: tuple[int, int, list[int]],
    ) -> Iterator[Any]:
        number, workers, seeds = share
        given = resume["given"] if resume is not None and resume["epoch"] == epoch else 0
        state = {"version": _VERSION, "epoch": epoch, "given": given, "workers": workers, "seeds": seeds}
        run, part = Epoch(node, epoch), part_of(node, number + given * workers, workers)
        if workers == 1:
            counted = _Counted(run(part), convert, state)
        else:
            with dividing():
                counted = _Divided(run(part), convert, state)
        self._state = state
        return _core.Iteration(counted)

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def epoch(self) -> int:
        return self._epochs.next

    def set_epoch(self, epoch: int) -> None:
        epoch = checked_epoch(epoch)
        if self._resume is not None and self._resume["epoch"] != epoch:
            self._resume = None
        self._epochs.set(epoch)

    def state_dict(self) -> dict[str, Any]:
        if self._resume is not None:
            return copy.deepcopy(self._resume)
        if self._state is not None:
            return copy.deepcopy(self._state)
        seeds = _seeds(node_of(self.dataset))
        return {"version": _VERSION, "epoch": self.epoch, "given": 0, "workers": None, "seeds": seeds}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if not isinstance(state, Mapping):
            raise TypeError(f"a state of a dataset must be a dict, got {type(state).__name__}")
        if state.get("version") != _VERSION or not state.keys() >= _OF_STATE:
            raise ValueError("not a state of TFRecordIterableDataset over a Dataset")
        if not all(isinstance(state[key], int) and 0 <= state[key] < MOST_EPOCHS for key in ("epoch", "given")):
            raise ValueError("not a state of TFRecordIterableDataset over a Dataset: a number is out of range")
        self._resume, self._state = copy.deepcopy(dict(state)), None
        self._epochs.set(state["epoch"])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None, "_epochs": self._epochs.saved()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._epochs = EpochCounter.restored(state["_epochs"])


class _Counted(Iterator[Any]):
    """Converted elements, whose number is counted in the state. After an error, `next()` continues.

    An element that `convert` fails on counts. One that a function of the dataset fails on does not: a state that is
    saved after that repeats an element.
    """

    def __init__(self, elements: Iterator[Any], convert: Callable[[Any], Any], state: dict[str, Any]) -> None:
        self._elements, self._convert, self._state = elements, convert, state

    def __next__(self) -> Any:
        element = next(self._elements)
        try:
            converted = self._convert(element)
        except Exception:  # an interrupt does not use up the element
            self._state["given"] += 1
            raise
        self._state["given"] += 1
        return converted


class _Divided(_Counted):
    """The same, for elements that are divided among workers."""

    def __next__(self) -> Any:
        with dividing():
            return super().__next__()


def _seeds(node: Node) -> list[int]:
    """Return the shuffle seeds: equal if two datasets draw the same orders."""
    return [draws.seed for draws in draws_of(node)]


def _check_state(state: dict[str, Any], workers: int, seeds: list[int]) -> None:
    if state["seeds"] != seeds:
        raise ValueError("the saved state is of another dataset: its shuffles have other seeds; pass them seed=…")
    if state["workers"] not in (None, workers):
        raise ValueError(f"the saved state is of a DataLoader with {state['workers']} workers, this one has {workers}")
