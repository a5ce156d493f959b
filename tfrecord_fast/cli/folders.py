"""The data files of a folder: all, or those that a dataset of Hugging Face or TensorFlow Datasets lists."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import Any

from ..errors import InvalidArgumentError
from ..files.naming.folders import files_below

_STATE, _SPLITS = "state.json", "dataset_dict.json"  # written by save_to_disk of Hugging Face's `datasets`
_INFO, _FEATURES = "dataset_info.json", "features.json"  # written by TensorFlow Datasets
_SHARD = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})")


def files_of(folder: str) -> list[str]:
    """Return the data files of a folder, in order."""
    splits, state = os.path.join(folder, _SPLITS), os.path.join(folder, _STATE)
    if os.path.isfile(splits):
        names = _list_in(splits, lambda value: value["splits"])
        return [path for name in names for path in files_of(os.path.join(folder, name))]
    if os.path.isfile(state):
        if _list_in(state, lambda value: [entry["filename"] for entry in dict(value).get("_indices_data_files") or ()]):
            raise InvalidArgumentError(
                f"{state}: the dataset has an indices mapping, which is not supported: call flatten_indices() and save "
                "it again"
            )
        names = _list_in(state, lambda value: [entry["filename"] for entry in value["_data_files"]])
        paths = [os.path.join(folder, name) for name in names]
        for path in paths:
            _existing_in({path} if os.path.isfile(path) else set(), path)
        return paths
    paths = files_below(folder)
    if all(os.path.isfile(os.path.join(folder, name)) for name in (_INFO, _FEATURES)):
        _check_shards(paths)
    return paths


def _list_in(path: str, chosen: Any) -> list[str]:
    """Return the names that a JSON file lists; all must be plain names within the folder."""
    try:
        with open(path, encoding="utf-8") as file:
            names = chosen(json.load(file))
        if isinstance(names, list) and all(name == os.path.basename(name) and name not in ("", "..") for name in names):
            return names
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InvalidArgumentError(f"{path}: not a list of the files of a dataset")


def _check_shards(paths: list[str]) -> None:
    """Raise if a numbered shard is missing: its records would be omitted silently."""
    splits = {}
    for path in paths:
        numbered = _SHARD.fullmatch(path)
        if numbered is not None:
            splits[numbered[1], numbered[3]] = len(numbered[2])
    for (start, count), digits in splits.items():
        there = {path for path in paths if path.startswith(f"{start}-")}
        for number in range(min(int(count), len(there) + 1)):  # a missing shard is among these
            _existing_in(there, f"{start}-{number:0{digits}}-of-{count}")


def _existing_in(there: set[str], path: str) -> None:
    if path not in there:
        raise FileNotFoundError(errno.ENOENT, "missing file of the dataset", path)
