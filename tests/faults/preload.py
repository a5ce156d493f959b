"""The preloaded library that makes calls fail: builds it, starts a process with it, and arms it there.

A process that wants it is started anew by `preloaded`, as `LD_PRELOAD` counts at the start only.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys

from tests.support.paths import ROOT

SOURCE = ROOT / "tests" / "faults" / "native" / "preload.cc"
COMPILER = os.environ.get("CXX", "g++").split()

# The libraries whose allocations and calls are "ours", besides the extension itself.
CODECS = ("libisal", "libdeflate", "libz.", "libz-", "libzstd", "libsnappy", "libjpeg", "libpng")

FAIL, FAIL_FROM, SHORT, END, KILL = range(5)


def available():
    return sys.platform.startswith("linux") and shutil.which(COMPILER[0]) is not None


def library():
    """The path of the compiled library, which is kept in build/ until its source changes."""
    command = [*COMPILER, "-std=c++20", "-O1", "-g", "-fPIC", "-shared", "-fno-builtin", "-Wall", "-Wextra"]
    digest = hashlib.sha256(repr(command).encode() + SOURCE.read_bytes()).hexdigest()[:12]
    built = ROOT / "build" / "faults" / f"preload-{digest}.so"
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        draft = built.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, str(SOURCE), "-o", str(draft), "-ldl", "-lgcc_s"], check=True)
        draft.rename(built)
    return built


def environment():
    """The environment of a process that has the library."""
    return {**os.environ, "LD_PRELOAD": str(library()), "PYTHONPATH": os.pathsep.join([*_python_path(), str(ROOT)])}


def _python_path():
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def ensure_preloaded(module):
    """Starts the command `python -m module` anew with the library, unless this process has it."""
    if os.environ.get("LD_PRELOAD") != str(library()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], environment())


class Faults:
    """Arms the library of this process."""

    def __init__(self):
        import tfrecord_fast._core as core

        self._library = ctypes.CDLL(str(library()))
        self._library.fault_kind.restype = ctypes.c_char_p
        self._library.fault_disarm.restype = ctypes.c_long
        self._library.fault_add_range.argtypes = [ctypes.c_size_t] * 2
        self._library.fault_arm.argtypes = [ctypes.c_uint32, ctypes.c_long, *[ctypes.c_int] * 4]
        self.kinds = {}
        while name := self._library.fault_kind(len(self.kinds)):
            self.kinds[name.decode()] = 1 << len(self.kinds)
        with open("/proc/self/maps") as maps:
            for line in maps:
                if " r-xp " in line and (core.__file__ in line or any(name in line for name in CODECS)):
                    begin, end = line.split()[0].split("-")
                    self._library.fault_add_range(int(begin, 16), int(end, 16))

    def arm(self, kinds, k=0, mode=FAIL, error=0, everywhere=True, log=-1):
        """Call number `k` of the kinds is hit, from 1; with 0, calls are only counted.

        Args:
          kinds: names of `kinds`.
          mode: FAIL, FAIL_FROM (call k and all that follow), SHORT (half of what was asked for), END (0 bytes), KILL.
          error: the errno.
          everywhere: also calls that other code of the process makes.
          log: a descriptor that a line is written to for each open, rename and fsync among `kinds`.
        """
        mask = sum(self.kinds[kind] for kind in kinds)
        self._library.fault_arm(mask, k, mode, error, everywhere, log)

    def disarm(self):
        """How many calls there were."""
        return self._library.fault_disarm()
