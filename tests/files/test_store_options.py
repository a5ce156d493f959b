"""Options of stores of objects, in everybody's spelling, as obstore takes them; by what they are told apart."""

import os

import pytest

from tests.support.forks import status_of_child
from tfrecord_fast.files.naming.addresses import address_of
from tfrecord_fast.files.stores import find_store, finding
from tfrecord_fast.files.stores import obstore_options as options_module
from tfrecord_fast.files.stores.obstore_options import cloud_options

CLIENT = {"connect_timeout": "10s", "read_timeout": "30s"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """The environment and the files of AWS say nothing."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "STORAGE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(options_module, "aws_file_options", dict)
    monkeypatch.setattr(options_module, "CONNECT_TIMEOUT", 10.0)
    monkeypatch.setattr(options_module, "STALL_TIMEOUT", 30.0)


def made(url, **given):
    return cloud_options(address_of(url), given)


@pytest.mark.parametrize(
    ("url", "given", "config"),
    [
        ("s3://b/x", {"anon": True}, {"skip_signature": True}),
        ("s3://b/x", {"key": "k", "secret": "s", "token": "t"},
         {"access_key_id": "k", "secret_access_key": "s", "session_token": "t"}),
        ("s3://b/x", {"aws_access_key_id": "k", "aws_secret_access_key": "s", "aws_session_token": "t"},
         {"access_key_id": "k", "secret_access_key": "s", "session_token": "t"}),
        ("s3://b/x", {"REGION": "r", "key": None, "requester_pays": True}, {"region": "r", "request_payer": True}),
        ("s3a://b/x", {"client_kwargs": {"region_name": "r"}}, {"region": "r"}),
        ("s3://b/x", {"endpoint_url": "https://h/"}, {"endpoint": "https://h", "virtual_hosted_style_request": False}),
        ("s3://b/x", {"endpoint": "https://h", "virtual_hosted_style_request": True},
         {"endpoint": "https://h", "virtual_hosted_style_request": True}),
        ("gs://b/x", {"token": "anon"}, {"skip_signature": True}),
        ("gcs://b/x", {"token": "google_default"}, {}),
        ("gs://b/x", {"token": None}, {}),
        ("gs://b/x", {"token": "/k/a.json"}, {"application_credentials": "/k/a.json"}),
        ("gs://b/x", {"endpoint_url": "https://h"}, {"base_url": "https://h"}),
        ("az://c/x", {"account_name": "a", "sas_token": "s"}, {"account_name": "a", "sas_key": "s"}),
        ("az://c/x", {"access_key": "k", "endpoint_url": "https://h"}, {"account_key": "k", "endpoint": "https://h"}),
        ("abfs://c@a.dfs.core.windows.net/x", {}, {"account_name": "a"}),
        ("abfss://c@a.dfs.core.windows.net/x", {"account_name": "other"}, {"account_name": "other"}),
        ("https://h/x", {}, {}),
    ],
)  # fmt: skip
def test_spellings(url, given, config):
    found = made(url, **given)
    assert found.config == config and found.client == CLIENT and found.retries is None and found.part_bytes is None
    assert found.credentials is None


def test_a_home_folder_is_that_of_the_user(monkeypatch):
    monkeypatch.setenv("HOME", "/somebody")
    assert made("gs://b/x", token="~/a.json").config == {"application_credentials": "/somebody/a.json"}


@pytest.mark.parametrize(
    ("url", "place", "kind"),
    [
        ("s3://b/x", "b", "S3"),
        ("gs://b/x", "b", "GCS"),
        ("abfs://c@a.dfs.core.windows.net/x", "c", "Azure"),
        ("az://c/x", "c", "Azure"),
        ("http://h:80/x", "h:80", "HTTP"),
    ],
)
def test_where_it_is(url, place, kind):
    assert (made(url).bucket, made(url).provider) == (place, kind)


@pytest.mark.parametrize(
    ("given", "client"),
    [
        ({"use_ssl": False}, {"allow_http": True}),
        ({"client_kwargs": {"use_ssl": False}}, {"allow_http": True}),
        ({"use_ssl": True}, {}),
        ({"client_kwargs": {"use_ssl": True, "verify": True}}, {}),
        ({"client_kwargs": {"verify": False}}, {"allow_invalid_certificates": True}),
        ({"client_kwargs": None, "client_options": None}, {}),
        ({"timeout": "3s", "Proxy_URL": "p"}, {"timeout": "3s", "proxy_url": "p"}),
        ({"connect_timeout": "3s", "client_options": {"read_timeout": "4s", "user_agent": "u"}},
         {"connect_timeout": "3s", "read_timeout": "4s", "user_agent": "u"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", ["s3://b/x", "gs://b/x", "az://c/x"])
def test_what_is_the_clients(url, given, client):
    found = made(url, **given)
    assert found.client == {**CLIENT, **client} and found.config == {}


@pytest.mark.parametrize(
    ("url", "given"),
    [
        ("memory://b/x", {}),
        ("s3://b/x", {"profile": "p"}),
        ("s3://b/x", {"skip_instance_cache": True}),
        ("gs://b/x", {"project": "p"}),
        ("gs://b/x", {"token": "cloud"}),
        ("gs://b/x", {"token": {"client_id": "x"}}),
        ("az://c/x", {"connection_string": "s"}),
        ("https://h/x", {"headers": {}}),
    ],
)
def test_what_only_a_file_system_of_fsspec_knows(url, given):
    assert made(url, **given) is None


def test_what_one_cloud_knows_may_be_an_option_of_another():
    assert made("s3://b/x", project="p").config == {"project": "p"}


def test_what_has_a_place_of_its_own():
    def provider():
        raise AssertionError

    found = made("s3://b/x", retry_config={"max_retries": 3}, credential_provider=provider, part_bytes=5 << 20)
    assert (found.retries, found.credentials, found.part_bytes) == ({"max_retries": 3}, provider, 5 << 20)
    assert found.config == {} and found.client == CLIENT


@pytest.mark.parametrize("given", [5 << 20, 5 << 30])
def test_the_size_of_parts_has_bounds(given):
    assert made("s3://b/x", part_bytes=given).part_bytes == given


@pytest.mark.parametrize("given", [(5 << 20) - 1, (5 << 30) + 1, True, "5242880", 6e6])
def test_a_size_of_parts_out_of_bounds_is_refused(given):
    with pytest.raises(ValueError, match="part_bytes must be an integer from 5 MiB to 5 GiB"):
        made("s3://b/x", part_bytes=given)


@pytest.mark.parametrize(
    ("url", "environment", "config", "client"),
    [
        ("s3://b/x", {"AWS_ENDPOINT_URL_S3": "https://h/"},
         {"endpoint": "https://h", "virtual_hosted_style_request": False}, {}),
        ("s3://b/x", {"AWS_ENDPOINT_URL_S3": "http://h"},
         {"endpoint": "http://h", "virtual_hosted_style_request": False}, {"allow_http": True}),
        ("s3://b/x", {"AWS_ENDPOINT_URL": "http://h"}, {}, {"allow_http": True}),
        ("s3://b/x", {"AWS_ENDPOINT": "https://h"}, {}, {}),
        ("az://c/x", {"AZURE_STORAGE_ENDPOINT": "http://h"}, {}, {"allow_http": True}),
        ("az://c/x", {"AZURE_ENDPOINT": "http://h"}, {}, {"allow_http": True}),
        ("az://c/x", {"AWS_ENDPOINT_URL": "http://h"}, {}, {}),
        ("gs://b/x", {"STORAGE_EMULATOR_HOST": "h:1/"}, {"base_url": "http://h:1", "skip_signature": True},
         {"allow_http": True}),
        ("gs://b/x", {"STORAGE_EMULATOR_HOST": "https://h"}, {"base_url": "https://h", "skip_signature": True}, {}),
        ("s3://b/x", {"STORAGE_EMULATOR_HOST": "h"}, {}, {}),
        ("http://h/x", {}, {}, {"allow_http": True}),
    ],
)  # fmt: skip
def test_what_the_environment_says(monkeypatch, url, environment, config, client):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = made(url)
    assert found.config == config and found.client == {**CLIENT, **client}


def test_what_is_given_counts_before_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://h")
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "h")
    assert made("s3://b/x", endpoint="https://o").config["endpoint"] == "https://o"
    assert made("s3://b/x", endpoint="https://o").client == CLIENT
    found = made("gs://b/x", base_url="https://o", skip_signature=False)
    assert found.config == {"base_url": "https://o", "skip_signature": False}
    assert made("s3://b/x", endpoint="http://o", allow_http=False).client["allow_http"] is False


@pytest.mark.parametrize("given", [{"key": "k"}, {"anon": False}, {"credential_provider": dict}])
def test_the_files_of_aws_are_read_where_no_credentials_are_given(monkeypatch, given):
    monkeypatch.setattr(options_module, "aws_file_options", lambda: {"access_key_id": "f", "region": "file"})
    assert made("s3://b/x").config == {"access_key_id": "f", "region": "file"}
    assert made("s3://b/x", region="mine").config == {"access_key_id": "f", "region": "mine"}
    assert "file" not in made("s3://b/x", **given).config.values()
    assert made("gs://b/x").config == {}


@pytest.mark.parametrize("said", [True, "True", "1", "yes", "on"])
def test_an_emulator_that_wants_no_token_gets_one_of_nobody(said):
    found = made("gs://b/x", base_url="http://h", skip_signature=said)
    assert found.credentials() == {"token": "anonymous", "expires_at": None}


@pytest.mark.parametrize(
    ("url", "given"),
    [
        ("gs://b/x", {"base_url": "http://h", "skip_signature": "no"}),
        ("gs://b/x", {"base_url": "http://h"}),
        ("gs://b/x", {"skip_signature": True}),
        ("s3://b/x", {"base_url": "http://h", "skip_signature": True}),
    ],
)
def test_others_get_none(url, given):
    assert made(url, **given).credentials is None


# ---- Which store ----


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"anon": True, "client_options": {"timeout": "3s", "user_agent": "u"}},
         {"client_options": {"user_agent": "u", "timeout": "3s"}, "anon": True}),
        ({"anon": True, "client_options": {"default_headers": {"a": "b"}}},
         {"anon": True, "client_options": {"default_headers": {"a": "b"}}}),
    ],
)  # fmt: skip
def test_equal_options_lead_to_the_same_store(one, other):
    assert find_store("s3://b/x", one)[0] is find_store("s3://b/y", other)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"anon": True}, {"anon": "true"}),
        ({"anon": True}, {"anon": True, "region": "r"}),
        ({"anon": True, "region": "r"}, {"anon": True, "region": "s"}),
    ],
)
def test_other_options_lead_to_another_store(one, other):
    assert find_store("s3://b/x", one)[0] is not find_store("s3://b/x", other)[0]


def test_the_environment_tells_stores_apart(monkeypatch):
    before = find_store("s3://b/x", {"anon": True})[0]
    monkeypatch.setenv("AWS_REGION", "elsewhere")
    assert find_store("s3://b/x", {"anon": True})[0] is not before
    monkeypatch.delenv("AWS_REGION")
    assert find_store("s3://b/x", {"anon": True})[0] is before


class Unhashable:
    """Of something that is given as an option, and equals all others of its class."""

    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, Unhashable)


def test_what_can_not_be_hashed_is_told_apart_by_what_it_is():
    one, other = Unhashable(), Unhashable()
    frozen = [finding._frozen({"b": [1, one], "a": ("x",)}) for _ in range(2)]
    assert frozen[0] == frozen[1] and hash(frozen[0]) == hash(frozen[1])
    assert finding._frozen(one) != finding._frozen(other) and finding._frozen(one) != one
    assert hash(finding._frozen(one)) == id(one)
    assert finding._frozen({"a": 1, "b": 2}) == finding._frozen({"b": 2, "a": 1})
    assert finding._frozen([1]) != finding._frozen([True]) and finding._frozen([1, 2]) != finding._frozen([2, 1])


def test_the_stores_that_were_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(finding, "_kept", finding._Kept())
    monkeypatch.setattr(finding, "_MOST", 3)
    stores = [finding._kept_store(i, object) for i in range(3)]
    assert finding._kept_store(0, object) is stores[0]
    added = finding._kept_store(3, object)
    assert [finding._kept_store(i, object) is store for i, store in ((0, stores[0]), (2, stores[2]), (3, added))] == [
        True
    ] * 3
    assert list(finding._kept.stores) == [0, 2, 3] and finding._kept_store(1, object) is not stores[1]


def test_a_forked_process_has_stores_of_its_own_and_keeps_the_others(monkeypatch):
    before = find_store("s3://b/x", {"anon": True})[0]
    kept = finding._kept

    def is_another():
        with kept.lock:  # as if a thread held it that is not here
            other = find_store("s3://b/x", {"anon": True})[0]
        return other is not before and finding._before == [kept] and find_store("s3://b/x", {"anon": True})[0] is other

    assert status_of_child(is_another) == 0
    monkeypatch.setattr(finding, "_before", [])
    monkeypatch.setattr(finding, "_kept", kept)
    monkeypatch.setattr(kept, "origin", finding.Origin())
    kept.origin._process = -1
    assert find_store("s3://b/x", {"anon": True})[0] is not before
    assert finding._before == [kept] and finding._kept is not kept and finding._kept.origin.is_here()
