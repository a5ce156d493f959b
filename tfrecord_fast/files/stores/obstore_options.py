"""Options of object stores, spelled as for obstore or for s3fs, gcsfs and adlfs, converted to obstore's."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..naming.addresses import Address
from .settings import CONNECT_TIMEOUT, STALL_TIMEOUT

SCHEMES = {
    "s3": "S3",
    "s3a": "S3",
    "gs": "GCS",
    "gcs": "GCS",
    "az": "Azure",
    "abfs": "Azure",
    "abfss": "Azure",
    "http": "HTTP",
    "https": "HTTP",
}

# Options of obstore's clients; all others are options of a store.
_CLIENT_OPTIONS = set(
    "allow_http allow_invalid_certificates connect_timeout default_content_type default_headers http1_only http2_only "
    "pool_idle_timeout pool_max_idle_per_host proxy_ca_certificate proxy_excludes proxy_url randomize_addresses "
    "read_timeout root_certificate timeout user_agent".split()
)

_SPELLINGS = {
    "S3": {
        "anon": "skip_signature",
        "aws_access_key_id": "access_key_id",
        "aws_secret_access_key": "secret_access_key",
        "aws_session_token": "session_token",
        "endpoint_url": "endpoint",
        "key": "access_key_id",
        "region_name": "region",
        "requester_pays": "request_payer",
        "secret": "secret_access_key",
        "token": "session_token",
    },
    "GCS": {"anon": "skip_signature", "endpoint": "base_url", "endpoint_url": "base_url"},
    "Azure": {
        "access_key": "account_key",
        "anon": "skip_signature",
        "endpoint_url": "endpoint",
        "sas_token": "sas_key",
    },
    "HTTP": {},
}

# Options that only fsspec's file systems have.
_FSSPEC_OPTIONS = {
    "S3": "cache_regions config_kwargs default_block_size default_cache_type profile s3_additional_kwargs session "
    "version_aware",
    "GCS": "access consistency default_location project session_kwargs",
    "Azure": "credential connection_string",
    "HTTP": "block_size client_kwargs encoded get_client headers simple_links",
}
_FSSPEC_OPTIONS_OF_ALL = "asynchronous loop skip_instance_cache use_listings_cache listings_expiry_time max_paths"
_ENDPOINTS = {
    "S3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "Azure": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
    "GCS": ("STORAGE_EMULATOR_HOST",),
}


class CloudOptions(NamedTuple):
    provider: str  # "S3", "GCS", "Azure", "HTTP"
    bucket: str  # or a container or a host
    config: dict[str, Any]
    client: dict[str, Any]
    retries: Any
    credentials: Any
    part_bytes: int | None  # of uploads


def cloud_options(address: Address, storage_options: Mapping[str, Any]) -> CloudOptions | None:
    """Convert `storage_options`; return None if only fsspec supports the scheme or an option."""
    provider = SCHEMES.get(address.scheme)
    if provider is None:
        return None
    fsspec_options = f"{_FSSPEC_OPTIONS[provider]} {_FSSPEC_OPTIONS_OF_ALL}".split()
    if any(name in storage_options for name in fsspec_options):
        return None
    options = dict(storage_options)
    nested = options.pop("client_kwargs", None) or {}
    client = dict(options.pop("client_options", None) or {})
    retries, credentials = options.pop("retry_config", None), options.pop("credential_provider", None)
    part_bytes = _part_bytes(options.pop("part_bytes", None))
    if options.pop("use_ssl", True) is False or nested.get("use_ssl") is False:
        client["allow_http"] = True
    if nested.get("verify") is False:
        client["allow_invalid_certificates"] = True
    options |= {name: value for name, value in nested.items() if name not in ("use_ssl", "verify")}
    if provider == "GCS" and not _translate_google(options):
        return None
    spellings = _SPELLINGS[provider]
    config: dict[str, Any] = {}
    for name, value in options.items():
        name = name.lower()
        if value is None:
            continue
        if name in _CLIENT_OPTIONS:
            client[name] = value
        else:
            config[spellings.get(name, name)] = value
    _complete(provider, address, config, client, credentials is not None)
    if provider == "GCS" and credentials is None and "base_url" in config and _is_true(config.get("skip_signature")):
        credentials = _anonymous  # without them, obstore requests a token before it writes
    return CloudOptions(
        provider, _bucket_of(provider, address, config), config, client, retries, credentials, part_bytes
    )


def _part_bytes(size: object) -> int | None:
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or not 5 << 20 <= size <= 5 << 30:
        raise ValueError("storage_options: part_bytes must be an integer from 5 MiB to 5 GiB")
    return size


def _is_true(value: object) -> bool:
    return value is True or str(value).lower() in ("true", "1", "yes", "on")


def _anonymous() -> dict[str, Any]:
    return {"token": "anonymous", "expires_at": None}


def _translate_google(options: dict[str, Any]) -> bool:
    """Convert gcsfs's `token`; return False if only gcsfs supports its value."""
    token = options.pop("token", None)
    if token == "anon":
        options["anon"] = True
    elif isinstance(token, str) and token.endswith(".json"):
        options["application_credentials"] = os.path.expanduser(token)
    elif token is not None and token != "google_default":
        return False
    return True


