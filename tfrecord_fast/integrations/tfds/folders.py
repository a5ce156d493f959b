"""The folder of a dataset, and its dataset_info.json."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import InvalidArgumentError
from ...files.system import file_system
from ...files.system.file_system import Options, read_file
from ...typing import PathLike
from .features import FeaturesDict, read_features
from .splits import SplitInfo

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
_FORMAT = "tfrecord"


class DatasetInfo(NamedTuple):
    """Description of a dataset.

    `splits` are by name; `features` is the tree of features, with the names of labels; `supervised_keys` is a nest of
    tuples and dicts of keys of features, or None; `metadata` is the whole content of dataset_info.json.
    """

    name: str
    version: str
    config_name: str | None
    description: str
    citation: str
    folder: str
    splits: dict[str, SplitInfo]
    features: FeaturesDict
    supervised_keys: Any
    disable_shuffling: bool
    metadata: dict[str, Any]

    @property
    def full_name(self) -> str:
        """Name, config and version, such as "mnist/3.0.1"."""
        return "/".join(filter(None, (self.name, self.config_name, self.version)))


def find_folder(folder: PathLike, config: str | None, version: str | None, options: Options = None) -> str:
    """Find the folder with the files of one config in one version: `folder`, or a folder below it.

    Args:
      config: its name; None for the default config, if the dataset has one, or the only config.
      version: "1.2.3", or with "*" for any number; None for the highest.
      options: those of the store of a URL.
    """
    path = os.path.expanduser(os.fsdecode(folder))
    if not file_system.isdir(path, storage_options=options):
        example = os.path.join("~/tensorflow_datasets", os.path.basename(path.partition(":")[0]))
        raise FileNotFoundError(2, f"no such folder; pass the dataset's folder, as {example}", path)
    if _has_dataset(path, options):
        _check_name(path, "version", version, -1)
        _check_name(path, "config", config, -2)
        return path
    versions = _versions(path, options)
    if versions:
        return _with_version(path, versions, version)
    configs = [name for name in _folders(path, options) if _versions(file_system.join(path, name), options)]
    if not configs:
        raise FileNotFoundError(2, "found dataset_info.json neither here nor in folders of versions and configs", path)
    chosen = config or _default_config(path, options) or (configs[0] if len(configs) == 1 else None)
    if chosen not in configs:
        problem = "choose one with config=…" if chosen is None else f"config {chosen!r} does not exist"
        raise FileNotFoundError(2, f"{problem}; the configs are {', '.join(configs)}", path)
    path = file_system.join(path, chosen)
    return _with_version(path, _versions(path, options), version)


def _has_dataset(path: str, options: Options) -> bool:
    return file_system.exists(file_system.join(path, "dataset_info.json"), storage_options=options)


def _check_name(path: str, what: str, wanted: str | None, position: int) -> None:
    """Check that the name of the user's folder agrees with the arguments."""
    segments = path.rstrip("/").split("/")
    name = segments[position] if len(segments) >= -position else ""
    fits = wanted is None or name == wanted or (what == "version" and _fits(name, wanted))
    if not fits:
        raise FileNotFoundError(2, f"this is the folder of {what} {name!r}, not of {wanted!r}", path)


def _fits(version: str, wanted: str) -> bool:
    numbers, pattern = version.split("."), wanted.split(".")
    pattern += ["*"] * (3 - len(pattern))
    return len(numbers) == len(pattern) and all(
        expected in ("*", number) for number, expected in zip(numbers, pattern, strict=True)
    )


def _folders(path: str, options: Options) -> list[str]:
    names = sorted(name.rstrip("/") for name in file_system.listdir(path, storage_options=options))
    shown = [name for name in names if not name.startswith(".")]
    return [name for name in shown if file_system.isdir(file_system.join(path, name), storage_options=options)]


def _versions(path: str, options: Options) -> list[str]:
    """List the folders of versions that hold a dataset, the highest last."""
    names = [name for name in _folders(path, options) if _VERSION.fullmatch(name)]
    names.sort(key=lambda name: tuple(map(int, name.split("."))))
    return [name for name in names if _has_dataset(file_system.join(path, name), options)]


