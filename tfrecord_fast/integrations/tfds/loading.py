"""Datasets from folders that TensorFlow Datasets has prepared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InvalidArgumentError
from ...files.system.file_system import Options
from ...typing import PathLike
from .dataset import Examples, Reading
from .features import Feature, FeaturesDict
from .features import Sequence as SequenceFeature
from .folders import DatasetInfo, find_folder, read_info
from .nodes import DictNode, node_of
from .splits import Split, pieces_of

_INTERLEAVED = 16  # files, and records of each in turn, like TFDS


def info(
    folder: PathLike, *, config: str | None = None, version: str | None = None, storage_options: Options = None
) -> DatasetInfo:
    """Return the description of the dataset in a folder. Arguments and errors are those of `load`."""
    return read_info(find_folder(folder, config, version, storage_options), storage_options)


def load(
    folder: PathLike,
    split: Split | str | Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    config: str | None = None,
    version: str | None = None,
    as_supervised: bool = False,
    decoders: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    batch_size: int | None = None,
    drop_remainder: bool = False,
    shuffle_files: bool = False,
    seed: int | None = None,
    with_info: bool = False,
    cycle_length: int | None = None,
    block_length: int = _INTERLEAVED,
    num_threads: int | None = None,
    verify_crc: bool = True,
    storage_options: Options = None,
) -> Any:
    """Return the examples of a dataset that TensorFlow Datasets has prepared, without TensorFlow.

    Args:
      folder: the folder of a version (`…/mnist/3.0.1`), of a config, or of the dataset; a path or a URL.
      split: such as "train", "train[:80%]+test", "train[2shard]" or "all"; a ReadInstruction; a result of
        `even_splits`; or a list, tuple or dict of these. None: a dict of all splits.
      config, version: the ones to read, if the folder has several; None for the default config (or the only one) and
        for the highest version.
      as_supervised: yield the dataset's (input, label) instead of dicts.
      decoders: by key, in dicts like the features: SkipDecoding() for stored values, or a function of a stored value
        and its feature.
      columns: keys of the features to read, "a/b" for those in dicts; None for all.
      batch_size: yield dicts of columns of that many examples; -1: return the columns of all examples. Arrays whose
        shapes differ are padded with 0 or b"".
      drop_remainder: leave out a smaller last batch.
      shuffle_files: use another order of files in each iteration. Examples are not shuffled further.
      seed: makes these orders repeatable.
      with_info: return (examples, DatasetInfo).
      cycle_length, block_length: the number of files to interleave, and of examples to take from each in turn. The
        default is TFDS' order: 16 and 16, or one file after the other for a dataset with disable_shuffling.
      num_threads: the number of threads that decode images; None: one per core.
      verify_crc: check the data of records; headers are always checked.
      storage_options: those of the store of a URL, as for ShardReader.

    Returns:
      Examples; as a dict, list or tuple for several splits.

    Values are those of `tfds.as_numpy`: NumPy scalars and arrays, `bytes` for strings, arrays of objects for several;
    a RaggedTensor for sequences of sequences of unequal length, Steps for a dataset in an example. In batches, strings
    are BytesArrays.

    Raises:
      FileNotFoundError: a folder, config, version or file does not exist.
      errors.InvalidArgumentError: a split or feature does not exist, or can't be read. When iterated: an example does
        not fit its feature; the error names the file, the record and the feature.
      errors.DataLossError: when iterated: a file is damaged, or its number of records differs from dataset_info.json.
    """
    dataset_info = info(folder, config=config, version=version, storage_options=storage_options)
    keys = _supervised_keys(dataset_info) if as_supervised else None
    if shuffle_files and dataset_info.disable_shuffling:
        raise InvalidArgumentError(
            f"{dataset_info.full_name} has a fixed order (disable_shuffling): shuffle_files=True is not allowed"
        )
    if columns is not None and isinstance(columns, str):
        raise TypeError(f"columns must be a list of keys, got the string {columns!r}")
    wanted = None if columns is None else _tree(dataset_info.features, columns)
    if keys is not None:
        wanted = {key: None for key in _leaves(keys)}
    cycle = (1 if dataset_info.disable_shuffling else _INTERLEAVED) if cycle_length is None else cycle_length
    for name, value in (("cycle_length", cycle), ("block_length", block_length), ("num_threads", num_threads)):
        if value is not None and value < 1:
            raise InvalidArgumentError(f"{name} must be at least 1, got {value}")
    if batch_size is not None and batch_size < 1 and batch_size != -1:
        raise InvalidArgumentError(f"batch_size must be at least 1, or -1 for all, got {batch_size}")
    node = node_of(dataset_info.features, decoders, wanted=wanted)
    assert isinstance(node, DictNode)
    how = Reading(
        batch_size, drop_remainder, shuffle_files, seed, cycle, block_length, num_threads, verify_crc, storage_options
    )

    def examples_of(one_split: Split | str) -> Any:
        pieces = pieces_of(one_split, dataset_info.splits)
        size = sum(piece.take for piece in pieces) if batch_size == -1 else batch_size
        examples = Examples(dataset_info, pieces, node, keys, how._replace(batch_size=size))
        return next(iter(examples)) if batch_size == -1 else examples

    loaded = _mapped({name: name for name in dataset_info.splits} if split is None else split, examples_of)
    return (loaded, dataset_info) if with_info else loaded


def _mapped(splits: Any, function: Any) -> Any:
    if isinstance(splits, Mapping):
        return {key: _mapped(split, function) for key, split in splits.items()}
    if isinstance(splits, list | tuple):
        return type(splits)(_mapped(split, function) for split in splits)
    return function(splits)


def _supervised_keys(dataset_info: DatasetInfo) -> Any:
    keys = dataset_info.supervised_keys
    if keys is None:
        raise InvalidArgumentError(f"{dataset_info.full_name} has no supervised keys: omit as_supervised")
    missing = [key for key in _leaves(keys) if key not in dataset_info.features]
    if missing:
        raise InvalidArgumentError(f"{dataset_info.full_name}: supervised keys {missing} are not among its features")
    return keys


def _leaves(nest: Any) -> list[str]:
    if isinstance(nest, tuple | dict):
        values = nest.values() if isinstance(nest, dict) else nest
        return [leaf for value in values for leaf in _leaves(value)]
    return [nest]


def _tree(features: FeaturesDict, columns: Sequence[str]) -> dict[str, Any]:
    """Return the chosen features as nested dicts; None: the whole feature."""
    tree: dict[str, Any] = {}
    for column in columns:
        _choose(tree, features, column, column)
    return tree


def _choose(tree: dict[str, Any], feature: Feature, rest: str, column: str) -> None:
    while isinstance(feature, SequenceFeature):
        feature = feature.feature
    keys = sorted(feature) if isinstance(feature, FeaturesDict) else []
    # A key may have slashes itself.
    prefixes = [key for key in keys if rest == key or rest.startswith(f"{key}/")]
    key = max(prefixes, key=len, default=None)
    if key is None:
        raise InvalidArgumentError(f"columns: feature {column!r} does not exist; the features are {keys}")
    assert isinstance(feature, FeaturesDict)
    if rest == key:
        tree[key] = None
    elif tree.get(key, {}) is not None:
        _choose(tree.setdefault(key, {}), feature[key], rest[len(key) + 1 :], column)
