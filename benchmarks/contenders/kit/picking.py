"""The setting that reads records by number. It needs NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.answers import Answer, digest


class Picking(Setting):
    """Asks `pick` for every record once, in an order that is random but the same for all, 1,000 at a time.

    Args:
      pick: takes numbers of records, which count through all files, and returns an item.
      records: the records (bytes-like) of an item.
      numbers: makes of an array int64 [n] what `pick` takes.
    """

    BATCH = 1000

    def __init__(
        self,
        label: str,
        job: Job,
        pick: Callable[[Any], Any],
        records: Callable[[Any], Iterable[bytes]] = list,
        numbers: Callable[[NDArray[np.int64]], Any] = list,
        row: str = "",
    ) -> None:
        super().__init__(label, row)
        self.pick = pick
        self.records = records
        order = np.random.Generator(np.random.PCG64(0)).permutation(job.dataset.records)
        self.order = "file"
        self.numbers: list[int] = order.tolist()
        self.batches = [numbers(order[i : i + self.BATCH]) for i in range(0, len(order), self.BATCH)]

    def run(self) -> int:
        n = 0
        for batch in self.batches:
            n += len(self.pick(batch))
        return n

    def answer(self) -> Answer:
        """Puts every record back in its place, so that a record returned for another one shows."""
        records: list[bytes] = [b""] * len(self.numbers)
        picked = (bytes(record) for batch in self.batches for record in self.records(self.pick(batch)))
        for number, record in zip(self.numbers, picked, strict=True):
            records[number] = record
        return digest(records)
