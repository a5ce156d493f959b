"""Keys and a region from the files of AWS's own tools, ~/.aws/credentials and ~/.aws/config, where they are plain."""

from __future__ import annotations

import configparser
import os

__all__ = ["aws_file_options"]

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
