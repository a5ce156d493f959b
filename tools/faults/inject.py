"""Makes one call at a time fail under each workload, and looks at what comes of it.

    python -m tools.faults.inject [--workloads read,write…] [--kinds open,new…] [--most 40] [--short] [--verbose]

For every workload, kind and k, a forked child runs the workload while call number k of that kind fails, is short or is
interrupted. Right is: the right answer, or an error that says what failed, and nothing wrong left: no torn file under a
final name, no temporary file, no descriptor; and the same workload works right after it, in the same process. A crash
and a hang are wrong. `--most` tries that many k, spread over all; without it, every k is tried.

The last line is `N faults, M wrong`, and the exit status 1 if M is not 0.
"""

import contextlib
import errno
import gc
import os
import re
import shutil
import sys
import tempfile
import time
from typing import NamedTuple

from tests.faults import preload

preload.ensure_preloaded("tools.faults.inject") if __name__ == "__main__" else None

import tfrecord_fast as tf  # noqa: E402
from tools.faults import work_reading, work_writing  # noqa: E402, F401
from tools.faults.forked import Died, in_child  # noqa: E402
from tools.faults.rig import Rig, chosen, parser_of, spread  # noqa: E402
from tools.faults.work_kit import WORKLOADS, Refused, Skipped, Wrong  # noqa: E402

# One of each sort, for the suite.
SHORT = [
    *("read-plain", "read-GZIP", "skip-plain", "resume-plain-100", "parse-file", "encode-mixed", "index-reads"),
    *("dataset-2", "write-ZSTD", "write-object-GZIP", "append-plain", "shards-GZIP-sync", "shards-ZLIB-plain"),
    *("index-save", "convert-jsonl-plain"),
]


class Way(NamedTuple):
    """How calls of a kind fail. Harmless: the caller has to carry on, and the answer must be right."""

    mode: int
    error: int
    harmless: bool = False
    everywhere: bool = True  # not only the calls that our code makes


def _transfers(persistent):
    return [
        Way(preload.FAIL, errno.EIO),
        Way(preload.FAIL, errno.EINTR, harmless=True),
        Way(preload.SHORT, 0, harmless=True),
        Way(preload.FAIL_FROM, persistent),
    ]


_READS = _transfers(errno.EIO)
_MEMORY = [Way(mode, errno.ENOMEM, everywhere=False) for mode in (preload.FAIL, preload.FAIL_FROM)]
_ONCE = [Way(preload.FAIL, errno.EIO)]
WAYS = {
    "read": _READS,
    "pread": _READS,
    "preadv": _READS,
    "readv": _READS,
    "reads": [Way(preload.END, 0, everywhere=False)],
    "write": _transfers(errno.ENOSPC),
    "writev": _transfers(errno.ENOSPC),
    "pwrite": _transfers(errno.ENOSPC),
    "open": [
        Way(preload.FAIL, errno.EACCES),
        Way(preload.FAIL, errno.EINTR, harmless=True),
        Way(preload.FAIL_FROM, errno.EMFILE),
    ],
    "close": [Way(preload.FAIL, errno.EIO), Way(preload.FAIL, errno.EINTR)],
    "fstat": _ONCE,
    "stat": _ONCE,
    "rename": _ONCE,
    "unlink": _ONCE,
    "fsync": _ONCE,
    "ftruncate": _ONCE,
    "mmap": [Way(preload.FAIL, errno.ENOMEM, everywhere=False)],
    "malloc": _MEMORY,
    "new": _MEMORY,
    "thread": [Way(preload.FAIL, errno.EAGAIN), Way(preload.FAIL_FROM, errno.EAGAIN)],
}
CALLS = {"reads": ["read", "pread", "preadv", "readv"]}  # of the kinds that are not named after their call
MODES = {
    preload.FAIL: "fails",
    preload.FAIL_FROM: "fails from there on",
    preload.SHORT: "short",
    preload.END: "end early",
}


def allowed(error, way):
    """Whether an exception says what failed."""
    if isinstance(error, Refused):
        text = str(error)
        return way.mode == preload.END or os.strerror(way.error) in text or way.error == errno.ENOMEM
    if isinstance(error, Skipped):
        return way.mode == preload.END
    if way.error == errno.ENOMEM and isinstance(error, MemoryError):
        return True
    if way.error == errno.EAGAIN and isinstance(error, RuntimeError):
        return "thread" in str(error)
    if way.mode == preload.END:
        return isinstance(error, (tf.errors.DataLossError, tf.errors.InvalidArgumentError, OSError))
    return isinstance(error, OSError) and error.errno == way.error


