"""Stores on loopback, and buckets in them, as the tests use them.

A bucket is written and listed here without the package: what the package says about a store is compared with it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from email.utils import formatdate
from typing import Any

from tests.support.paths import ROOT

from .child import HOST, KEY, SECRET

__all__ = ["AZURE_ACCOUNT", "AZURE_KEY", "AzureBucket", "Bucket", "Child", "GcsBucket", "HttpFolder", "S3Bucket"]

AZURE_ACCOUNT = "devstoreaccount1"  # Azurite's, and public
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_NUMBERS = itertools.count()


class Child:
    """A server that runs as a process of its own, on the port `port`; it ends with this one."""

    def __init__(self, kind: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "tests.remote.child", kind, *arguments]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "LD_PRELOAD"))}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lock = threading.Lock()
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.strip().isdigit():
            self.close()
            raise RuntimeError(f"the server {kind} did not start")
        self.port = int(line)

    def ask(self, order: dict[str, Any]) -> Any:
        """Gives an order, and takes the answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """Stops it."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def fetch(port: int, method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    """The answer's body; raises RuntimeError for a status of 300 or more."""
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.request(method, target, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {target}: {answer.status} {content[:300]!r}")
    return content


class Bucket:
    """A bucket that is made for one test. `port` is the server's, `seen_at` the port that the package is told of."""

    scheme = ""

    def __init__(self, port: int, seen_at: int | None = None) -> None:
        self.port = port
        self.seen_at = port if seen_at is None else seen_at
        self.name = f"bucket-{os.getpid()}-{next(_NUMBERS)}"
        self.create()

    @property
    def options(self) -> dict[str, Any]:
        """`storage_options` for the package."""
        raise NotImplementedError

    def url(self, key: str = "") -> str:
        """The URL of an object."""
        return f"{self.scheme}://{self.name}/{key}"

    def create(self) -> None:
        raise NotImplementedError

    def put(self, key: str, data: bytes) -> str:
        """Writes an object, and gives its URL."""
        raise NotImplementedError

    def get(self, key: str) -> bytes:
        raise NotImplementedError

    def delete(self, key: str) -> None:
        raise NotImplementedError

    def keys(self) -> list[str]:
        """All keys, sorted."""
        raise NotImplementedError

    def uploads(self) -> list[str]:
        """Keys of uploads that were begun and neither completed nor aborted."""
        raise NotImplementedError


class S3Bucket(Bucket):
    """In moto, which takes any credentials, or in nanio, which checks signatures."""

    scheme = "s3"
    access_key, secret = KEY, SECRET

    @property
    def options(self) -> dict[str, Any]:
        return {
            "aws_access_key_id": self.access_key,
            "aws_secret_access_key": self.secret,
            "aws_region": "us-east-1",
            "endpoint": f"http://{HOST}:{self.seen_at}",
            "allow_http": "true",
        }

    def signed(self, method: str, target: str, body: bytes = b"", port: int | None = None) -> dict[str, str]:
        """The headers of a request to the server, or to a port before it."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        request = AWSRequest(method, f"http://{HOST}:{port or self.port}{target}", data=body)
        request.headers["x-amz-content-sha256"] = hashlib.sha256(body).hexdigest()
        S3SigV4Auth(Credentials(self.access_key, self.secret), "s3", "us-east-1").add_auth(request)
        return {name: str(value) for name, value in request.headers.items()}

    def _ask(self, method: str, target: str, body: bytes = b"") -> bytes:
        return fetch(self.port, method, target, body, self.signed(method, target, body))

    def _target(self, key: str) -> str:
        return f"/{self.name}/{urllib.parse.quote(key)}"

    def create(self) -> None:
        self._ask("PUT", f"/{self.name}")

    def put(self, key: str, data: bytes) -> str:
        self._ask("PUT", self._target(key), data)
        return self.url(key)

    def get(self, key: str) -> bytes:
        return self._ask("GET", self._target(key))

    def delete(self, key: str) -> None:
        self._ask("DELETE", self._target(key))

    def keys(self, page: int = 1000) -> list[str]:
        found: list[str] = []
        query = f"list-type=2&max-keys={page}"
        while True:
            text = self._ask("GET", f"/{self.name}?{query}").decode()
            found += [_unescaped(key) for key in re.findall(r"<Key>(.*?)</Key>", text)]
            more = re.search(r"<NextContinuationToken>(.*?)</NextContinuationToken>", text)
            if more is None:
                return sorted(found)
            token = urllib.parse.quote(_unescaped(more[1]), safe="")
            query = f"continuation-token={token}&list-type=2&max-keys={page}"

    def uploads(self) -> list[str]:
        text = self._ask("GET", f"/{self.name}?uploads").decode()
        return [_unescaped(key) for key in re.findall(r"<Upload>.*?<Key>(.*?)</Key>", text, re.DOTALL)]

    def abort_uploads(self) -> None:
        """Removes what `uploads` lists."""
        text = self._ask("GET", f"/{self.name}?uploads").decode()
        for one in re.findall(r"<Upload>.*?</Upload>", text, re.DOTALL):
            key, upload = (re.findall(f"<{name}>(.*?)</{name}>", one)[0] for name in ("Key", "UploadId"))
            self._ask("DELETE", f"{self._target(_unescaped(key))}?uploadId={urllib.parse.quote(upload, safe='')}")


def _unescaped(text: str) -> str:
    import html

    return html.unescape(text)


class GcsBucket(Bucket):
    """In fake-gcs-server."""

    scheme = "gs"

    @property
    def options(self) -> dict[str, Any]:
        return {"endpoint": f"http://{HOST}:{self.seen_at}", "skip_signature": "true", "allow_http": "true"}

    def create(self) -> None:
        body = json.dumps({"name": self.name}).encode()
        fetch(self.port, "POST", "/storage/v1/b?project=test", body, {"Content-Type": "application/json"})

    def _target(self, key: str) -> str:
        return f"/storage/v1/b/{self.name}/o/{urllib.parse.quote(key, safe='')}"

    def put(self, key: str, data: bytes) -> str:
        target = f"/upload/storage/v1/b/{self.name}/o?uploadType=media&name={urllib.parse.quote(key, safe='')}"
        fetch(self.port, "POST", target, data)
        return self.url(key)

    def get(self, key: str) -> bytes:
        return fetch(self.port, "GET", self._target(key) + "?alt=media")

    def delete(self, key: str) -> None:
        fetch(self.port, "DELETE", self._target(key))

    def keys(self) -> list[str]:
        found = json.loads(fetch(self.port, "GET", f"/storage/v1/b/{self.name}/o"))
        return sorted(item["name"] for item in found.get("items", []))

    def uploads(self) -> list[str]:
        return []  # the server does not list them


class AzureBucket(Bucket):
    """In Azurite: a container."""

    scheme = "az"

    @property
    def options(self) -> dict[str, Any]:
        return {
            "account_name": AZURE_ACCOUNT,
            "account_key": AZURE_KEY,
            "endpoint": f"http://{HOST}:{self.seen_at}/{AZURE_ACCOUNT}",
            "allow_http": "true",
        }

    def _ask(self, method: str, key: str, query: dict[str, str], body: bytes = b"", **more: str) -> bytes:
        """Signed with the account's key, as "Authorize with Shared Key" describes it."""
        path = f"/{AZURE_ACCOUNT}/{self.name}" + (f"/{urllib.parse.quote(key)}" if key else "")
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06", **more}
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        resource = f"/{AZURE_ACCOUNT}{path}" + "".join(f"\n{name}:{query[name]}" for name in sorted(query))
        length = str(len(body)) if body else ""
        signed = f"{method}\n\n\n{length}\n" + "\n" * 8 + lines + resource
        digest = hmac.new(base64.b64decode(AZURE_KEY), signed.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(digest).decode()}"
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        return fetch(self.port, method, target, body, {**headers, "Content-Length": str(len(body))})

    def create(self) -> None:
        self._ask("PUT", "", {"restype": "container"})

    def put(self, key: str, data: bytes) -> str:
        self._ask("PUT", key, {}, data, **{"x-ms-blob-type": "BlockBlob"})
        return self.url(key)

    def get(self, key: str) -> bytes:
        return self._ask("GET", key, {})

    def delete(self, key: str) -> None:
        self._ask("DELETE", key, {})

    def _names(self, **query: str) -> list[str]:
        text = self._ask("GET", "", {"comp": "list", "restype": "container", **query}).decode()
        return sorted(_unescaped(name) for name in re.findall(r"<Name>(.*?)</Name>", text))

    def keys(self) -> list[str]:
        return self._names()

    def uploads(self) -> list[str]:
        complete = set(self.keys())
        return [name for name in self._names(include="uncommittedblobs") if name not in complete]


class HttpFolder:
    """A folder that a server of ours gives away; it is read only."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._child = Child("http", self._folder.name)
        self.port = self.seen_at = self._child.port
        self.options: dict[str, Any] = {"allow_http": "true"}

    def url(self, key: str = "") -> str:
        return f"http://{HOST}:{self.seen_at}/{key}"

    def put(self, key: str, data: bytes) -> str:
        path = os.path.join(self._folder.name, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)
        return self.url(key)

    def close(self) -> None:
        self._child.close()
        self._folder.cleanup()
