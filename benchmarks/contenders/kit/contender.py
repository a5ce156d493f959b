"""A library, or a floor, that can be measured: its name, what it needs, and its tasks."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.contenders.kit import environments
from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.setting import Setting


@dataclass(frozen=True)
class Contender:
    """A library, or a floor, that can be measured.

    Args:
      name: as in `--rivals`.
      package: the distribution, whose version is reported.
      module: what has to be importable; "" for nothing.
      install: the command that installs it.
      leaves_out: what it does not do and the others do ("no CRC"), in a few words; a setting may say otherwise.
      checks: the contender verifies the checksums of its input; a setting may override this.
      ours: this project's.
      floor: what the machine can do at best, rather than a library.
      requirements: what pip installs into an environment of its own, on `--install`, with versions.
    """

    name: str
    title: str
    tasks: dict[str, Callable[[Job], list[Setting]]]
    package: str = ""
    module: str = ""
    install: str = ""
    leaves_out: str = ""
    checks: bool = True
    ours: bool = False
    floor: bool = False
    requirements: tuple[str, ...] = ()
    unavailable: Callable[[], str | None] = lambda: None
    environment: dict[str, str] = field(default_factory=dict)  # variables set in its process

    def python(self) -> str:
        """The interpreter that it runs in: of its own environment, if there is one."""
        return str(environments.interpreter(self.name) or sys.executable)

    def why_not(self) -> str | None:
        """Why it can't run here, in words; None if it can."""
        own = environments.interpreter(self.name)
        if own is None and self.module and not importable(self.module):
            offered = [f"--install {self.name}"] if self.requirements else []
            return f"not installed: {' or '.join([*filter(None, [self.install]), *offered]) or self.module}"
        return self.unavailable()

    def version(self) -> str:
        try:
            return importlib.metadata.version(self.package) if self.package else ""
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(sys.modules.get(self.module), "__version__", ""))
