"""Every fault of the proxy at every request, under what reads and what writes objects.

    python -m tools.remote.faults [--workloads range,put…] [--kinds reset,stall…] [--short] [--verbose]

For each workload, fault and k, the workload runs while request number k meets the fault; then once while every request
meets it. Right is: the right answer, or an error that says what failed, within the time-out, and nothing wrong left: no
object under a final name that is not whole, no upload that was begun and neither completed nor aborted, no thread, no
socket. After each fault the same workload works.

The last line is `N faults, M wrong`, and the exit status 1 if M is not 0.
"""

import argparse
import contextlib
import datetime
import os
import sys
import tempfile
import threading
import time

from tests.remote.proxy import EVERY_TIME, FAULTS, Fault, Proxy
from tests.remote.servers import Child, S3Bucket
from tfrecord_fast.errors import DataLossError
from tfrecord_fast.files.stores import StoreSettings
from tools.remote.fault_workloads import WORKLOADS

REQUEST_SECONDS = 1.0
SECONDS = 8.0  # for one call of the package, retries included
LIMIT = 25.0  # for a workload, which makes several calls
SLOW = {"stall", "stall_in_answer"}

# What a client can't know: an upload whose beginning the server has answered, in an answer that was lost or damaged. A
# store's rules for incomplete uploads are for these.
LOSES_UPLOADS = {"drop_answer", "reset_in_answer", "short", "stall_in_answer", "corrupt", "lie"}
REFUSALS = (OSError, DataLossError)


class Wrong(Exception):
    """What came out wrong."""


class Table:
    """Tries faults on a bucket behind a proxy, and counts."""

    def __init__(self, moto_port, proxy, say=lambda text: None):
        self.proxy, self.say = proxy, say
        self.bucket = S3Bucket(moto_port, proxy.port)
        self.settings = settings_of(self.bucket)
        self.faults, self.wrong = 0, []
        self.outcomes = {"right": 0, "error": 0}

    def run(self, workload, kinds=None, most=None, endless=True):
        """All faults, or those of `kinds`, at all requests, or at `most` of them."""
        self._once(workload, None)  # what is made once is made
        requests = self._once(workload, None)
        sockets, threads = open_sockets(), named_threads()
        for kind in kinds or FAULTS:
            if kind in workload.harmless:
                continue
            for place in spread(requests, most):
                self._try(workload, Fault(kind, place))
            if endless:
                self._try(workload, Fault(kind, 0, EVERY_TIME))
        self._expect_few("sockets", workload, sockets, open_sockets)
        self._expect_few("threads", workload, threads, named_threads)

    def _try(self, workload, fault):
        self.faults += 1
        start, place = time.monotonic(), fault.at if fault.times == 1 else "always"
        try:
            self._once(workload, fault)
            self._once(workload, None)
        except Wrong as wrong:
            self.wrong.append(f"{workload.name}: {fault.kind} {place}: {wrong}")
            self.say(f"WRONG {self.wrong[-1]}")
        self.say(f"{workload.name} {fault.kind} {place}: {time.monotonic() - start:.1f} s")

    def _once(self, workload, fault):
        """Runs it; gives how many requests it made."""
        bucket = self.bucket
        for key in bucket.keys():
            bucket.delete(key)
        bucket.abort_uploads()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # what was given up may go on
            rig = Rig(bucket, self.settings, folder)
            rig.ready = workload.prepare(rig)
            self.proxy.configure(*([] if fault is None else [fault]))
            start, error = time.monotonic(), None
            try:
                is_right = workload.run(rig)
            except REFUSALS as one:
                error = one
            except Exception as one:
                raise Wrong(f"an error of an unexpected kind: {one!r}") from one
            seconds = time.monotonic() - start
            requests = self.proxy.requests()
            self.proxy.configure()
            if fault is not None:
                self.outcomes["right" if error is None else "error"] += 1
            self._judge(workload, fault, rig, error, error is not None or is_right, seconds, requests)
            return len(requests)

    def _judge(self, workload, fault, rig, error, is_right, seconds, requests):
        if fault is None and error is not None:
            raise Wrong(f"without a fault: {error!r}")
        if not is_right and not (fault is not None and fault.kind in workload.undetected):
            raise Wrong("the answer is wrong")
        if seconds > LIMIT:
            raise Wrong(f"it took {seconds:.1f} s")
        if error is not None and rig.bucket.name not in str(error):
            raise Wrong(f"the error does not name the object: {error!r}")
        if error is not None and (rig.bucket.secret in repr(error) or error.__cause__ or error.__context__):
            raise Wrong(f"the error has more than it should: {error!r}")
        for key in rig.bucket.keys():
            if key in workload.written and rig.bucket.get(key) not in workload.written[key]:
                raise Wrong(f"{key} is partial: {len(rig.bucket.get(key))} bytes")
        if fault is None or fault.times == 1:
            self._expect_no_uploads(fault, rig, requests)

    def _expect_no_uploads(self, fault, rig, requests):
        left = rig.bucket.uploads()
        lost = sum(
            1 for one in requests if one.fault in LOSES_UPLOADS and one.method == "POST" and "uploads" in one.query
        )
        if len(left) > lost:
            raise Wrong(f"{len(left)} uploads are left, {lost} of which nobody knew")

    def _expect_few(self, what, workload, before, count):
        """No more than before and what a pool of connections keeps; threads that are idle end by themselves."""
        end = time.monotonic() + 10
        while (now := count()) > before + 4 and time.monotonic() < end:
            time.sleep(0.2)
        if now > before + 4:
            self.wrong.append(f"{workload.name}: {now} {what}, {before} before")
            self.say(f"WRONG {self.wrong[-1]}")


