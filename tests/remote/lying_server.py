"""An HTTP server that breaks the rules for ranges in a way that a test chooses; its paths may also be those of S3."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

from .http_files import Server

HOST = "127.0.0.1"
_RANGE = re.compile(r"bytes=(\d+)-(\d*)$")


class LyingServer:
    """A server of one object, `data`. `lie` is the name of a method of `_Handler`, or a status."""

    def __init__(self, data: bytes) -> None:
        self.data, self.lie, self.requests, self.broken = data, "honest", 0, False
        self._server = Server((HOST, 0), type("Handler", (_Handler,), {"of": self}))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://{HOST}:{self._server.server_port}"

    def seen(self, path: str) -> None:
        self.requests += 1

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    of: Any

    def do_HEAD(self) -> None:
        self._answer(False)

    def do_GET(self) -> None:
        self._answer(True)

    def _answer(self, has_body: bool) -> None:
        self.of.seen(self.path)
        self.has_body = has_body
        data = self.of.data
        match = _RANGE.match(self.headers.get("Range", ""))
        self.start = int(match[1]) if match else 0
        self.end = min(int(match[2]) + 1 if match and match[2] else len(data), len(data))
        self.has_range = match is not None
        if isinstance(self.of.lie, int):
            return self.say(self.of.lie, b"no", {})
        return getattr(self, self.of.lie)(data)

    def say(self, status: int, body: bytes, headers: dict[str, str], length: int | None = -1, tag: str = "1") -> None:
        self.send_response(status)
        stamps = {"ETag": f'"{tag}"', "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"} if status < 300 else {}
        for name, value in {**stamps, **headers}.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(len(body) if length < 0 else length))
        self.end_headers()
        if self.has_body:
            self.wfile.write(body)

    def ranged(self, start: int, end: int, size: Any, body: bytes, **more: Any) -> None:
        self.say(206, body, {"Content-Range": f"bytes {start}-{end - 1}/{size}"}, **more)

    def honest(self, data: bytes, **more: Any) -> None:
        if not self.has_range:
            self.say(200, data, {}, **more)
        elif self.start >= len(data):
            self.say(416, b"", {"Content-Range": f"bytes */{len(data)}"})
        else:
            end = min(self.end, len(data))
            self.ranged(self.start, end, len(data), data[self.start : end], **more)

    def ignores_ranges(self, data: bytes) -> None:
        self.say(200, data, {})

    def shifted(self, data: bytes) -> None:
        """Another range, as its headers admit."""
        if not self.has_range or self.start < 1000:
            return self.honest(data)
        return self.ranged(self.start - 1000, self.end - 1000, len(data), data[self.start - 1000 : self.end - 1000])

    def total_unknown(self, data: bytes) -> None:
        if not self.has_range or not self.has_body:
            return self.honest(data)
        return self.ranged(self.start, self.end, "*", data[self.start : self.end])

    def unplaced(self, data: bytes) -> None:
        """A part without Content-Range."""
        return self.say(206, data[self.start : self.end], {}) if self.has_range else self.honest(data)

    def half_unplaced(self, data: bytes) -> None:
        """The first half of the object, whatever was requested, as a part without Content-Range."""
        self.say(206, data[: len(data) // 2], {})

    def beyond_the_total(self, data: bytes) -> None:
        """A part that ends where the object has ended already, by its own Content-Range."""
        if not self.has_range:
            return self.honest(data)
        end = min(self.end, len(data))
        return self.ranged(self.start, end, (self.start + end) // 2, data[self.start : end])

    def placed_as_200(self, data: bytes) -> None:
        """A part with Content-Range, by its status the whole."""
        if not self.has_range:
            return self.honest(data)
        part = data[self.start : self.end]
        self.say(200, part, {"Content-Range": f"bytes {self.start}-{self.start + len(part) - 1}/{len(data)}"})

    def too_long(self, data: bytes) -> None:
        if not self.has_range:
            return self.honest(data)
        return self.ranged(self.start, self.end, len(data), data[self.start : self.end] + b"more")

    def breaks_once(self, data: bytes) -> None:
        if not self.has_body or self.of.broken:
            return self.honest(data)
        self.of.broken = self.close_connection = True
        half = data[self.start : (self.start + self.end) // 2]
        return self.ranged(self.start, self.end, len(data), half, length=self.end - self.start)

    def cut(self, data: bytes) -> None:
        """The first half of the object, whatever was requested, with nothing that shows it: HTTP/1.0."""
        self.protocol_version, self.close_connection = "HTTP/1.0", True
        self.say(200, data[: len(data) // 2], {}, length=None)

    def without_length(self, data: bytes) -> None:
        self.protocol_version, self.close_connection = "HTTP/1.0", True
        self.say(200, data, {}, length=None)

    def of_two_versions(self, data: bytes) -> None:
        self.honest(data, tag="2" if self.start > 0 else "1")

    def shrinks(self, data: bytes) -> None:
        self.honest(data if self.start == 0 else data[:-1])

    def log_message(self, *args: Any) -> None:
        pass
