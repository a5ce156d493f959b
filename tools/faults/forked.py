"""Work in a forked child that may crash, hang or be killed: each case starts from the same state, and is cheap."""

import json
import os
import resource
import select
import signal
import tempfile


class Died(Exception):
    """The child was ended by a signal, hung, or ended without a result."""


def in_child(work, seconds=30):
    """What `work` returned, by way of JSON.

    Raises:
      Died: it did not return.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            _run(work, writing, said.fileno())
        os.close(writing)
        try:
            answer = _answer(reading, seconds)
            if answer is None:
                os.killpg(child, signal.SIGKILL)
        finally:
            os.close(reading)
            status = os.waitpid(child, 0)[1]
        if answer is None:
            raise Died(f"hangs for {seconds} seconds")
        said.seek(0)
        text = said.read().decode(errors="replace")
    if os.WIFSIGNALED(status):
        raise Died(f"signal {os.WTERMSIG(status)}: {' '.join(text[-300:].split())}")
    if not answer:
        raise Died(f"exit status {os.waitstatus_to_exitcode(status)}: {' '.join(text[-300:].split())}")
    return json.loads(answer)


def _run(work, writing, said):
    os.setsid()
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(said, 1)
        os.dup2(said, 2)
        answer = json.dumps(work()).encode()
        while answer:
            answer = answer[os.write(writing, answer) :]
    finally:
        os._exit(0)


def _answer(reading, seconds):
    """All that the child wrote; None if it did not end in time."""
    parts = []
    while select.select([reading], [], [], seconds)[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None
