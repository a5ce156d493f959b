"""The proxy's own process: HTTP/1.1 in front of one server, with latency, a rate per connection, and faults.

`proxy.py` has the other side, and says what the faults are. Orders come as lines of JSON on the standard input, each
answered by one line.
"""

import asyncio
import json
import os
import re
import socket
import struct
import sys
import threading
import urllib.parse

PIECE = 1 << 17  # bytes
STATUS_TEXTS = {429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"}


class Gone(Exception):
    """The connection to the client is to be given up."""


class Faulty:
    """What the proxy is told to do, and what it has seen."""

    def __init__(self, host, port):
        self.upstream = (host, port)
        self.released = asyncio.Event()
        self.configure({})
        self.log = []
        self.tasks = set()
        self.open = 0
        self.most_open = 0

    def configure(self, order):
        self.latency = order.get("latency", 0.0)
        self.rate = order.get("rate")
        self.faults = [dict(fault, seen=0) for fault in order.get("faults", [])]
        self.released.set()  # what stalls by earlier orders
        self.released = asyncio.Event()

    def fault_for(self, request):
        """The fault of a request, if one is due. Each fault counts the requests that fit it."""
        due = None
        for fault in self.faults:
            if fault["method"] not in (None, request["method"]):
                continue
            if fault["path"] is not None and not re.search(fault["path"], request["target"]):
                continue
            number = fault["seen"]
            fault["seen"] += 1
            if due is None and fault["at"] <= number < fault["at"] + fault["times"]:
                due = fault
        return due

    def obey(self, order):
        if order["order"] == "configure":
            self.configure(order)
            return {}
        if order["order"] == "clear":
            self.log = []
            self.most_open = self.open
            return {}
        return {"log": self.log, "open": self.open, "most_open": self.most_open}


class Pace:
    """Waits as long as bytes take at a rate: what is sent after that comes when it would."""

    def __init__(self, rate):
        self.rate = rate
        self.start = None
        self.bytes = 0

    async def passed(self, size):
        if self.rate:
            now = asyncio.get_running_loop().time()
            self.start = now if self.start is None else self.start
            self.bytes += size
            await asyncio.sleep(self.start + self.bytes / self.rate - now)


async def read_head(reader):
    """The first line and the headers (names in lower case, in order), or None at the end."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = raw[:-4].decode("latin-1").split("\r\n")
    return first, [tuple(line.split(":", 1)) for line in lines]


def value_of(headers, name):
    return next((value.strip() for key, value in headers if key.lower() == name), None)


def without(headers, *names):
    return [(key, value) for key, value in headers if key.lower() not in names]


def as_bytes(first, headers):
    return "\r\n".join([first, *(f"{key}:{value}" for key, value in headers), "", ""]).encode("latin-1")


async def body_of(reader, headers, pace, limit=None):
    """A request's body as it came, chunk marks included; at most `limit` bytes of it."""
    length = value_of(headers, "content-length")
    parts = []
    if length is not None:
        left = int(length) if limit is None else min(int(length), limit)
        while left:
            piece = await reader.read(min(left, PIECE))
            if not piece:
                raise Gone
            parts.append(piece)
            left -= len(piece)
            await pace.passed(len(piece))
    elif "chunked" in (value_of(headers, "transfer-encoding") or ""):
        while True:
            line = await reader.readline()
            size = int(line.split(b";")[0], 16)
            parts += [line, await reader.readexactly(size + 2)]
            await pace.passed(size)
            if size == 0 or limit is not None:
                break
    return b"".join(parts)


class Exchange:
    """One request and its answer."""

    def __init__(self, faulty, reader, writer):
        self.faulty, self.reader, self.writer = faulty, reader, writer
        self.pace = Pace(faulty.rate)

    async def run(self):
        """Whether the connection goes on."""
        head = await read_head(self.reader)
        if head is None:
            return False
        first, headers = head
        method, target, _ = first.split(" ", 2)
        path, _, query = target.partition("?")
        entry = {
            "method": method,
            "target": target,
            "path": urllib.parse.unquote(path),
            "query": query,
            "range": value_of(headers, "range"),
            "status": None,
            "fault": None,
            "sent": 0,
        }
        self.faulty.log.append(entry)
        self.entry = entry
        fault = self.faulty.fault_for(entry) or {"kind": None}
        entry["fault"] = fault["kind"]
        if self.faulty.latency:
            await asyncio.sleep(self.faulty.latency)
        if (value_of(headers, "expect") or "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(value_of(headers, "content-length") or 0)
        body = await body_of(
            self.reader, headers, self.pace, length // 2 if fault["kind"] == "reset_in_request" else None
        )
        if fault["kind"] in ("reset_in_request", "reset"):
            raise Gone
        if fault["kind"] == "stall":
            await self.stall()
        if fault["kind"] == "status":
            return await self.refuse(fault, method)
        return await self.forward(fault, first, headers, body, method)

    async def refuse(self, fault, method):
        status = fault["status"]
        text = STATUS_TEXTS.get(status, "Fault")
        body = f"<Error><Code>Injected{status}</Code><Message>a fault of the proxy</Message></Error>".encode()
        after = "" if fault["retry_after"] is None else f"Retry-After: {fault['retry_after']}\r\n"
        kind = "Content-Type: application/xml\r\n"
        head = f"HTTP/1.1 {status} {text}\r\n{after}{kind}Content-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + (b"" if method == "HEAD" else body))
        self.entry["status"] = status
        await self.writer.drain()
        return True

    async def forward(self, fault, first, headers, body, method):
        sent = without(headers, "connection", "expect", "keep-alive")
        if fault["kind"] == "whole":
            sent = without(sent, "range")
        reader, writer = await asyncio.open_connection(*self.faulty.upstream, limit=1 << 20)
        try:
            writer.write(as_bytes(first, [*sent, ("Connection", " close")]) + body)
            await writer.drain()
            head = await read_head(reader)
            while head is not None and head[0].split(" ")[1] == "100":
                head = await read_head(reader)
            if head is None:
                raise Gone
            return await self.answer(fault, head, reader, method)
        finally:
            writer.close()

    async def answer(self, fault, head, reader, method):
        first, headers = head
        self.entry["status"] = int(first.split(" ")[1])
        if fault["kind"] == "drop_answer":
            await reader.read()
            raise Gone
        headers = without(headers, "connection", "keep-alive")
        length = value_of(headers, "content-length")
        has_body = method != "HEAD" and self.entry["status"] not in (204, 304)
        chunked = "chunked" in (value_of(headers, "transfer-encoding") or "")
        closes = has_body and length is None and not chunked
        size = int(length or 0)
        if fault["kind"] == "lie" and has_body:  # a whole answer, as HTTP goes, with half of the bytes
            headers = [*without(headers, "content-length"), ("Content-Length", f" {size // 2}")]
        headers += [("Connection", " close")] if closes else []
        self.writer.write(as_bytes("HTTP/1.1 " + first.split(" ", 1)[1], headers))
        if has_body:
            await self.pass_on(fault, reader, size)
        await self.writer.drain()
        return not closes

    async def pass_on(self, fault, reader, size):
        """The body, as far as the fault lets it."""
        kind, sent, half = fault["kind"], 0, size // 2
        cut = kind in ("short", "reset_in_answer", "stall_in_answer", "lie")
        while True:
            piece = await reader.read(min(PIECE, half - sent) if cut and sent < half else PIECE)
            if not piece:
                return
            if cut and sent >= half:
                break
            if kind == "corrupt" and sent <= half < sent + len(piece):
                piece = bytearray(piece)
                piece[half - sent] ^= 0x55
            await self.pace.passed(len(piece))
            self.writer.write(piece)
            await self.writer.drain()
            sent += len(piece)
            self.entry["sent"] = sent
        if kind == "short":
            self.writer.close()  # an orderly end, too early
            raise Gone
        if kind == "stall_in_answer":
            await self.stall()
        if kind == "reset_in_answer":
            await asyncio.sleep(0.01)  # or the reset overtakes the bytes
            raise Gone

    async def stall(self):
        """Nothing more, until the client goes or the proxy gets other orders."""
        gone = asyncio.ensure_future(self.reader.read(1))
        released = asyncio.ensure_future(self.faulty.released.wait())
        await asyncio.wait([gone, released], return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        released.cancel()
        raise Gone


async def serve(faulty, reader, writer):
    faulty.open += 1
    faulty.tasks.add(asyncio.current_task())  # or nobody keeps it while it waits
    faulty.most_open = max(faulty.most_open, faulty.open)
    try:
        while await Exchange(faulty, reader, writer).run():
            pass
        writer.close()
    except (Gone, ConnectionError, asyncio.IncompleteReadError):
        if not writer.is_closing():
            # Zero seconds to linger: the client sees a reset.
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
    finally:
        faulty.open -= 1
        faulty.tasks.discard(asyncio.current_task())


async def main(host, upstream):
    name, _, port = upstream.rpartition(":")
    faulty = Faulty(name, int(port))
    server = await asyncio.start_server(lambda r, w: serve(faulty, r, w), host, 0, limit=1 << 20, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def orders():
        for line in sys.stdin:
            answered = asyncio.run_coroutine_threadsafe(obey(faulty, json.loads(line)), loop).result()
            print(json.dumps(answered), flush=True)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=orders, daemon=True).start()
    await ended.wait()
    os._exit(0)  # with what still stalls


async def obey(faulty, order):
    return faulty.obey(order)


def run(host, upstream):
    """Serves until the standard input ends."""
    asyncio.run(main(host, upstream))
