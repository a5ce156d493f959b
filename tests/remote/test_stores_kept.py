"""Stores are kept, and found again by what they were made with."""

import datetime

import pytest

from tfrecord_fast.files.naming.addresses import Address
from tfrecord_fast.files.stores import find_store
from tfrecord_fast.files.stores.obstore_options import cloud_options

KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region": "us-east-1"}


def provider_of(name):
    def provider():
        return {"access_key_id": name, "secret_access_key": name, "expires_at": None}

    return provider


def store_with(**options):
    return find_store("s3://bucket/key", {"region": "us-east-1", **options})[0]


def test_equal_options_find_the_same_store():
    def options():
        return {**KEYS, "retry_config": {"max_retries": 1, "retry_timeout": datetime.timedelta(seconds=1)}}

    assert store_with(**options()) is store_with(**options())


def test_other_credentials_find_another_store():
    assert store_with(**KEYS) is not store_with(**KEYS | {"aws_secret_access_key": "c"})


def test_a_provider_that_is_gone_is_not_taken_for_a_new_one():
    stores = [store_with(credential_provider=provider_of(str(number))) for number in range(40)]
    assert len({id(store) for store in stores}) == len(stores)


@pytest.mark.parametrize("host", ["localhost:4443", "http://localhost:4443/"])
def test_the_emulator_of_the_environment_is_gcs_s(monkeypatch, host):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", host)
    google = cloud_options(Address("gs", "bucket", "key"), {})
    assert google.config == {"base_url": "http://localhost:4443", "skip_signature": True}
    assert google.client["allow_http"] is True
    assert "base_url" not in cloud_options(Address("s3", "bucket", "key"), KEYS).config


def test_options_of_the_client_may_stand_among_those_of_the_store():
    options = {**KEYS, "User_Agent": "me", "allow_http": "true", "client_options": {"timeout": "9 s"}}
    made = cloud_options(Address("s3", "bucket", "key"), options)
    assert {"user_agent": "me", "allow_http": "true", "timeout": "9 s"}.items() <= made.client.items()
    assert not {"user_agent", "allow_http"} & made.config.keys()


def test_other_variables_of_the_environment_find_another_store(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a")
    before = store_with()
    assert store_with() is before
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    assert store_with() is not before
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a")
    assert store_with() is before
