"""Stores for the tests: each server starts when it is first used, and stops after the last test of the process."""

import tempfile
import threading

import pytest

from tools.remote.over_s3 import over_s3

from . import http_files
from .child import HOST
from .proxy import Proxy
from .servers import AzureBucket, Child, GcsBucket, HttpFolder, S3Bucket

__all__ = ["over_s3"]


@pytest.fixture(scope="session")
def moto_port():
    server = Child("moto")
    yield server.port
    server.close()


@pytest.fixture(scope="session")
def nanio_folder():
    with tempfile.TemporaryDirectory() as folder:
        yield folder


@pytest.fixture(scope="session")
def nanio_port(nanio_folder):
    server = Child("nanio", nanio_folder)
    yield server.port
    server.close()


@pytest.fixture(scope="session")
def gcs_port():
    server = Child("gcs")
    yield server.port
    server.close()


@pytest.fixture(scope="session")
def azure_port():
    server = Child("azure")
    yield server.port
    server.close()


@pytest.fixture
def http_folder():
    """A folder over HTTP."""
    folder = HttpFolder()
    yield folder
    folder.close()


@pytest.fixture
def chosen(tmp_path):
    """A function from names of files in `tmp_path` to their URLs, which differ in their queries only."""
    server = http_files.Server((HOST, 0), type("Handler", (http_files.Chooser,), {"folder": str(tmp_path)}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield lambda name: f"http://{HOST}:{server.server_port}/get?file={name}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def s3(moto_port):
    """A bucket of S3 for one test."""
    return S3Bucket(moto_port)


@pytest.fixture
def signed_s3(nanio_port):
    """A bucket of S3, in a server that checks signatures and keeps parts of uploads as files."""
    return S3Bucket(nanio_port)


@pytest.fixture
def gcs(gcs_port):
    """A bucket of GCS for one test."""
    return GcsBucket(gcs_port)


@pytest.fixture
def azure(azure_port):
    """A container of Azure for one test."""
    return AzureBucket(azure_port)


@pytest.fixture(params=["s3", "signed_s3", "gcs", "azure"])
def bucket(request):
    """A bucket of each kind."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def session_proxy(moto_port):
    proxy = Proxy(moto_port)
    yield proxy
    proxy.close()


@pytest.fixture
def s3_proxy(session_proxy):
    """The proxy in front of `proxied_s3`: without faults before and after each test."""
    session_proxy.configure()
    yield session_proxy
    session_proxy.configure()


@pytest.fixture
def proxied_s3(moto_port, s3_proxy):
    """A bucket of S3 that the package reaches through `s3_proxy`, and the tests directly."""
    return S3Bucket(moto_port, s3_proxy.port)
