"""Keys and regions in the files of AWS's tools: the same as botocore finds there."""

import os

import botocore.session
import pytest

from tfrecord_fast.files.stores.obstore_options import aws_file_options

CREDENTIALS = """
[default]
aws_access_key_id = AKDEFAULT
aws_secret_access_key = default/secret+=
[work]
aws_access_key_id=AKWORK
aws_secret_access_key = work # no comment
aws_session_token = token==
[half]
aws_access_key_id = AKHALF
"""
CONFIG = """
[default]
region = eu-west-1
[profile work]
region = ap-south-1
endpoint_url = http://127.0.0.1:9000
[profile in-config]
aws_access_key_id = AKCONFIG
aws_secret_access_key = config
region = us-west-2
[half]
region = not-this-one
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with both files, and nothing about AWS in the environment."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(CREDENTIALS)
    (tmp_path / ".aws" / "config").write_text(CONFIG)
    return tmp_path


def by_botocore():
    """What botocore finds, under our names; it looks at the environment itself."""
    session = botocore.session.Session()
    found = session.get_credentials()
    keys = (found.access_key, found.secret_key, found.token) if found else (None, None, None)
    options = dict(zip(("access_key_id", "secret_access_key", "session_token"), keys, strict=True))
    options["region"] = session.get_config_variable("region")
    return {name: value for name, value in options.items() if value is not None}


@pytest.mark.parametrize("profile", [None, "default", "work", "in-config"])
def test_keys_and_region_are_those_that_botocore_finds(profile, home, monkeypatch):
    if profile is not None:
        monkeypatch.setenv("AWS_PROFILE", profile)
    found = aws_file_options()
    assert found.pop("endpoint", None) == ("http://127.0.0.1:9000" if profile == "work" else None)
    assert found == by_botocore() and {"access_key_id", "secret_access_key", "region"} <= found.keys()


def test_files_of_other_names(home, monkeypatch):
    for name, variable in (("credentials", "AWS_SHARED_CREDENTIALS_FILE"), ("config", "AWS_CONFIG_FILE")):
        (home / ".aws" / name).rename(home / name)
        monkeypatch.setenv(variable, f"~/{name}")
    assert aws_file_options() == by_botocore()
    assert aws_file_options()["region"] == "eu-west-1" and aws_file_options()["access_key_id"] == "AKDEFAULT"


def test_keys_come_from_one_place(home, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKENVIRONMENT")
    assert aws_file_options() == {"region": "eu-west-1"}
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_PROFILE", "half")  # without a secret, and its region is that of [profile half]
    assert aws_file_options() == {}


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_the_environment_says_the_region(variable, home, monkeypatch):
    monkeypatch.setenv(variable, "sa-east-1")
    assert "region" not in aws_file_options() and aws_file_options()["access_key_id"] == "AKDEFAULT"


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
def test_the_environment_says_the_endpoint(variable, home, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    assert "endpoint" not in aws_file_options() and aws_file_options()["region"] == "ap-south-1"


@pytest.mark.parametrize("damage", [b"[default\n", b"\xff\xfe", b"key = without a section\n", None])
def test_files_that_can_not_be_read_say_nothing(damage, home):
    for name in ("credentials", "config"):
        (home / ".aws" / name).unlink()
        if damage is None:
            (home / ".aws" / name).mkdir()
        else:
            (home / ".aws" / name).write_bytes(damage)
    assert aws_file_options() == {}