def _bucket_of(provider: str, address: Address, config: dict[str, Any]) -> str:
    if provider != "Azure":
        return address.bucket
    container, _, host = address.bucket.partition("@")
    if host:
        config.setdefault("account_name", host.partition(".")[0])
    return container


def _complete(
    provider: str, address: Address, config: dict[str, Any], client: dict[str, Any], has_credentials: bool
) -> None:
    client.setdefault("connect_timeout", f"{CONNECT_TIMEOUT:g}s")
    client.setdefault("read_timeout", f"{STALL_TIMEOUT:g}s")
    if provider == "S3":
        if not has_credentials and not {"access_key_id", "skip_signature"} & config.keys():
            for name, value in aws_file_options().items():
                config.setdefault(name, value)
        if "endpoint" not in config and os.environ.get("AWS_ENDPOINT_URL_S3"):
            config["endpoint"] = os.environ["AWS_ENDPOINT_URL_S3"]
        if "endpoint" in config:
            config["endpoint"] = config["endpoint"].rstrip("/")
            config.setdefault("virtual_hosted_style_request", False)
    if provider == "GCS" and os.environ.get("STORAGE_EMULATOR_HOST"):
        host = os.environ["STORAGE_EMULATOR_HOST"].rstrip("/")
        config.setdefault("base_url", host if "://" in host else f"http://{host}")
        config.setdefault("skip_signature", True)
    endpoint = config.get("endpoint") or config.get("base_url")
    endpoint = endpoint or next((os.environ[name] for name in _ENDPOINTS.get(provider, ()) if os.environ.get(name)), "")
    if address.scheme == "http" or str(endpoint).startswith("http://"):
        client.setdefault("allow_http", True)


_AWS_FILE_OPTIONS = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "region": "region",
    "endpoint_url": "endpoint",
}
_AWS_VARIABLES = {"region": ("AWS_REGION", "AWS_DEFAULT_REGION"), "endpoint": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")}


def aws_file_options() -> dict[str, str]:
    """Return the options in AWS' files for AWS_PROFILE (or "default") that the environment does not set.

    Files that are missing or can't be read set nothing; obstore then looks for a role or a machine identity.
    """
    profile = os.environ.get("AWS_PROFILE", "default")
    config = _section("AWS_CONFIG_FILE", "~/.aws/config", profile if profile == "default" else f"profile {profile}")
    entries = config | _section("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", profile)
    options = {_AWS_FILE_OPTIONS[name]: value for name, value in entries.items() if name in _AWS_FILE_OPTIONS}
    if os.environ.get("AWS_ACCESS_KEY_ID") or not {"access_key_id", "secret_access_key"} <= options.keys():
        for name in ("access_key_id", "secret_access_key", "session_token"):
            options.pop(name, None)
    for name, variables in _AWS_VARIABLES.items():
        if any(os.environ.get(variable) for variable in variables):
            options.pop(name, None)
    return options


def _section(variable: str, usual: str, name: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(os.path.expanduser(os.environ.get(variable) or usual), encoding="utf-8")
    except (OSError, configparser.Error, UnicodeError):
        return {}
    return dict(parser.items(name)) if parser.has_section(name) else {}
