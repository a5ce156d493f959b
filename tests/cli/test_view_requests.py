"""Who gets an answer from `tfrecord-fast view`, and what hostile requests and records get."""

import http.client
import os
import random
import resource
import signal
import socket
import string
import subprocess
import threading
import time

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import COMMAND
from tests.support.threads import wait_until
from tests.support.viewer import viewing
from tfrecord_fast.cli.commands.view import server

WILD = string.printable


@pytest.fixture
def viewer(tmp_path):
    record = wire.example(
        [(b"a", wire.feature("int64", [1, 2])), (b"b", wire.feature("bytes", [b"<script>", b"\xff"]))]
    )
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch([record] * 3)
    with viewing(tmp_path / "a") as made:
        made.ask("api/record")
        yield made


def talk(viewer, data, timeout=20):
    """What the server sends for some bytes; ends when it closes the connection."""
    with socket.create_connection(("127.0.0.1", viewer.port), timeout) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        parts = []
        try:
            while part := connection.recv(1 << 16):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)


def head(viewer, path, *lines):
    host = f"Host: 127.0.0.1:{viewer.port}"
    return "\r\n".join([f"GET {path} HTTP/1.1", host, *lines, "", ""]).encode()


# ---- Who gets an answer ----


def test_the_server_is_on_loopback_only(viewer):
    assert viewer.server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("path", ["/", "/x/", "/api/files", "//", "/{}", "/{}x/", "/{}é/", "http://127.0.0.1/{}/", "*"])
def test_without_the_token_nothing_is_given(viewer, path):
    wrong = viewer.token[:-1] + ("a" if viewer.token[-1] != "a" else "b")
    assert b" 403 " in talk(viewer, head(viewer, path.format(wrong)))[:20]


def test_tokens_are_long_and_never_the_same(viewer, tmp_path):
    with viewing(tmp_path / "a") as other:
        assert other.token != viewer.token and len(viewer.token) >= 32


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{}.evil", ""]
)
def test_other_hosts_get_nothing(viewer, host):
    assert viewer.send(f"/{viewer.token}/", headers={"Host": host.format(viewer.port)}).status == 403


def test_no_host_and_two_hosts_get_nothing(viewer):
    assert b" 403 " in talk(viewer, f"GET /{viewer.token}/ HTTP/1.0\r\n\r\n".encode())[:20]
    assert b" 403 " in talk(viewer, head(viewer, f"/{viewer.token}/", "Host: evil.example"))[:20]


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}"])
def test_its_own_names_are_fine(viewer, host):
    assert viewer.send(f"/{viewer.token}/", headers={"Host": host.format(viewer.port)}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_is_answered(viewer, method):
    answer = viewer.send(f"/{viewer.token}/api/files", method)
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD"
    assert viewer.send("/x/api/files", method).status == 403


def test_methods_that_nobody_knows_are_refused(viewer):
    assert viewer.send(f"/{viewer.token}/", "BREW").status == 501


def test_head_is_get_without_the_content(viewer):
    for path in ("", "api/files", "bytes"):
        one, other = viewer.get(path), viewer.send(f"/{viewer.token}/{path}", "HEAD")
        assert other.status == 200 and other.content == b""
        assert one.headers["Content-Length"] == other.headers["Content-Length"] == str(len(one.content))


def test_every_answer_has_its_policies(viewer):
    for answer in (
        viewer.get(""),
        viewer.get("bytes"),
        viewer.get("text", place="0"),
        viewer.get("x"),
        viewer.send("/"),
    ):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["X-Frame-Options"] == "DENY"
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert "sandbox" in viewer.get("bytes").headers["Content-Security-Policy"]


# ---- Requests that make no sense ----


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("record=-1", 400),
        ("record=x", 400),
        ("record=1.5", 400),
        ("record=" + "9" * 19, 400),
        ("record=" + "9" * 10_000, 400),
        ("record=%00", 400),
        ("record=٣", 400),
        ("file=7", 404),
        ("file=-1", 400),
        ("&".join(["a=b"] * 1000), 400),
        ("record=%ff", 400),
    ],
)
def test_numbers_that_are_none_are_errors(viewer, query, status):
    for path in ("api/record", "api/part", "api/find", "api/code", "bytes", "text"):
        assert viewer.send(f"/{viewer.token}/{path}?{quoted(query)}").status == status


