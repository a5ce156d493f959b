"""The files of a folder: those that Hugging Face's and TensorFlow's datasets list in it, in their order; else all."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import Any

from ..errors import InvalidArgumentError
from ..files.streams.listing import files_below

__all__ = ["files_of"]

_STATE, _SPLITS = "state.json", "dataset_dict.json"  # of what save_to_disk of `datasets` writes
_INFO, _FEATURES = "dataset_info.json", "features.json"  # of what TensorFlow Datasets prepares
_SHARD = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})")


def files_of(folder: str) -> list[str]:
    """The files that hold the folder's data.

    Raises:
      FileNotFoundError: there is none, or one that is listed is missing.
      errors.InvalidArgumentError: the list can't be read.
    """
    splits, state = os.path.join(folder, _SPLITS), os.path.join(folder, _STATE)
    if os.path.isfile(splits):
        names = _list_in(splits, lambda found: found["splits"])
        return [path for name in names for path in files_of(os.path.join(folder, name))]
    if os.path.isfile(state):
        if _list_in(state, lambda found: [one["filename"] for one in dict(found).get("_indices_data_files") or ()]):
            raise InvalidArgumentError(
                f"{state}: the rows have an order of their own, which is not followed: save it anew"
            )
        names = _list_in(state, lambda found: [one["filename"] for one in found["_data_files"]])
        paths = [os.path.join(folder, name) for name in names]
        for path in paths:
            _existing_in({path} if os.path.isfile(path) else set(), path)
        return paths
    found = files_below(folder)
    if all(os.path.isfile(os.path.join(folder, name)) for name in (_INFO, _FEATURES)):
        _check_shards(found)
    return found


def _list_in(path: str, chosen: Any) -> list[str]:
    """The names of files or folders that a JSON file lists; none leads elsewhere."""
    try:
        with open(path, encoding="utf-8") as file:
            names = chosen(json.load(file))
        if isinstance(names, list) and all(name == os.path.basename(name) and name not in ("", "..") for name in names):
            return names
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InvalidArgumentError(f"{path}: it does not list the files of a dataset")


def _check_shards(paths: list[str]) -> None:
    """Of shards that are numbered, all have to be there: without one, records would be missing in silence."""
    splits = {}
    for path in paths:
        numbered = _SHARD.fullmatch(path)
        if numbered is not None:
            splits[numbered[1], numbered[3]] = len(numbered[2])
    for (start, count), digits in splits.items():
        there = {path for path in paths if path.startswith(f"{start}-")}
        for number in range(min(int(count), len(there) + 1)):  # one is missing among these, if one is
            _existing_in(there, f"{start}-{number:0{digits}}-of-{count}")


def _existing_in(there: set[str], path: str) -> None:
    if path not in there:
        raise FileNotFoundError(errno.ENOENT, "a file of the dataset is missing", path)
