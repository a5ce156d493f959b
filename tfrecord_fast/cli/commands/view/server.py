"""The server of the page: on 127.0.0.1, read-only, for clients that know the token.

A request needs the right Host and a path that starts with the token. So neither other sites, also after DNS rebinding,
nor other users of the machine get an answer. Content from records is never executed: scripts come only from the package
(Content-Security-Policy), and values are sent as images, sound, plain text or downloads, never as HTML.

Each connection has one request, a thread, and a deadline for the request. At most `_MOST_AT_ONCE` are served at a time.
One more displaces the oldest of those that have not shown the token, so that idle clients keep nobody waiting.
"""

from __future__ import annotations

import contextlib
import io
import re
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from .pages import Answer, BadRequest, Pages
from .sources import File

_ADDRESS = "127.0.0.1"
_MOST_AT_ONCE = 64
_REQUEST_SECONDS = 5.0  # until the request has been read
_SEND_SECONDS = 30.0  # for each chunk of an answer
_CHUNK = 1 << 18  # bytes
_MOST_FIELDS = 20  # of a query
_MOST_DRAINED = 4 << 20  # bytes of an unwanted body
_DRAIN_SECONDS = 0.3

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    block_on_close = False

    def __init__(self, pages: Pages, port: int) -> None:
        self.pages = pages
        self.token = secrets.token_urlsafe(24)
        self._free = threading.Semaphore(_MOST_AT_ONCE)
        self.strangers: OrderedDict[socket.socket, None] = OrderedDict()  # connections that have not shown the token
        super().__init__((_ADDRESS, port), _Handler)
        self.url = f"http://{_ADDRESS}:{self.server_port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without the name look-up of HTTPServer."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = _ADDRESS, self.socket.getsockname()[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread once fewer than `_MOST_AT_ONCE` are running."""
        if not self._free.acquire(blocking=False):
            with contextlib.suppress(KeyError, OSError):
                self.strangers.popitem(last=False)[0].shutdown(socket.SHUT_RDWR)
            self._free.acquire()
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self._free.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self.strangers[request] = None
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.strangers.pop(request, None)
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; no other errors arrive here."""

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset({f"{_ADDRESS}:{self.server_port}", f"localhost:{self.server_port}"})


def make_server(files: Sequence[File], port: int) -> Server:
    return Server(Pages(files), port)


@contextlib.contextmanager
def in_browser(url: str) -> Iterator[None]:
    """Return a context manager that opens `url` in the browser.

    Other users can see the command line of a browser, and the URL has the token. The browser therefore gets a page
    that only this user can read, which leads to `url`. It is removed at the end, also after SIGTERM and SIGHUP.
    """
    with tempfile.TemporaryDirectory(prefix="tfrecord-fast-", ignore_cleanup_errors=True) as folder:
        page = Path(folder, "view.html")
        page.touch(0o600)
        page.write_text(f'<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">records</a>\n')
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, lambda number, frame: sys.exit(128 + number))
        # A browser in the terminal runs until the user leaves it.
        threading.Thread(target=webbrowser.open, args=[page.as_uri()], daemon=True).start()
        yield


class _InTime(io.RawIOBase):
    """Stream of a connection; reading after the deadline raises TimeoutError."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(max(0.001, self._deadline - time.monotonic()))
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "tfrecord-fast"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_InTime(self.connection, time.monotonic() + _REQUEST_SECONDS))

    def finish(self) -> None:
        # Closing a connection with unread data resets it, and the answer is lost.
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            unread = _InTime(self.connection, time.monotonic() + _DRAIN_SECONDS)
            for _ in range(_MOST_DRAINED // _CHUNK):
                if not unread.read(_CHUNK):
                    break
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        self.close_connection = True
        try:
            self._send(self._answer())
        except BadRequest as error:
            self.send_error(error.status, str(error))
        except OSError:
            raise
        except Exception as error:  # a bug: the page shows it and stays usable
            self.send_error(500, f"{type(error).__name__}: {error}")

    do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error as text, with the headers of all answers."""
        self.close_connection = True
        text = message or HTTPStatus(code).phrase
        content = f"{code}: {text}\n".encode("utf-8", "backslashreplace")
        self.send_response(code)
        if code == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self._end(Answer("text/plain; charset=utf-8", content), len(content))
        if self.command != "HEAD":
            self.wfile.write(content)

    def _answer(self) -> Answer:
        path, _, query = self.path.partition("?")
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.hosts:
            raise BadRequest(403, "unexpected Host header")
        token, _, rest = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            raise BadRequest(403, "wrong token: open the address that the command printed")
        self.server.strangers.pop(self.connection, None)
        if self.command not in ("GET", "HEAD"):
            raise BadRequest(405, "only GET and HEAD are supported")
        if self.headers.get("Content-Length", "0").strip() != "0" or "Transfer-Encoding" in self.headers:
            raise BadRequest(400, "request bodies are not supported")
        if path == f"/{token}":
            raise BadRequest(404, "the address must end with /")
        try:
            fields = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        except ValueError:
            raise BadRequest(400, "malformed query") from None
        return self.server.pages.answer(rest, dict(fields))

    def _send(self, answer: Answer) -> None:
        self.connection.settimeout(_SEND_SECONDS)
        if not isinstance(answer.content, bytes):
            self.send_response(200)
            self._end(answer, None)
            if self.command != "HEAD":
                for chunk in answer.content:
                    self.wfile.write(chunk)
            return
        size = len(answer.content)
        begin, end = self._range(size)
        if begin >= end and size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self._end(answer, 0)
            return
        is_part = end - begin < size
        self.send_response(206 if is_part else 200)
        if is_part:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self._end(answer, end - begin)
        if self.command == "HEAD":
            return
        view = memoryview(answer.content)
        for start in range(begin, end, _CHUNK):
            self.wfile.write(view[start : min(start + _CHUNK, end)])

    def _range(self, size: int) -> tuple[int, int]:
        """Return the requested byte range; all bytes without a Range header, or with one that is not supported."""
        match = _RANGE.fullmatch(self.headers.get("Range", "").strip())
        if match is None or match[0] == "bytes=-":
            return 0, size
        if not match[1]:
            last = int(match[2])
            return max(0, size - last), size if last else 0
        begin = int(match[1])
        end = min(size, int(match[2]) + 1) if match[2] else size
        if match[2] and int(match[2]) < begin:  # invalid, therefore ignored
            return 0, size
        return begin, end

    def _end(self, answer: Answer, size: int | None) -> None:
        self.send_header("Content-Type", answer.type)
        if size is not None:
            self.send_header("Content-Length", str(size))
        is_page = answer.type.startswith(("text/html", "text/css", "text/javascript"))
        self.send_header("Content-Security-Policy", _POLICY if is_page else "default-src 'none'; sandbox")
        if answer.attachment is not None:
            self.send_header("Content-Disposition", f'attachment; filename="{answer.attachment}"')
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