class Rig:
    """What a workload works with. `ready` is what its `prepare` gave."""

    def __init__(self, bucket, settings, folder):
        self.bucket, self.settings, self.folder = bucket, settings, folder
        self.ready = None

    @property
    def options(self):
        return self.settings.storage_options


def settings_of(bucket):
    """Impatient ones."""
    seconds = datetime.timedelta(seconds=SECONDS)
    backoff = {
        "init_backoff": datetime.timedelta(seconds=0.05),
        "max_backoff": datetime.timedelta(seconds=1),
        "base": 2,
    }
    retries = {"max_retries": 4, "retry_timeout": seconds, "backoff": backoff}
    limits = {"timeout": f"{REQUEST_SECONDS}s", "read_timeout": f"{REQUEST_SECONDS}s", "retry_config": retries}
    return StoreSettings(
        {**bucket.options, **limits},
        max_requests=2,
        timeout=SECONDS,
        request_timeout=REQUEST_SECONDS,
        hedge_after=None,
    )


def spread(count, most):
    """Numbers below `count`; at most `most` of them, the first and the last among them."""
    if most == 0:
        return []
    if most is None or count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / max(most - 1, 1)) for place in range(most)})


def open_sockets():
    found = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
    return found


def named_threads():
    return threading.active_count()


def main():
    parser = argparse.ArgumentParser(description="Every fault of the proxy at every request.")
    parser.add_argument("--workloads", help="names, with commas between them; all by default")
    parser.add_argument("--kinds", help=f"of {', '.join(FAULTS)}")
    parser.add_argument("--short", action="store_true", help="at three requests only, and not at all of them")
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    names = given.workloads.split(",") if given.workloads else list(WORKLOADS)
    moto = Child("moto")
    proxy = Proxy(moto.port)
    table = Table(moto.port, proxy, print if given.verbose else lambda text: None)
    try:
        for name in names:
            start, before = time.monotonic(), table.faults
            kinds = given.kinds.split(",") if given.kinds else None
            table.run(WORKLOADS[name], kinds, 3 if given.short else None, not given.short)
            print(f"{name}: {table.faults - before} faults, {time.monotonic() - start:.0f} s", flush=True)
    finally:
        proxy.close()
        moto.close()
    print(*table.wrong, sep="\n")
    print(f"{table.outcomes['right']} right answers, {table.outcomes['error']} errors")
    print(f"{table.faults} faults, {len(table.wrong)} wrong")
    return 1 if table.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
