"""Settings that read records: the loops that are timed, the same for every contender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.answers import Answer, digest

# The items of contenders have types of their own.
Source = Iterable[Any] | Callable[[], Iterable[Any]]


class Reading(Setting):
    """Iterates over `source`, which can be iterated again and again, or a function that returns something to iterate.

    Args:
      records: the records (bytes-like) of an item; None if an item is a record.
      count: the number of records of an item.
    """

    def __init__(
        self,
        label: str,
        source: Source,
        records: Callable[[Any], Iterable[bytes]] | None = None,
        count: Callable[[Any], int] = len,
        row: str = "",
        order: str = "file",
    ) -> None:
        super().__init__(label, row)
        self.open: Callable[[], Iterable[Any]] = source if callable(source) else lambda: source
        self.records = records
        self.count = count
        self.order = order
        self.held: Iterator[Any] | None = None

    def start(self) -> Iterator[Any]:
        """Begins a pass. The iterator is held until `cleanup`, which is not timed: to end TensorFlow's waits for a
        thread that sleeps, for up to as long as the pass took."""
        self.held = iter(self.open())
        return self.held

    def run(self) -> int:
        n = 0
        if self.records is None:
            for _ in self.start():
                n += 1
        else:
            count = self.count
            for item in self.start():
                n += count(item)
        return n

    def cleanup(self) -> None:
        self.held = None

    def answer(self) -> Answer:
        if self.records is None:
            return digest(self.open())
        return digest(record for item in self.open() for record in self.records(item))


class Tallying(Reading):
    """Like Reading, but the answer is only how many records and bytes there are: for data too large to look at twice.
    Without `records` an item is asked for its count alone."""

    partial = True

    def run(self) -> int:
        return sum(map(self.count, self.start()))

    def answer(self) -> Answer:
        if self.records is None:
            return {"records": self.run()}
        sizes = [len(record) for item in self.open() for record in self.records(item)]
        return {"records": len(sizes), "bytes": sum(sizes)}
