"""The setting that writes files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.answers import Answer


class Writing(Setting):
    """Calls `write(path, part)` for each output; `parts` holds one part of the loaded data per file."""

    leaves_out = ""  # what a contender leaves out concerns what it reads
    checks = True

    def __init__(
        self,
        label: str,
        job: Job,
        write: Callable[[str, Any], None],
        parts: Sequence[Any],
        row: str = "",
        suffix: str = "",
    ) -> None:
        super().__init__(label, row)
        self.write = write
        self.parts = parts
        self.paths = job.outputs(suffix)
        self.records = job.dataset.records

    def run(self) -> int:
        for path, records in zip(self.paths, self.parts, strict=True):
            self.write(path, records)
        return self.records  # whether they are on the disk is checked with the answer

    def answer(self) -> Answer:
        self.run()
        return {"written": self.paths}

    def cleanup(self) -> None:
        for path in self.paths:
            Path(path).unlink(missing_ok=True)
