"""A setting: one way of performing a task, with its timed pass and its answer."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.data.answers import Answer


class Setting:
    """One way of doing a task.

    Attributes:
      label: what is set.
      row: tells apart ways that are worth a row of their own.
      order: of the records: "file", "any" or "shuffled" (see answers.difference).
      partial: the setting only counts, so that its answer is a part of the whole answer.
      leaves_out, checks: as in Contender, where this row differs; None: the contender's. In a row with several settings
        the first one's count.
    """

    order = "file"
    partial = False
    leaves_out: str | None = None
    checks: bool | None = None

    def __init__(self, label: str, row: str = "") -> None:
        self.label = label
        self.row = row

    def run(self) -> int:
        """Make one timed pass over the data; return the number of records."""
        raise NotImplementedError

    def answer(self) -> Answer:
        """Not timed: a pass like that of `run`, which says what it saw. `{"written": paths}` leaves reading what was
        written to the harness."""
        raise NotImplementedError

    def seconds(self) -> float | None:
        """After `run`: the time that it took, if the setting measured it itself."""
        return None

    def cpu(self) -> float | None:
        """After `run`: the processor time that it took, if the setting measured it itself."""
        return None

    def peak(self) -> int | None:
        """After `run`: the peak of memory in bytes, if it is that of another process."""
        return None

    def cleanup(self) -> None:
        """Not timed: called after each pass."""


class Counting(Setting):
    """Calls a function that returns a part of the answer; `run` counts that answer's `records`, if it has them."""

    partial = True

    def __init__(
        self, label: str, call: Callable[[], Answer], row: str = "", cleanup: Callable[[], None] | None = None
    ) -> None:
        super().__init__(label, row)
        self.call = call
        self.clean = cleanup

    def run(self) -> int:
        return int(self.call().get("records", -1))

    def answer(self) -> Answer:
        return self.call()

    def cleanup(self) -> None:
        if self.clean is not None:
            self.clean()
