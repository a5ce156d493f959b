"""A folder over HTTP, with ranges, entity tags and conditions."""

import hashlib
import os
import re
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RANGE = re.compile(r"bytes=(\d*)-(\d*)$")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = ""

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def answer(self, has_body):
        path = self.folder + urllib.parse.unquote(self.path.split("?")[0])
        try:
            with open(path, "rb") as file:
                data = file.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return self.say(404, b"not here", has_body)
        tag = f'"{hashlib.md5(data).hexdigest()}"'
        if self.headers.get("If-Match", tag) not in (tag, "*"):
            return self.say(412, b"changed", has_body)
        start, end = 0, len(data)
        found = RANGE.match(self.headers.get("Range", ""))
        headers = {
            "ETag": tag,
            "Accept-Ranges": "bytes",
            "Last-Modified": self.date_time_string(os.stat(path).st_mtime),
        }
        if found and (found[1] or found[2]):
            start = int(found[1]) if found[1] else max(len(data) - int(found[2]), 0)
            end = min(int(found[2]) + 1, len(data)) if found[1] and found[2] else len(data)
            if start >= len(data):
                return self.say(416, b"", has_body, {"Content-Range": f"bytes */{len(data)}"})
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        self.say(206 if found else 200, memoryview(data)[start:end], has_body, headers)

    def say(self, status, body, has_body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if has_body:
            self.wfile.write(body)

    def log_message(self, *args):
        pass


class Chooser(Handler):
    """Gives the file that the query names: /get?file=a"""

    def answer(self, has_body):
        self.path = "/" + urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["file"][0]
        super().answer(has_body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass  # a client that went away


def server_of(host, folder):
    """A server on a free port, not yet serving."""
    return Server((host, 0), type("Handler", (Handler,), {"folder": folder.rstrip("/")}))
