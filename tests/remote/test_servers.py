"""The servers and the proxy themselves: what the other tests here stand on."""

import http.client
import socket
import threading
import time

import pytest

from .child import HOST
from .proxy import EVERY_TIME, FAULTS, Fault

DATA = bytes(range(256)) * 400


def ask(port, method="GET", target="/", body=b"", headers=None, timeout=5.0):
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    try:
        connection.request(method, target, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_bucket_gives_back_what_was_put(bucket):
    url = bucket.put("a/b c.bin", DATA)
    assert bucket.get("a/b c.bin") == DATA
    assert bucket.keys() == ["a/b c.bin"]
    assert url == f"{bucket.scheme}://{bucket.name}/a/b c.bin"
    assert bucket.uploads() == []
    bucket.delete("a/b c.bin")
    assert bucket.keys() == []


def test_more_keys_than_a_page_are_listed(s3):
    for number in range(10):
        s3.put(f"{number:04}", b"")
    assert s3.keys(page=3) == [f"{number:04}" for number in range(10)]


def test_a_wrong_signature_is_refused(signed_s3):
    signed_s3.secret = "wrong"
    with pytest.raises(RuntimeError, match="403"):
        signed_s3.put("a", b"")


def test_a_folder_over_http_has_ranges_and_conditions(http_folder):
    http_folder.put("a/b.bin", DATA)
    assert ask(http_folder.port, target="/a/b.bin") == (200, DATA)
    assert ask(http_folder.port, target="/a/b.bin", headers={"Range": "bytes=3-9"}) == (206, DATA[3:10])
    assert ask(http_folder.port, target="/a/b.bin", headers={"If-Match": '"other"'})[0] == 412
    assert ask(http_folder.port, target="/a/c.bin")[0] == 404
    assert ask(http_folder.port, "HEAD", "/a/b.bin") == (200, b"")


class Client:
    """Asks the proxy for objects of a bucket."""

    def __init__(self, bucket):
        self.bucket = bucket

    def ask(self, method="GET", key="a", body=b"", headers=None, timeout=5.0):
        target = f"/{self.bucket.name}/{key}"
        signed = self.bucket.signed(method, target, body, self.bucket.seen_at)
        return ask(self.bucket.seen_at, method, target, body, {**signed, **(headers or {})}, timeout)


@pytest.fixture
def client(proxied_s3):
    proxied_s3.put("a", DATA)
    return Client(proxied_s3)


def test_the_proxy_passes_on_and_counts(client, s3_proxy):
    target = f"/{client.bucket.name}/a"
    assert client.ask() == (200, DATA)
    assert client.ask(headers={"Range": "bytes=5-9"}) == (206, DATA[5:10])
    assert client.ask("HEAD") == (200, b"")
    assert client.ask("PUT", "b", DATA)[0] == 200
    assert client.bucket.get("b") == DATA
    seen = [(one.method, one.path, one.range, one.status, one.fault, one.sent) for one in s3_proxy.requests()]
    assert seen == [
        ("GET", target, None, 200, None, len(DATA)),
        ("GET", target, (5, 10), 206, None, 5),
        ("HEAD", target, None, 200, None, 0),
        ("PUT", f"/{client.bucket.name}/b", None, 200, None, 0),
    ]


def test_a_connection_is_used_again(client, s3_proxy):
    target = f"/{client.bucket.name}/a"
    others = s3_proxy.open_connections()  # of earlier tests
    s3_proxy.clear()
    connection = http.client.HTTPConnection(HOST, s3_proxy.port)
    for _ in range(3):
        connection.request("GET", target, headers=client.bucket.signed("GET", target, port=s3_proxy.port))
        assert connection.getresponse().read() == DATA
    assert s3_proxy.most_connections() <= others + 1
    connection.close()


def test_latency_and_rate_are_kept(client, s3_proxy):
    s3_proxy.configure(latency=0.05, rate=len(DATA) * 5)
    start = time.monotonic()
    assert client.ask() == (200, DATA)
    assert time.monotonic() - start >= 0.25


FAILED = (http.client.HTTPException, ConnectionError, TimeoutError)


@pytest.mark.parametrize("kind", ["reset", "reset_in_answer", "short", "stall", "stall_in_answer", "drop_answer"])
def test_a_fault_comes_at_its_request_only(client, s3_proxy, kind):
    s3_proxy.configure(Fault(kind, at=1))
    assert client.ask() == (200, DATA)
    with pytest.raises(FAILED):
        client.ask(timeout=0.5)
    assert client.ask() == (200, DATA)
    assert [one.fault for one in s3_proxy.requests()] == [None, kind, None]


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_status_is_answered_in_place_of_the_server(client, s3_proxy, status):
    s3_proxy.configure(Fault(str(status), times=EVERY_TIME, method="GET"))
    assert client.ask()[0] == status
    assert client.ask("PUT", "c", DATA)[0] == 200


def test_bodies_are_damaged(client, s3_proxy):
    s3_proxy.configure(Fault("corrupt", 0), Fault("lie", 1), Fault("whole", 2))
    status, damaged = client.ask()
    assert (status, len(damaged)) == (200, len(DATA))
    assert [at for at in range(len(DATA)) if damaged[at] != DATA[at]] == [len(DATA) // 2]
    assert client.ask() == (200, DATA[: len(DATA) // 2])
    assert client.ask(headers={"Range": "bytes=5-9"}) == (200, DATA)


def test_a_request_is_cut_before_the_server_sees_it(client, s3_proxy):
    s3_proxy.configure(Fault("reset_in_request"), Fault("drop_answer", 1))
    with pytest.raises(FAILED):
        client.ask("PUT", "b", DATA)
    assert client.bucket.keys() == ["a"]
    with pytest.raises(FAILED):
        client.ask("PUT", "b", DATA)
    assert client.bucket.get("b") == DATA


def test_what_stalls_ends_with_other_orders(client, s3_proxy):
    s3_proxy.configure(Fault("stall"))
    ended = threading.Event()

    def wait():
        with socket.create_connection((HOST, s3_proxy.port), timeout=20) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try:
                connection.recv(1)
            except ConnectionError:
                ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    while not s3_proxy.requests():
        time.sleep(0.01)
    s3_proxy.configure()
    thread.join(20)
    assert ended.is_set()


def test_every_fault_is_tried_here():
    tried = {"reset", "reset_in_answer", "short", "stall", "stall_in_answer", "drop_answer", "500", "503", "429"}
    assert tried | {"corrupt", "lie", "whole", "reset_in_request"} == FAULTS.keys()
