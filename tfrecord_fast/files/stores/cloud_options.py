"""Options of stores of objects, in the spelling of obstore or of s3fs, gcsfs and adlfs, as obstore takes them."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..naming.addresses import Address
from .settings import CONNECT_TIMEOUT, STALL_TIMEOUT

__all__ = ["SCHEMES", "CloudOptions", "aws_file_options", "cloud_options"]

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

# What obstore's clients take, besides the options of a store.
_OF_CLIENTS = {
    "allow_http",
    "allow_invalid_certificates",
    "connect_timeout",
    "default_content_type",
    "default_headers",
    "http1_only",
    "http2_only",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "randomize_addresses",
    "read_timeout",
    "root_certificate",
    "timeout",
    "user_agent",
}

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

# What only fsspec's file systems know.
_OF_FSSPEC = {
    "S3": {
        "asynchronous",
        "cache_regions",
        "config_kwargs",
        "default_block_size",
        "default_cache_type",
        "loop",
        "profile",
        "s3_additional_kwargs",
        "session",
        "use_listings_cache",
        "version_aware",
    },
    "GCS": {"access", "asynchronous", "consistency", "default_location", "loop", "project", "session_kwargs"},
    "Azure": {"asynchronous", "credential", "connection_string", "loop"},
    "HTTP": {"asynchronous", "block_size", "client_kwargs", "encoded", "get_client", "headers", "loop", "simple_links"},
}
_OF_ALL_FSSPEC = {"skip_instance_cache", "use_listings_cache", "listings_expiry_time", "max_paths"}
_ENDPOINTS = {
    "S3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "Azure": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
    "GCS": ("STORAGE_EMULATOR_HOST",),
}


class CloudOptions(NamedTuple):
    """What a store of obstore is made with."""

    kind: str  # "S3", "GCS", "Azure", "HTTP"
    place: str  # the bucket, the container or the host
    config: dict[str, Any]
    client: dict[str, Any]
    retries: Any
    credentials: Any
    part_bytes: int | None  # of uploads


def cloud_options(address: Address, given: Mapping[str, Any]) -> CloudOptions | None:
    """The options; None if only a file system of fsspec understands them, or the scheme."""
    kind = SCHEMES.get(address.scheme)
    if kind is None or not (_OF_FSSPEC[kind] | _OF_ALL_FSSPEC).isdisjoint(given):
        return None
    options = dict(given)
    nested = options.pop("client_kwargs", None) or {}
    client = dict(options.pop("client_options", None) or {})
    retries, credentials = options.pop("retry_config", None), options.pop("credential_provider", None)
    part_bytes = _part_bytes(options.pop("part_bytes", None))
    if options.pop("use_ssl", True) is False or nested.get("use_ssl") is False:
        client["allow_http"] = True
    if nested.get("verify") is False:
        client["allow_invalid_certificates"] = True
    options |= {name: value for name, value in nested.items() if name not in ("use_ssl", "verify")}
    if kind == "GCS" and not _translate_google(options):
        return None
    spellings = _SPELLINGS[kind]
    config: dict[str, Any] = {}
    for name, value in options.items():
        name = name.lower()
        if value is None:
            continue
        if name in _OF_CLIENTS:
            client[name] = value
        else:
            config[spellings.get(name, name)] = value
    _complete(kind, address, config, client, credentials is not None)
    if kind == "GCS" and credentials is None and "base_url" in config and _is_true(config.get("skip_signature")):
        credentials = _nobody  # without it obstore asks for a token before it writes
    return CloudOptions(kind, _place_of(kind, address, config), config, client, retries, credentials, part_bytes)


def _part_bytes(given: object) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 5 << 20 <= given <= 5 << 30:
        raise ValueError("storage_options: part_bytes must be an integer from 5 MiB to 5 GiB")
    return given


def _is_true(value: object) -> bool:
    return value is True or str(value).lower() in ("true", "1", "yes", "on")


def _nobody() -> dict[str, Any]:
    return {"token": "anonymous", "expires_at": None}


def _translate_google(options: dict[str, Any]) -> bool:
    """gcsfs's `token`, which may be many things; False for those that only gcsfs knows."""
    token = options.pop("token", None)
    if token == "anon":
        options["anon"] = True
    elif isinstance(token, str) and token.endswith(".json"):
        options["application_credentials"] = os.path.expanduser(token)
    elif token is not None and token != "google_default":
        return False
    return True


def _place_of(kind: str, address: Address, config: dict[str, Any]) -> str:
    if kind != "Azure":
        return address.place
    container, _, host = address.place.partition("@")
    if host:
        config.setdefault("account_name", host.partition(".")[0])
    return container


def _complete(kind: str, address: Address, config: dict[str, Any], client: dict[str, Any], has_provider: bool) -> None:
    """What follows from the rest and from the environment."""
    client.setdefault("connect_timeout", f"{CONNECT_TIMEOUT:g}s")
    client.setdefault("read_timeout", f"{STALL_TIMEOUT:g}s")
    if kind == "S3":
        if not has_provider and not {"access_key_id", "skip_signature"} & config.keys():
            for name, value in aws_file_options().items():
                config.setdefault(name, value)
        if "endpoint" not in config and os.environ.get("AWS_ENDPOINT_URL_S3"):
            config["endpoint"] = os.environ["AWS_ENDPOINT_URL_S3"]
        if "endpoint" in config:
            config["endpoint"] = config["endpoint"].rstrip("/")
            config.setdefault("virtual_hosted_style_request", False)
    if kind == "GCS" and os.environ.get("STORAGE_EMULATOR_HOST"):
        host = os.environ["STORAGE_EMULATOR_HOST"].rstrip("/")
        config.setdefault("base_url", host if "://" in host else f"http://{host}")
        config.setdefault("skip_signature", True)
    endpoint = config.get("endpoint") or config.get("base_url")
    endpoint = endpoint or next((os.environ[name] for name in _ENDPOINTS.get(kind, ()) if os.environ.get(name)), "")
    if address.scheme == "http" or str(endpoint).startswith("http://"):
        client.setdefault("allow_http", True)


_NAMES = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "region": "region",
    "endpoint_url": "endpoint",
}


_IN_ENVIRONMENT = {"region": ("AWS_REGION", "AWS_DEFAULT_REGION"), "endpoint": ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")}


def aws_file_options() -> dict[str, str]:
    """What the profile says (AWS_PROFILE, or "default") and the environment does not. Nothing if there are no files, or
    none that can be read: a role, or an identity of the machine, is then looked for."""
    profile = os.environ.get("AWS_PROFILE", "default")
    config = _section("AWS_CONFIG_FILE", "~/.aws/config", profile if profile == "default" else f"profile {profile}")
    found = config | _section("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", profile)
    options = {_NAMES[name]: value for name, value in found.items() if name in _NAMES}
    if os.environ.get("AWS_ACCESS_KEY_ID") or not {"access_key_id", "secret_access_key"} <= options.keys():
        for name in ("access_key_id", "secret_access_key", "session_token"):
            options.pop(name, None)
    for name, variables in _IN_ENVIRONMENT.items():
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
