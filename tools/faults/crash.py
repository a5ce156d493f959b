"""Kills writers at every system call that changes files, and looks at what they leave.

    python -m tools.faults.crash [--workloads shards,append…] [--most 20] [--short]

For every k, a forked child is killed (SIGKILL) right before call number k. Then no file under a final name is torn, all
else is hidden, and the next writer of the same files works and leaves nothing but its own. A file that grows as it is
written (append) may end in the middle of a record: the next writer refuses it, or goes on from there.

The last line is `N kills, M wrong`, and the exit status 1 if M is not 0.
"""

import os
import re
import signal
import sys
import tempfile

from tests.faults import preload

preload.ensure_preloaded("tools.faults.crash") if __name__ == "__main__" else None

import tfrecord_fast as tf  # noqa: E402
from tools.faults import work_writing  # noqa: E402
from tools.faults.forked import Died, in_child  # noqa: E402
from tools.faults.rig import Rig, chosen, parser_of, spread  # noqa: E402
from tools.faults.work_kit import WORKLOADS, Wrong  # noqa: E402

CALLS = ["open", "write", "writev", "pwrite", "rename", "unlink", "fsync", "ftruncate", "close"]
STARTS = ("append", "convert", "copying", "index-save", "shards", "write-")
SHORT = [
    "append-plain",
    "convert-jsonl-plain",
    "convert-tfrecord.gz-over",
    "copying-split-over",
    "copying-shuffle-plain",
    "index-save",
    "shards-plain-over",
    "shards-GZIP-sync",
]


class Killer(Rig):
    """Runs writers that are killed, each in a child."""

    def calls(self, name):
        """How many of the calls a workload makes."""

        def count():
            work = WORKLOADS[name](self.inputs, tempfile.mkdtemp(dir=self.folder))
            work.run()  # what is imported on the way is there
            work = WORKLOADS[name](self.inputs, tempfile.mkdtemp(dir=self.folder))
            self.faults.arm(CALLS)
            work.run()
            return self.faults.disarm()

        return in_child(count)

    def log(self, name):
        """The calls of a workload that opens, writes, syncs and renames, in order: (call, path or paths)."""
        with tempfile.TemporaryFile("w+") as log:

            def run():
                work = WORKLOADS[name](self.inputs, tempfile.mkdtemp(dir=self.folder))
                self.faults.arm(CALLS, log=log.fileno())
                work.run()
                self.faults.disarm()

            in_child(lambda: run() or True)
            log.seek(0)
            return [tuple(line.split()) for line in log]

    def kill(self, name, k):
        """What is wrong after a kill before call k, or None."""
        out = tempfile.mkdtemp(dir=self.folder)

        def run():
            work = WORKLOADS[name](self.inputs, out)
            self.faults.arm(CALLS, k, preload.KILL)
            work.run()
            self.faults.disarm()
            return "done"

        try:
            in_child(run)
        except Died as died:
            if not str(died).startswith(f"signal {signal.SIGKILL}:"):
                return str(died)
        return self._look(name, out)

    def _look(self, name, out):
        try:
            return in_child(lambda: self._aftermath(name, out))
        except Died as died:
            return f"the next writer: {died}"

    def _aftermath(self, name, out):
        work = WORKLOADS[name].__new__(WORKLOADS[name])
        work.__dict__.update(self._state(name, out))
        work.killed = True
        try:
            work.left()
            self._next(name, work)
        except Wrong as wrong:
            return str(wrong)
        except Exception as error:
            return f"the next writer: {type(error).__name__}: {error}"
        return None

    def _state(self, name, out):
        """What a workload knows of its folder, without preparing the folder again."""
        prepared = WORKLOADS[name](self.inputs, tempfile.mkdtemp(dir=self.folder))
        return {**vars(prepared), "out": out}

    def _next(self, name, work):
        if name.startswith("append"):
            with_tail = len(work_writing.intact(work.path("file"), work.parameters[0]))
            try:
                with tf.io.TFRecordWriter(work.path("file"), work.parameters[0], append=True) as writer:
                    writer.write(b"more")
            except tf.errors.DataLossError:
                return
            got = work_writing.intact(work.path("file"), work.parameters[0])
            if len(got) != with_tail + 1 or got[-1] != b"more":
                raise Wrong(f"the next append gave {len(got)} records, not {with_tail + 1}")
            return
        work.run()
        work.check()
        work.killed = False
        work.left()


def crash(names, most, say=print):
    """(kills, wrong)."""
    kills = wrong = 0
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        killer = Killer(folder)
        for name in names:
            problems = {}
            for k in spread(killer.calls(name), most):
                problem = killer.kill(name, k)
                kills += 1
                if problem is not None:
                    wrong += 1
                    problem = re.sub(r"\.\d+-[-0-9a-f]+\.tmp", ".….tmp", problem)
                    problems.setdefault(problem, []).append(k)
            for problem, ks in problems.items():
                say(f"{name}: killed at k = {', '.join(map(str, ks[:6]))} ({len(ks)}): WRONG {problem}")
    return kills, wrong


def show_log(name):
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        for call in Killer(folder).log(name):
            print(*("." if os.path.isdir(word) else os.path.basename(word) for word in call))
    return 0


def main(arguments=None):
    parser = parser_of("tools.faults.crash", __doc__, "workload", 12)
    parser.add_argument("--log", metavar="WORKLOAD", help="only prints the calls that one workload makes, in order")
    args = parser.parse_args(arguments)
    if args.log:
        return show_log(args.log)
    names = chosen(args, SHORT, STARTS)
    kills, wrong = crash(names, args.most or (12 if args.short else 0), lambda text: print(text, flush=True))
    print(f"{kills} kills, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
