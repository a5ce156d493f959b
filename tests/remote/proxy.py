"""A proxy in front of a server, which makes it slow, unreliable, or both, and counts what is asked for.

It runs as a process of its own (`proxy_server.py`), so that it takes no time from the code that is tested, and its
sockets are not among those of the tests.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple

from .child import HOST
from .servers import Child

__all__ = ["EVERY_TIME", "FAULTS", "Fault", "Proxy", "Request"]

EVERY_TIME = 1 << 30

# What can happen to a request.
FAULTS = {
    "500": "answered with 500; the server does not see it",
    "503": "answered with 503",
    "429": "answered with 429 and Retry-After",
    "reset": "the connection is reset after the request; the server does not see it",
    "reset_in_request": "the connection is reset when half of the request's body has come",
    "reset_in_answer": "the connection is reset after half of the answer's body",
    "short": "the connection ends in order after half of the answer's body",
    "lie": "half of the answer's body, with a Content-Length that says so",
    "corrupt": "a byte in the middle of the answer's body is another",
    "whole": "the range that was asked for is ignored: the whole object comes, with 200",
    "stall": "no answer, and the connection stays open; the server does not see it",
    "stall_in_answer": "nothing more after half of the answer's body",
    "drop_answer": "the server acts, and its answer is lost: the connection is reset",
}


class Fault(NamedTuple):
    """One of FAULTS, at the request number `at` (from 0) among those that fit, and `times` of them in a row.

    `method` and `path` (a pattern that is searched for in the path with its query) say which requests fit; by default,
    all.
    """

    kind: str
    at: int = 0
    times: int = 1
    method: str | None = None
    path: str | None = None
    retry_after: int | None = None

    def as_order(self) -> dict[str, object]:
        assert self.kind in FAULTS, self.kind
        order: dict[str, object] = self._asdict()
        if self.kind.isdigit():
            order.update(kind="status", status=int(self.kind))
            if self.kind == "429" and self.retry_after is None:
                order.update(retry_after=1)
        return order


class Request(NamedTuple):
    """A request that the proxy has seen. `sent` counts the bytes of the answer's body."""

    method: str
    path: str
    query: str
    range: tuple[int, int] | None  # [start, end)
    status: int | None
    fault: str | None
    sent: int


class Proxy:
    """A proxy in front of the server at a port."""

    def __init__(self, port: int) -> None:
        self._child = Child("proxy", f"{HOST}:{port}")
        self.port = self._child.port

    def close(self) -> None:
        self._child.close()

    def configure(self, *faults: Fault, latency: float = 0.0, rate: float | None = None) -> None:
        """From now on: these faults (they count from here), seconds before each answer, bytes per second and
        connection. What stalls is let go. What was seen is forgotten."""
        orders = [fault.as_order() for fault in faults]
        self._child.ask({"order": "configure", "latency": latency, "rate": rate, "faults": orders})
        self.clear()

    def clear(self) -> None:
        """Forgets what was seen."""
        self._child.ask({"order": "clear"})

    def requests(self, method: str | None = None, path: str = "") -> list[Request]:
        """The requests seen, in order: those with a method, and with a pattern in their path."""
        return [
            Request(
                entry["method"],
                entry["path"],
                entry["query"],
                _range(entry["range"]),
                entry["status"],
                entry["fault"],
                entry["sent"],
            )
            for entry in self._child.ask({"order": "log"})["log"]
            if method in (None, entry["method"]) and re.search(path, entry["path"])
        ]

    def open_connections(self) -> int:
        """How many connections are open now."""
        return int(self._child.ask({"order": "log"})["open"])

    def wait_for_connections(self, most: int, seconds: float = 30.0) -> None:
        """Waits until no more than so many are open, in some looks one after the other: one may be just coming in."""
        until, looks = time.monotonic() + seconds, 0
        while looks < 3:
            looks = looks + 1 if self.open_connections() <= most else 0
            assert time.monotonic() < until, self.open_connections()
            time.sleep(0.1)

    def most_connections(self) -> int:
        """How many were open at a time, at most, since what was seen was forgotten."""
        return int(self._child.ask({"order": "log"})["most_open"])


def _range(header: str | None) -> tuple[int, int] | None:
    found = re.match(r"bytes=(\d+)-(\d+)$", header or "")
    return (int(found[1]), int(found[2]) + 1) if found else None
