"""The setting that imports a module in a fresh interpreter; sizes of what is installed and of this process."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.answers import Answer


class Importing(Setting):
    """Imports a module in a fresh interpreter that has NumPy already, and takes the times there. The size is that of
    the installed distribution `package`, without what it depends on."""

    leaves_out = ""  # it reads nothing
    checks = True

    CODE = (
        "import time, numpy; cpu, start = time.process_time(), time.perf_counter(); import {module}; "
        "taken, cpu = time.perf_counter() - start, time.process_time() - cpu; "
        "from benchmarks.contenders import peak_memory; print(taken, cpu, peak_memory())"
    )

    def __init__(self, module: str, package: str = "") -> None:
        super().__init__(f"import {module}")
        self.installed = installed_bytes(module, package)
        self.code = self.CODE.format(module=module)
        self.taken = self.spent = 0.0
        self.memory = 0

    def run(self) -> int:
        done = subprocess.run([sys.executable, "-c", self.code], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        taken, spent, memory = done.stdout.split()[-3:]
        self.taken, self.spent, self.memory = float(taken), float(spent), int(memory)
        return 0

    def answer(self) -> Answer:
        self.run()
        return {"installed": self.installed}

    def seconds(self) -> float | None:
        return self.taken

    def cpu(self) -> float | None:
        return self.spent

    def peak(self) -> int | None:
        return self.memory


def importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def installed_bytes(module: str, package: str) -> int:
    """The size of the files that the distribution lists, and of the module's folder, where those are found."""
    try:
        files = importlib.metadata.files(package or module) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    located = {Path(str(file.locate())) for file in files if file.suffix != ".pyc"}
    spec = importlib.util.find_spec(module)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        located |= {path for path in Path(folder).rglob("*") if "__pycache__" not in path.parts}
    return sum(path.stat().st_size for path in {path.resolve() for path in located} if path.is_file())


def peak_memory(process: int | str = "self") -> int:
    """The peak of a process's resident memory in bytes, 0 where the system does not tell or the process has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)
