"""The setting that reads columns. It needs NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contenders.kit.reading import Reading, Source
from benchmarks.data.answers import Answer
from benchmarks.data.columns import Batch, digest_of_columns


class Parsing(Reading):
    """Like Reading, of items that hold columns: `columns` makes the plain columns of data/columns.py of an item."""

    def __init__(
        self,
        label: str,
        source: Source,
        columns: Callable[[Any], Batch],
        count: Callable[[Any], int],
        row: str = "",
        order: str = "file",
    ) -> None:
        super().__init__(label, source, records=list, count=count, row=row, order=order)
        self.columns = columns

    def answer(self) -> Answer:
        return digest_of_columns(map(self.columns, self.open()), records=self.order != "file")