def quoted(text):
    return text.encode().decode("latin-1") if text.isascii() else "record=%D9%A3"


@pytest.mark.parametrize("place", ["-1", "x", "0.", ".", "9", "0.9", "0.0.0.0", "1" * 30, ".".join("0" * 99), "0x0"])
def test_places_that_are_none_are_errors(viewer, place):
    for path in ("api/part", "bytes", "text"):
        answer = viewer.get(path, place=place)
        assert answer.status in (400, 404) or (path != "bytes" and place == "0.0.0.0")


def test_a_huge_first_shows_nothing(viewer):
    assert viewer.ask("api/part", place="0", first=10**17)["values"] == []
    assert viewer.ask("api/part", first=10**17)["items"] == []


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "assets/view.js",
        "view.py",
        "%2e%2e/",
        "view.js/",
        "//etc/passwd",
        "api",
    ],
)
def test_there_are_no_other_paths(viewer, path):
    assert viewer.send(f"/{viewer.token}/{path}").status == 404


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("bytes=0-", 200),
        ("bytes=5-2", 200),
        ("bytes=-", 200),
        ("bytes=a-b", 200),
        ("lines=0-1", 200),
        ("bytes=0-1,3-4", 200),
        ("bytes=" + "9" * 100 + "-", 200),
        ("bytes=999999-", 416),
        ("bytes=-0", 416),
        ("bytes=-1", 206),
        ("bytes=0-" + "9" * 18, 200),
    ],
)
def test_ranges(viewer, asked, status):
    assert viewer.get("bytes", headers={"Range": asked}).status == status


def test_bodies_are_refused(viewer):
    path = f"/{viewer.token}/api/files"
    assert viewer.send(path, body=b"x" * 10).status == 400
    assert viewer.send(path, headers={"Content-Length": "-5"}).status == 400
    assert viewer.send(path, headers={"Transfer-Encoding": "chunked"}, body=b"0\r\n\r\n").status == 400


def test_a_body_that_never_ends_is_not_read(viewer):
    assert (
        b" 400 "
        in talk(viewer, head(viewer, f"/{viewer.token}/", "Content-Length: 99999999999") + bytes(10 << 20))[:20]
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n\r\n",
        b"\0" * 1000,
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"b" * 100_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_does_no_harm(viewer, data):
    assert b" 200 " not in talk(viewer, data)[:20]
    assert viewer.get("").status == 200


def test_random_queries_are_answered_or_refused(viewer):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(300):
        path = chance.choice(["api/record", "api/part", "api/find", "api/code", "bytes", "text", "api/files", ""])
        query = {
            chance.choice(["record", "file", "place", "first", "where", "back"]): chance.choice(
                [
                    "",
                    "0",
                    "99",
                    "-1",
                    "0.0",
                    "1.1",
                    "a == 1",
                    "not a",
                    "b == '",
                    "`",
                    "".join(chance.choices(WILD, k=8)),
                ]
            )
            for _ in range(3)
        }
        answer = viewer.get(path, **query)
        assert answer.status in (200, 400, 404), (path, query, answer)


# ---- Clients that are slow, or many ----


def test_a_client_that_says_nothing_is_sent_away(viewer, monkeypatch):
    monkeypatch.setattr(server, "_REQUEST_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", viewer.port), 20) as silent:
        assert silent.recv(100) == b""


def test_a_client_that_says_little_at_a_time_is_sent_away(viewer, monkeypatch):
    monkeypatch.setattr(server, "_REQUEST_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", viewer.port), 20) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        ended = time.monotonic() + 30
        with pytest.raises(OSError):
            while time.monotonic() < ended:
                slow.sendall(b"A: b\r\n")
                time.sleep(0.05)