class Injector(Rig):
    """Runs workloads with faults, each in a child."""

    def warm_up(self, name):
        """Imports what the workload needs: what fails later is its own."""
        with self._folder() as out:
            work = WORKLOADS[name](self.inputs, out)
            work.run()
            work.check()

    @contextlib.contextmanager
    def _folder(self):
        out = tempfile.mkdtemp(dir=self.folder)
        try:
            yield out
        finally:
            shutil.rmtree(out, ignore_errors=True)

    def count(self, name, kind, way):
        """How many calls of the kind a workload makes."""
        return self.run(name, kind, 0, way)[0]

    def run(self, name, kind, k, way):
        """(calls, what came of it, what is wrong with it or None)."""
        with self._folder() as out:
            try:
                return in_child(lambda: self._child(name, kind, k, way, out))
            except Died as died:
                return 0, "died", str(died)

    def plain(self, text):
        """Without what differs each time: folders, names of temporary files, places."""
        text = re.sub(rf"{re.escape(self.folder)}/(tmp\w+/\w+/)?", "", text)
        text = re.sub(r"\d+-[-0-9a-f]+\.tmp", "….tmp", text)
        return re.sub(r"(record|byte|row) \d+", r"\1 …", text)

    def _child(self, name, kind, k, way, out):
        first, again = os.path.join(out, "first"), os.path.join(out, "again")
        os.mkdir(first), os.mkdir(again)
        work = WORKLOADS[name](self.inputs, first)
        gc.collect()
        descriptors = len(os.listdir("/proc/self/fd"))
        outcome, wrong = "right", None
        self.faults.arm(CALLS.get(kind, [kind]), k, way.mode, way.error, way.everywhere)
        try:
            work.run()
            calls = self.faults.disarm()
            work.check()
        except Wrong as error:
            calls = self.faults.disarm()
            wrong = str(error)
        except Exception as error:
            calls = self.faults.disarm()
            outcome = f"{type(error).__name__}: {error}"[:300]
            if way.harmless or not allowed(error, way):
                wrong = f"raises {outcome}"
        gc.collect()
        left = len(os.listdir("/proc/self/fd")) - descriptors
        if wrong is None and left != 0:
            wrong = f"{left} more descriptors are open (after: {outcome})"
        if wrong is None and k > 0:
            wrong = self._aftermath(name, kind, work, again)
        return calls, outcome, wrong

    def _aftermath(self, name, kind, work, again):
        try:
            if kind != "unlink":  # whose failure leaves what was to be removed
                work.left()
        except Wrong as error:
            return str(error)
        try:
            after = WORKLOADS[name](self.inputs, again)
            after.run()
            after.check()
            after.left()
        except Exception as error:
            return f"without a fault, afterwards: {type(error).__name__}: {error}"
        return None

    def cases(self, name, kinds, most):
        """(kind, way, k) for a workload."""
        for kind in kinds:
            counts = {everywhere: None for everywhere in (True, False)}
            for way in WAYS[kind]:
                if counts[way.everywhere] is None:
                    counts[way.everywhere] = self.count(name, kind, way)
                for k in spread(counts[way.everywhere], most):
                    yield kind, way, k


def describe(kind, way, ks):
    how = MODES[way.mode]
    code = f" ({errno.errorcode[way.error]})" if way.error else ""
    some = ", ".join(map(str, ks[:6])) + ("…" if len(ks) > 6 else "")
    return f"{kind} {how}{code}, k = {some}"


def inject(names, kinds, most, verbose=False, say=print):
    """(faults, wrong)."""
    faults = wrong = 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        injector = Injector(folder)
        for name in names:
            injector.warm_up(name)
            outcomes, began, before = {}, time.monotonic(), faults
            for kind, way, k in injector.cases(name, kinds, most):
                _, outcome, problem = injector.run(name, kind, k, way)
                faults += 1
                wrong += problem is not None
                if problem is not None or verbose:
                    told = f"WRONG {problem}" if problem is not None else outcome
                    outcomes.setdefault((kind, way, injector.plain(told)), []).append(k)
            for (kind, way, told), ks in outcomes.items():
                say(f"{name}: {describe(kind, way, ks)} ({len(ks)}): {told}")
            if verbose:
                say(f"{name}: {faults - before} faults in {time.monotonic() - began:.1f} s")
    return faults, wrong


def main(arguments=None):
    parser = parser_of("tools.faults.inject", __doc__, "kind", 3)
    parser.add_argument("--kinds", help=f"of {', '.join(WAYS)}; all without it")
    parser.add_argument("--verbose", action="store_true", help="what came of every fault")
    args = parser.parse_args(arguments)
    names = chosen(args, SHORT)
    kinds = args.kinds.split(",") if args.kinds else list(WAYS)
    faults, wrong = inject(
        names, kinds, args.most or (3 if args.short else 0), args.verbose, lambda text: print(text, flush=True)
    )
    print(f"{faults} faults, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
