"""Nothing of a credential is in an error, a warning, a repr, a log or a pickle, whatever a server answers."""

import base64
import logging
import pickle
import threading
import traceback
import urllib.parse
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tfrecord_fast.files.naming.addresses import public_url
from tfrecord_fast.files.stores import ObjectCache, StoreSettings, find_store, read_range, retrying

from .child import HOST, free_port

SECRETS = [f"zQ{number}hush/hush+Hush={number}zQ" for number in range(6)]
FORMS = [
    form
    for secret in SECRETS
    for form in (
        secret,
        urllib.parse.quote(secret),
        urllib.parse.quote(secret, safe=""),
        repr(secret.encode())[2:-1],
        base64.b64encode(secret.encode()).decode().rstrip("=")[:-2],
    )
]
# Base64 of a text of which the secret is a part has it at another phase; so has a signature that is an echo of it.
MARK = "hush"


class Echo(BaseHTTPRequestHandler):
    """Answers with a status, and with all that it was told, in the ways in which servers say what went wrong."""

    protocol_version = "HTTP/1.1"
    status, form = 403, "xml"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        told = f"{self.path} {self.headers} {' '.join(SECRETS)}"
        body = {
            "xml": f"<Error><Code>AccessDenied</Code><Message>{told}</Message><Key>{SECRETS[0]}</Key></Error>",
            "code": f"<Error><Code>{SECRETS[0]}</Code><Message>{SECRETS[1]}</Message></Error>",
            "json": f'{{"error": {{"code": {self.status}, "message": {told!r}}}}}',
            "text": told,
            "none": "",
        }[self.form].encode()
        self.send_response(self.status, SECRETS[2])
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{SECRETS[3]}"')
        self.send_header("x-ms-error-code", SECRETS[4])
        if 300 <= self.status < 400:
            self.send_header("Location", f"http://{HOST}:1/{SECRETS[5]}?sig={SECRETS[5]}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def echo():
    server = ThreadingHTTPServer((HOST, 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


CLOSED = free_port()
NO_RETRIES = {"retry_config": {"max_retries": 0}}


def s3_options(port, spelling):
    names = {
        "obstore": ("aws_access_key_id", "aws_secret_access_key", "aws_session_token"),
        "short": ("access_key_id", "secret_access_key", "session_token"),
        "s3fs": ("key", "secret", "token"),
    }[spelling]
    return {
        **dict(zip(names, SECRETS, strict=False)),
        "region": "us-east-1",
        "endpoint": f"http://{HOST}:{port}",
        **NO_RETRIES,
    }


def gcs_options(port, spelling):
    bearer = {"client_options": {"default_headers": {"authorization": f"Bearer {SECRETS[0]}"}}}
    return {"endpoint": f"http://{HOST}:{port}", "skip_signature": "true", **bearer, **NO_RETRIES}


def azure_options(port, spelling):
    key = base64.b64encode(SECRETS[0].encode()).decode()
    secret = {
        "obstore": {"account_key": key},
        "short": {"sas_key": f"?sig={SECRETS[0]}"},
        "s3fs": {"bearer_token": SECRETS[0]},
    }[spelling]
    return {"account_name": "me", "endpoint": f"http://{HOST}:{port}", **secret, **NO_RETRIES}


def wrong_options(port, spelling):
    """What the library refuses before it asks anybody."""
    wrong = {
        "obstore": {"no_such_option": SECRETS[0]},
        "short": {"access_key_id": SECRETS[0], "region": 5, "secret_access_key": [SECRETS[1]]},
        "s3fs": {"endpoint": f"nonsense {SECRETS[0]}", "key": SECRETS[1], "secret": SECRETS[2]},
    }[spelling]
    return {**wrong, **NO_RETRIES}


KEY = "folder/key.tfrecord"
PLACES = {
    "s3": lambda port: f"s3://bucket/{KEY}",
    "gs": lambda port: f"gs://bucket/{KEY}",
    "az": lambda port: f"az://container/{KEY}",
    "http": lambda port: f"http://{HOST}:{port}/{KEY}",
    "http with a user": lambda port: f"http://me:{urllib.parse.quote(SECRETS[0], safe='')}@{HOST}:{port}/{KEY}",
    "http with a query": lambda port: (
        f"http://{HOST}:{port}/{KEY}?X-Amz-Signature={urllib.parse.quote(SECRETS[1], safe='')}"
    ),
    "chained": lambda port: f"zip://a::http://{HOST}:{port}/{KEY}?sig={urllib.parse.quote(SECRETS[1], safe='')}",
    "unknown": lambda port: f"nosuch://me:{urllib.parse.quote(SECRETS[0], safe='')}@{HOST}/{KEY}",
}
OPTIONS = {"s3": s3_options, "gs": gcs_options, "az": azure_options}


def upload(store, key, use):
    to = store.upload(key)
    try:
        to.write(b"x" * 100)
        to.complete()
    except BaseException:
        to.abort()
        raise


OPERATIONS = {
    "info": lambda store, key, use: store.info(key),
    "read": lambda store, key, use: store.read(key, 0, 10),
    "read of a version": lambda store, key, use: store.read(key, 0, 10, version='"other"'),
    "pieces": lambda store, key, use: list(store.pieces(key, 0, 10)),
    "read_range": lambda store, key, use: read_range(store, key, 0, 10, None, use),
    "list": lambda store, key, use: list(store.list(key)),
    "folders": lambda store, key, use: store.folders("folder/"),
    "upload": upload,
    "delete": lambda store, key, use: store.delete(key),
    "move": lambda store, key, use: store.move(key, key + "2"),
    "cache": lambda store, key, use: ObjectCache("/proc/none").open(store, key, None, use),
    "pickle": lambda store, key, use: pickle.dumps(store),
}


def shown(error):
    """All that can be seen of an error, with those that it has in it."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error), repr(error.args), repr(vars(error)), repr(getattr(error, "filename", ""))]
        texts += traceback.format_exception(error)
        texts += ["".join(getattr(error, "__notes__", []))]
        try:
            texts.append(repr(pickle.dumps(error)))
        except Exception as other:
            texts.append(repr(other))
        error = error.__cause__ or error.__context__
    return texts


def has_secret(text):
    return MARK in text or any(form in text for form in FORMS)


ERRORS = []  # kinds of them, of all examples


@settings(max_examples=260, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    place=st.sampled_from(sorted(PLACES)),
    spelling=st.sampled_from(["obstore", "short", "s3fs"]),
    operation=st.sampled_from(sorted(OPERATIONS)),
    status=st.sampled_from([200, 206, 301, 307, 400, 401, 403, 404, 409, 412, 416, 429, 500, 503]),
    form=st.sampled_from(["xml", "code", "json", "text", "none"]),
    is_closed=st.booleans().map(lambda drawn: drawn),
    is_wrong=st.integers(0, 7).map(lambda drawn: drawn == 0),
)
def test_no_error_has_a_secret(echo, caplog, place, spelling, operation, status, form, is_closed, is_wrong):
    port = CLOSED if is_closed and status == 500 else echo
    Echo.status, Echo.form = status, form
    make = wrong_options if is_wrong else OPTIONS.get(place, lambda port, spelling: {})
    use = StoreSettings(make(port, spelling) if place in OPTIONS else {}, timeout=0.05, request_timeout=5)
    seen = [repr(use)]
    with warnings.catch_warnings(record=True) as warned, caplog.at_level(logging.INFO):
        warnings.simplefilter("always")
        try:
            store, key = find_store(PLACES[place](port), use)
            seen += [repr(store), store.url(key)]
            seen.append(repr(OPERATIONS[operation](store, key, use))[:0])
        except Exception as error:
            ERRORS.append(type(error).__name__)
            seen += shown(error)
    seen += [str(one.message) for one in warned if "tfrecord_fast" in (one.filename or "")]
    seen += [record.getMessage() for record in caplog.records if record.name.startswith("tfrecord_fast")]
    for text in seen:
        assert not has_secret(text), text
    caplog.clear()


def test_there_were_enough_errors():
    assert len(ERRORS) >= 200
    assert {"PermissionError", "FileNotFoundError", "ConnectionError"} <= set(ERRORS)


def test_the_search_finds_what_it_looks_for(echo):
    Echo.status, Echo.form = 403, "text"
    error = RuntimeError("outer")
    error.__cause__ = ValueError(f"inner {SECRETS[1]}")
    assert any(has_secret(text) for text in shown(error))
    assert not any(has_secret(text) for text in shown(RuntimeError("outer")))


def test_a_list_of_files_says_nothing(echo):
    Echo.status, Echo.form = 403, "xml"
    with pytest.raises(PermissionError) as raised:
        tf.ShardList(PLACES["s3"](echo), storage_options=s3_options(echo, "s3fs"))
    assert not any(has_secret(text) for text in shown(raised.value))


READERS = {
    "iterate": lambda url, use: list(tf.ShardReader(url, **use)),
    "iterate the cached": lambda url, use: list(tf.ShardReader(url, cache_dir="/proc/none", **use)),
    "length": lambda url, use: len(tf.ShardReader(url, **use)),
    "state": lambda url, use: tf.ShardReader(url, **use).state_dict(),
    "state of an iteration": lambda url, use: stood(tf.ShardReader(url, **use)),
    "infer": lambda url, use: tf.infer_features(url, **use),
    "infer in a reader": lambda url, use: list(tf.ShardReader(url, "infer", **use)),
    "dataset": lambda url, use: list(tf.TFRecordDataset(url, **use)),
    "shown dataset": lambda url, use: repr(tf.TFRecordDataset(url, **use)),
    "table": lambda url, use: tf.read_table(url, **use),
    "shown reader": lambda url, use: repr(tf.ShardReader(url, **use)),
    "list": lambda url, use: tf.ShardList(url, **use),
    "pattern": lambda url, use: list(tf.ShardReader(url.replace("key", "*"), **use)),
}


def stood(reader):
    try:
        next(iter(reader))
    except Exception:
        pass
    return reader.state_dict()


@pytest.mark.parametrize(
    "status, form", [(200, "text"), (206, "none"), (307, "xml"), (403, "code"), (404, "json"), (412, "text")]
)
@pytest.mark.parametrize("place", ["s3", "gs", "az", "http with a query", "http with a user"])
def test_no_reader_shows_a_secret(echo, monkeypatch, place, status, form):
    monkeypatch.setattr(retrying, "is_worth_another_try", lambda *given: False)
    Echo.status, Echo.form = status, form
    url = PLACES[place](echo)
    use = {"storage_options": OPTIONS[place](echo, "obstore")} if place in OPTIONS else {}
    for name, read in READERS.items():
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                seen = [repr(read(url, use))]
            except Exception as error:
                seen = shown(error)
        for text in [*seen, *(str(one.message) for one in warned)]:
            assert not has_secret(text), (name, text)


@pytest.mark.parametrize(
    ("url", "shown_as"),
    [
        ("https://me:hush@h/a", "https://h/a"),
        ("https://me:hu@sh@h/a", "https://h/a"),
        ("https://me:hu/sh@h/a", "https://h/a"),
        ("ftp://me@h/a@b", "ftp://h/a@b"),
        ("https://h:80/a@b", "https://h:80/a@b"),
        ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
        ("s3://b/a@b", "s3://b/a@b"),
        ("s3://b/a?X-Amz-Signature=hush", "s3://b/a"),
        ("https://h/a#sig=hush", "https://h/a"),
        ("s3://b/what?", "s3://b/what?"),
        ("abfs://c@account.host/a?sig=hush", "abfs://c@account.host/a"),
        ("zip://a::https://me:hu@sh@h/a?token=hush", "zip://a::https://h/a"),
    ],
)
def test_what_is_shown_of_a_url(url, shown_as):
    assert public_url(url) == shown_as


def test_a_pattern_without_matches_is_shown_without_its_secrets(tmp_path):
    for one in (f"https://me:{SECRETS[0]}@{HOST}:{CLOSED}/a", f"memory://me:{SECRETS[0]}@x/*?token={SECRETS[1]}"):
        for patterns in (one, [one, f"{tmp_path}/*"]):
            with pytest.raises(Exception) as caught:
                tf.data.Dataset.list_files(patterns)
            assert not any(has_secret(text) for text in shown(caught.value)), caught.value