def test_a_client_that_does_not_take_its_answer_keeps_nobody_waiting(viewer):
    asking = head(viewer, f"/{viewer.token}/bytes")
    held = [socket.create_connection(("127.0.0.1", viewer.port), 20) for _ in range(20)]
    for one in held:
        one.sendall(asking)
    assert viewer.get("").status == 200
    for one in held:
        one.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n", b"GET /x/ HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_clients_without_the_token_keep_nobody_waiting(viewer, sent):
    strangers = []
    for _ in range(3 * server._MOST_AT_ONCE + 8):
        strangers.append(socket.create_connection(("127.0.0.1", viewer.port), 20))
        strangers[-1].sendall(sent)
    start = time.monotonic()
    assert viewer.get("").status == 200
    assert time.monotonic() - start < 1
    for stranger in strangers:
        stranger.close()
    wait_until(lambda: not viewer.server.strangers)


def test_ten_thousand_connections_take_few_threads_and_little_memory(viewer, monkeypatch):
    monkeypatch.setattr(server, "_REQUEST_SECONDS", 0.3)
    before, most = threading.active_count(), 0
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    at_once = min(500, soft // 4)
    for _ in range(10_000 // at_once):
        held = []
        for _ in range(at_once):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", viewer.port))
            held.append(one)
        most = max(most, threading.active_count() - before)
        for one in held:
            one.close()
    assert most <= server._MOST_AT_ONCE
    assert viewer.get("").status == 200


# ---- Hostile records ----


def test_hostile_records_cost_little(tmp_path):
    """Each is a few megabytes, and would be gigabytes if all of it were made into objects at once."""
    names = b"".join(wire.field(1, wire.field(1, str(i).encode()) + wire.field(2, b"")) for i in range(200_000))
    records = {
        "integers": wire.example([(b"a", wire.field(3, wire.field(1, b"\x01" * (16 << 20))))]),
        "floats": wire.example([(b"a", wire.field(2, wire.field(1, bytes(16 << 20))))]),
        "steps": wire.field(2, wire.field(1, wire.field(1, b"s") + wire.field(2, b"\n\0" * (1 << 20)))),
        "features": wire.field(1, names),
        "fields": b"\x20\x01" * (8 << 20),
        "deep": nested(2000),
    }
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([*records.values()])
    process = subprocess.Popen([*COMMAND, "view", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        url = process.stdout.readline().decode().strip()
        port, token = int(url.split(":")[2].split("/")[0]), url.split("/")[3]
        for number in range(len(records)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
            connection.request("GET", f"/{token}/api/record?record={number}")
            answer = connection.getresponse()
            assert answer.status == 200 and len(answer.read()) < 1 << 20
        with open(f"/proc/{process.pid}/status") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        assert peak < 3 << 20  # KiB
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def nested(depth):
    made = b"\x08\x01"
    for _ in range(depth):
        made = wire.field(1, made)
    return made


def test_random_bytes_and_broken_examples_are_shown(tmp_path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    whole = wire.sequence_example(
        [(b"i", wire.feature("int64", [1, 2])), (b"f", wire.feature("float", [0.5]))],
        [(b"b", [wire.feature("bytes", [b"x", b"\xff"]), wire.feature("bytes", [])])],
    )
    records = [chance.randbytes(chance.randrange(60)) for _ in range(100)]
    for _ in range(200):
        broken = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        records.append(bytes(broken[: chance.randrange(len(broken) + 1)]))
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch(records)
    with viewing(tmp_path / "a") as viewer:
        for number, record in enumerate(records):
            made = viewer.ask("api/record", record=number)
            assert ("tree" in made or "problem" in made) and made["size"] == len(record), record
            assert viewer.get("bytes", record=number).content == record
            assert viewer.get("api/code", record=number).status == 200
            assert viewer.ask("api/find", record=number, where="i == 1 or b == 'x'").keys() & {"found", "problem"}


def test_descriptors_do_not_stay_open(viewer):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        viewer.get("bytes")
        viewer.send("/")
    assert len(os.listdir("/proc/self/fd")) <= before + 5