def _with_version(path: str, versions: list[str], version: str | None) -> str:
    fitting = [name for name in versions if version is None or _fits(name, version)]
    if not fitting:
        raise FileNotFoundError(2, f"version {version!r} does not exist; the versions are {', '.join(versions)}", path)
    return file_system.join(path, fitting[-1])


def _default_config(path: str, options: Options) -> str | None:
    path = file_system.join(path, ".config", "metadata.json")
    if not file_system.exists(path, storage_options=options):
        return None
    return read_json(path, options).get("default_config_name")


def read_json(path: str, options: Options = None) -> dict[str, Any]:
    try:
        content = json.loads(read_file(path, storage_options=options))
    except ValueError as error:
        raise InvalidArgumentError(f"{path}: invalid JSON: {error}") from None
    if not isinstance(content, dict):
        raise InvalidArgumentError(f"{path}: expected a JSON object, got {type(content).__name__}")
    return content


def read_info(folder: str, options: Options = None) -> DatasetInfo:
    """Read dataset_info.json, features.json and the files of labels."""
    path = file_system.join(folder, "dataset_info.json")
    content = read_json(path, options)
    try:
        name = str(content["name"])
        formats = [content.get("fileFormat") or _FORMAT, *content.get("alternativeFileFormats", [])]
        if _FORMAT not in formats:
            raise InvalidArgumentError(
                f"{path}: the files have the format {formats[0]!r}, but only TFRecord is supported"
            )
        splits = [_split(path, folder, name, split) for split in content.get("splits", [])]
        features_path = file_system.join(folder, "features.json")
        if not file_system.exists(features_path, storage_options=options):
            raise FileNotFoundError(2, "features.json is missing: TFDS before 3.2.1 wrote the dataset", features_path)
        return DatasetInfo(
            name=name,
            version=str(content.get("version", "")),
            config_name=content.get("configName") or None,
            description=content.get("description", ""),
            citation=content.get("citation", ""),
            folder=folder,
            splits={split.name: split for split in splits},
            features=read_features(features_path, read_json(features_path, options), folder, options),
            supervised_keys=_supervised_keys(content.get("supervisedKeys")),
            disable_shuffling=bool(content.get("disableShuffling", False)),
            metadata=content,
        )
    except InvalidArgumentError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"{path}: not written by TFDS: {type(error).__name__} {error}") from None


def _split(path: str, folder: str, dataset: str, content: Mapping[str, Any]) -> SplitInfo:
    name = str(content["name"])
    lengths = [int(length) for length in content.get("shardLengths", [])]
    if not lengths and int(content.get("numShards", 0)):
        raise InvalidArgumentError(f"{path}: split {name!r} has no shardLengths: TFDS before 3.0 wrote the dataset")
    if any(length < 0 for length in lengths):
        raise InvalidArgumentError(f"{path}: split {name!r}: a shard of {min(lengths)} examples")
    digits = max(len(str(len(lengths))), 5)
    files = []
    for shard in range(len(lengths)):
        index, count = (f"{number:0{digits}}" for number in (shard, len(lengths)))
        words = {"DATASET": dataset, "SPLIT": name, "FILEFORMAT": _FORMAT, "SHARD_INDEX": index, "NUM_SHARDS": count}
        words["SHARD_X_OF_Y"] = f"{index}-of-{count}"
        files.append(file_system.join(folder, _filled(path, content.get("filepathTemplate") or _TEMPLATE, words)))
    return SplitInfo(name, sorted(files), lengths, int(content.get("numBytes", 0)))


def _filled(path: str, template: str, words: Mapping[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        if match[1] not in words:
            raise InvalidArgumentError(f"{path}: filepathTemplate {template!r}: unknown {{{match[1]}}}")
        return words[match[1]]

    return re.sub(r"\{(.*?)\}", word, template)


def _supervised_keys(content: Mapping[str, Any] | None) -> Any:
    if not content:
        return None
    if "input" in content:
        return content["input"], content["output"]
    if "tuple" in content:
        return tuple(map(_supervised_keys, content["tuple"].get("items", [])))
    if "dict" in content:
        return {key: _supervised_keys(keys) for key, keys in content["dict"].get("dict", {}).items()}
    return content["featureKey"]
