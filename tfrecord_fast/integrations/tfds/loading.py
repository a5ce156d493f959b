"""Datasets from folders that TensorFlow Datasets has prepared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InvalidArgumentError
from ...files.system.file_system import Options
from ...typing import PathLike
from .dataset import Examples
from .features import Feature, FeaturesDict
from .features import Sequence as SequenceFeature
from .folders import DatasetInfo, find_folder, read_info
from .nodes import DictNode, node_of
from .splits import Split, pieces_of

__all__ = ["info", "load"]

_INTERLEAVED = 16  # files, and records of each in turn, as TFDS reads them


def info(
    folder: PathLike, *, config: str | None = None, version: str | None = None, storage_options: Options = None
) -> DatasetInfo:
    """What the dataset in a folder says of itself; arguments and errors as for `load`."""
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
    """The examples of a dataset that TensorFlow Datasets has prepared, without TensorFlow.

    Args:
      folder: of one version (`…/mnist/3.0.1`), or one above, of a dataset or one of its configs; a path or a URL.
      split: such as "train", "train[:80%]+test", "train[2shard]" or "all"; a ReadInstruction; one of `even_splits`; or
        a list, tuple or dict of these. None: a dict of all splits.
      config, version: which to read, if the folder has several; None for the default config (or the only one) and for
        the highest version.
      as_supervised: give (input, label), as the dataset defines them, and not dicts.
      decoders: by key, in dicts like the features: SkipDecoding() for values as they are stored, or a function of a
        stored value and its feature.
      columns: keys of the features to read, "a/b" for those in dicts; None for all.
      batch_size: give dicts of columns of that many examples; -1: of all examples. Arrays whose shapes differ are
        padded with 0 or b"".
      drop_remainder: leave out a last batch that is smaller.
      shuffle_files: a new order of files each time. Examples are not shuffled further.
      seed: makes that repeatable.
      with_info: give (examples, DatasetInfo).
      cycle_length, block_length: how many files to interleave, and how many examples to take from each in turn. The
        default is TFDS' order: 16 and 16, or one file after the other for a dataset with disable_shuffling.
      num_threads: how many decode images; None for one per core.
      verify_crc: whether the data of records is checked; headers always are.
      storage_options: for the store of a URL, as of ShardReader.

    Returns:
      Examples; as a dict, list or tuple for several splits.

    Values are those of `tfds.as_numpy`: NumPy scalars and arrays, `bytes` for strings, arrays of objects for several;
    a RaggedTensor for sequences of sequences of unequal length, Steps for a dataset in an example. In batches, strings
    are BytesArrays.

    Raises:
      FileNotFoundError: no such folder, config, version or file.
      errors.InvalidArgumentError: a split or feature that there is not, or that can't be read. When iterated: an
        example that does not fit its feature; names the file, the record and the feature.
      errors.DataLossError: when iterated: a file is damaged, or has more or fewer records than dataset_info.json says.
    """
    found = info(folder, config=config, version=version, storage_options=storage_options)
    keys = _supervised(found) if as_supervised else None
    if shuffle_files and found.disable_shuffling:
        raise InvalidArgumentError(f"{found.full_name} is ordered (disable_shuffling): shuffle_files would lose that")
    if columns is not None and isinstance(columns, str):
        raise TypeError(f"columns is a list of keys, got the string {columns!r}")
    wanted = None if columns is None else _tree(found.features, columns)
    if keys is not None:
        wanted = {key: None for key in _leaves(keys)}
    cycle = (1 if found.disable_shuffling else _INTERLEAVED) if cycle_length is None else cycle_length
    for name, value, least in (("cycle_length", cycle, 1), ("block_length", block_length, 1)):
        if value < least:
            raise InvalidArgumentError(f"{name} must be at least {least}, got {value}")
    if batch_size is not None and batch_size < 1 and batch_size != -1:
        raise InvalidArgumentError(f"batch_size must be at least 1, or -1 for all, got {batch_size}")
    if num_threads is not None and num_threads < 1:
        raise InvalidArgumentError(f"num_threads must be at least 1, got {num_threads}")
    node = node_of(found.features, decoders, wanted=wanted)
    assert isinstance(node, DictNode)

    def of_one(one: Split | str) -> Any:
        pieces = pieces_of(one, found.splits)
        whole = sum(piece.take for piece in pieces)
        examples = Examples(
            found,
            pieces,
            node,
            keys,
            batch_size=whole if batch_size == -1 else batch_size,
            drop_remainder=drop_remainder,
            shuffle_files=shuffle_files,
            seed=seed,
            cycle_length=cycle,
            block_length=block_length,
            num_threads=num_threads,
            verify_crc=verify_crc,
            storage_options=storage_options,
        )
        return next(iter(examples)) if batch_size == -1 else examples

    loaded = _mapped({name: name for name in found.splits} if split is None else split, of_one)
    return (loaded, found) if with_info else loaded


def _mapped(splits: Any, function: Any) -> Any:
    """The function of each split in a nest."""
    if isinstance(splits, Mapping):
        return {key: _mapped(one, function) for key, one in splits.items()}
    if isinstance(splits, list | tuple):
        return type(splits)(_mapped(one, function) for one in splits)
    return function(splits)


def _supervised(found: DatasetInfo) -> Any:
    if found.supervised_keys is None:
        raise InvalidArgumentError(f"{found.full_name} has no supervised keys, as as_supervised=True needs them")
    missing = [key for key in _leaves(found.supervised_keys) if key not in found.features]
    if missing:
        raise InvalidArgumentError(f"{found.full_name}: supervised keys {missing} are none of its features")
    return found.supervised_keys


def _leaves(nest: Any) -> list[str]:
    if isinstance(nest, tuple | dict):
        values = nest.values() if isinstance(nest, dict) else nest
        return [leaf for one in values for leaf in _leaves(one)]
    return [nest]


def _tree(features: FeaturesDict, columns: Sequence[str]) -> dict[str, Any]:
    """The chosen features as nested dicts; None stands for all of a feature."""
    tree: dict[str, Any] = {}
    for column in columns:
        _choose(tree, features, column, column)
    return tree


def _choose(tree: dict[str, Any], feature: Feature, rest: str, column: str) -> None:
    while isinstance(feature, SequenceFeature):
        feature = feature.feature
    keys = sorted(feature) if isinstance(feature, FeaturesDict) else []
    # A key may have slashes itself.
    key = max((one for one in keys if rest == one or rest.startswith(f"{one}/")), key=len, default=None)
    if key is None:
        raise InvalidArgumentError(f"columns: there is no feature {column!r}; there are {keys}")
    assert isinstance(feature, FeaturesDict)
    if rest == key:
        tree[key] = None
    elif tree.get(key, {}) is not None:
        _choose(tree.setdefault(key, {}), feature[key], rest[len(key) + 1 :], column)
