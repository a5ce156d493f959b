"""How a run measures: rounds, passes and limits."""

from __future__ import annotations

from dataclasses import dataclass

FEW_ROUNDS = 3  # for rows that take long


@dataclass(frozen=True)
class Method:
    """How a run measures. `cold` drops the files from the page cache before each timed pass; a round is then one pass,
    and each setting is tried once."""

    rounds: int = 5
    trials: int = 2  # passes a setting gets to show that it is the best of its row
    min_time: float = 0.2  # seconds that the passes of a round take together, at least
    patience: float = 60.0  # seconds of timed passes after which a row gets no more rounds than FEW_ROUNDS
    timeout: float = 900.0  # seconds that any one command may take
    scratch: str = ""  # folder for what is written; "" for memory where there is room, else the system's
    cold: bool = False

    @property
    def longest_pass(self) -> float:
        """The most seconds of work that a pass should have. A row that would take longer is timed on a part of the
        data."""
        return self.patience / 2
