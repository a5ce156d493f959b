"""`tfrecord-fast view` in a thread of this process, and what asks it over HTTP."""

import contextlib
import http.client
import json
import threading
import time
from typing import NamedTuple
from urllib.parse import urlencode

from tfrecord_fast.cli.commands.view.server import make_server
from tfrecord_fast.cli.commands.view.sources import File
from tfrecord_fast.files.stores import StoreSettings
from tfrecord_fast.files.streams.core_files import core_files

__all__ = ["Answered", "Viewer", "viewing"]


class Answered(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)


class Viewer:
    """A server that runs; what is asked goes to its address, with its token."""

    def __init__(self, server):
        self.server, self.port, self.token, self.url = server, server.server_port, server.token, server.url

    def send(self, path, method="GET", headers=None, body=None):
        """A request for a path from the root on."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answered(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, **query):
        """What is at a path below the token."""
        headers = query.pop("headers", None)
        return self.send(f"/{self.token}/{path}?{urlencode(query)}", headers=headers)

    def ask(self, path, **query):
        """The JSON there, as soon as the server is done with it."""
        while "waiting" in (made := self.get(path, **query).json):
            if "at" in made:
                query["record"] = made["at"]
            time.sleep(0.01)
        return made

    def features(self, record=0, file=0):
        """What is shown of a record's features, by name."""
        return {one["name"]: one for one in self.ask("api/record", file=file, record=record)["tree"]["items"]}


@contextlib.contextmanager
def viewing(*paths, compression="auto"):
    settings = StoreSettings(None)
    files = [File(one, compression, settings) for one in core_files([str(path) for path in paths], settings)]
    with make_server(files, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Viewer(server)
        finally:
            server.shutdown()
            thread.join()
