"""The user's own files as a dataset: their compression, their features, and the reference's answer."""

from __future__ import annotations

import glob
import gzip
import hashlib
import importlib.util
import json
import os
import shutil
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.data.answers import compression_of, digest_of_files
from benchmarks.data.dataset import Dataset, Features
from benchmarks.data.infer import infer
from benchmarks.data.parts import copy_head
from benchmarks.data.reference import parsed_answer
from benchmarks.data.tasks import TASKS, Task

VERSION = 2  # to be raised when a dataset is made differently, so that cached ones are made again
COMPRESSIONS = ("", "GZIP", "ZLIB", "ZSTD")
DTYPES = ("int64", "float32", "string")
BATCH_BYTES = 4_000_000
MOST_BYTES = 2_000_000_000  # of files; of more, a part is taken, since the reference is plain Python
PACKED_TIMES = 4  # compressed files are taken to hold this many times their size
PLAIN_TASKS = ("raw", "parse", "parse-memory", "epoch", "loop")
PACKED_TASKS = ("raw-gzip", "parse-gzip", "parse-memory", "epoch")
UNASKED = ("raw", "raw-gzip", "parse", "parse-gzip")  # all take minutes

# Features, feature lists, and notes about what is left out.
Described = tuple[Features, Features, list[str]]


class FilesError(Exception):
    """The files, or the options about them, can't be measured; the message explains why."""


def found(patterns: Iterable[str]) -> list[str]:
    """The files that the patterns match, those of each pattern in order; one that several match is there once.

    Raises:
      FilesError: a pattern matches none.
    """
    files = {os.path.realpath(path): path for path in reversed(matched(patterns))}
    return list(reversed(files.values()))


def matched(patterns: Iterable[str]) -> list[str]:
    """Like `found`, with what several patterns match as often as they do."""
    files: list[str] = []
    for pattern in patterns:
        if os.path.isdir(pattern):
            files += _files_of_folder(pattern)
            continue
        some = [pattern] if os.path.isfile(pattern) else sorted(filter(os.path.isfile, glob.glob(pattern)))
        if not some:
            raise FilesError(f"{pattern}: no such file")
        files += some
    return [os.path.abspath(path) for path in files]


def _files_of_folder(folder: str) -> list[str]:
    from tfrecord_fast.cli.folders import files_of  # here, so that contenders don't load the package

    try:
        return files_of(folder)
    except (OSError, ValueError) as error:
        raise FilesError(f"{folder}: {getattr(error, 'strerror', None) or error}") from None


def state_of(files: Iterable[str]) -> list[list[Any]]:
    """Return the names, sizes and times of files, which show whether they have changed."""
    return [[os.path.realpath(path), os.stat(path).st_size, os.stat(path).st_mtime_ns] for path in files]


def dataset_of_files(
    patterns: Sequence[str],
    features: str,
    compression: str | None,
    cache: Path,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[Dataset, list[str]]:
    """The files as a dataset, and notes about it: one line for each thing that is left out.

    Compressed files are inflated into the cache. What is known about files is kept there until they change.

    Args:
      features: "inferred", "none" for records that are not to be parsed, or a Python file that sets FEATURES.
      compression: of the files; None detects it.

    Raises:
      FilesError: no such files, or they are damaged or compressed differently, or the features are not supported.
    """
    files, several = found(patterns), len(matched(patterns))
    twice = [f"files that several patterns match are taken once ({several} names)"] if several > len(files) else []
    try:
        kinds = {
            compression_of(path) if compression is None else compression: path
            for path in reversed(files)
            if os.path.getsize(path)
        }
    except OSError as error:
        raise FilesError(str(error)) from None
    if len(kinds) > 1:
        each = ", ".join(f"{kinds[kind]} {f'is {kind}' if kind else 'is not compressed'}" for kind in sorted(kinds))
        raise FilesError(f"files compressed differently: {each}; measure one kind at a time, as --files 'FOLDER/*.gz'")
    kind = next(iter(kinds), "")
    given = features_of_file(Path(features)) if features not in ("inferred", "none") else None
    about = state_of(files)
    key = json.dumps([VERSION, MOST_BYTES, about, kind, features, given])
    folder = cache / f"files-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    known = folder / "dataset.json"
    if not known.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            made = make(files, kind, given, features == "inferred", folder, tell)
        except (ValueError, OSError) as error:
            raise FilesError(about_originals(str(error), copies(files, folder), files)) from None
        draft = known.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(made))
        draft.rename(known)
    kept = json.loads(known.read_text())
    return replace(Dataset.from_json(kept["dataset"]), folder=str(folder)), twice + kept["notes"]


def make(
    files: list[str], kind: str, given: Described | None, inferred: bool, folder: Path, tell: Callable[[str], None]
) -> dict[str, Any]:
    plain = files
    total, notes = sum(map(os.path.getsize, files)), []
    if kind:
        tell("inflating")
        some = first_files(files, MOST_BYTES / PACKED_TIMES)
        if len(some) < len(files):
            notes.append(
                f"the first {len(some)} of {len(files)} files are taken, "
                f"{sum(map(os.path.getsize, some)) / 1e9:.3g} of {total / 1e9:.3g} GB"
            )
        plain = copies(files, folder)[: len(some)]
        files = some
        for packed, path in zip(files, plain, strict=True):
            inflate(packed, path, kind)
    elif total > MOST_BYTES:
        tell("the first part of each file")
        plain = copies(files, folder)
        for path, copy in zip(files, plain, strict=True):
            copy_head(path, Path(copy), MOST_BYTES / total)
        taken = sum(map(os.path.getsize, plain))
        notes.append(f"the first records of each file are taken, {taken / 1e9:.3g} of {total / 1e9:.3g} GB")
    # Empty files show nothing, and some contenders reject them.
    holding = [(path, copy) for path, copy in zip(files, plain, strict=True) if os.path.getsize(copy)]
    if 0 < len(holding) < len(files):
        empty = sorted(set(files) - {path for path, _ in holding})
        notes.append(f"files without records are left out: {', '.join(empty)}")
        files, plain = [path for path, _ in holding], [copy for _, copy in holding]
    tell("reference")
    answer = digest_of_files(plain)
    if not answer["records"]:
        raise ValueError("the files have no records")
    context, sequences, more = given or ({}, {}, [])
    if inferred:
        tell("features")
        context, sequences, more = infer(plain)
    notes += more
    mean = answer["bytes"] / answer["records"]
    dataset = Dataset(
        name=os.path.basename(files[0]) + (f" and {len(files) - 1} more" if len(files) > 1 else ""),
        files=plain,
        gzip_files=files if kind else [],
        batch=max(32, min(1024, int(BATCH_BYTES / max(mean, 1)))),
        file_bytes=sum(map(os.path.getsize, plain)),
        gzip_bytes=sum(map(os.path.getsize, files)) if kind else 0,
        answer=answer,
        features=context,
        sequences=sequences,
        compression=kind or "GZIP",
        only_packed=bool(kind),
    )
    return {"dataset": dataset.as_json(), "notes": notes}


def first_files(files: list[str], size: float) -> list[str]:
    """Return the first files up to `size` bytes together, at least one that is not empty."""
    ends = list(accumulate(map(os.path.getsize, files)))
    return [path for path, end in zip(files, ends, strict=True) if end <= size] or files[: 1 + bisect_right(ends, 0)]


def copies(files: list[str], folder: Path) -> list[str]:
    """Where what is made of each file is kept."""
    return [str(folder / f"{i:05}-of-{len(files):05}.tfrecord") for i in range(len(files))]


def about_originals(text: str, made: list[str], files: list[str]) -> str:
    """The text, with the user's files in place of what was made of them."""
    for copy, path in zip(made, files, strict=True):
        text = text.replace(copy, path)
    return text


def inflate(packed: str, plain: str, kind: str) -> None:
    """Raises ValueError, which names the file, where it is damaged."""
    errors: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile)
    if kind == "ZSTD":
        try:
            import zstandard
        except ImportError:
            raise ValueError("ZSTD files need: pip install zstandard") from None
        errors = (zstandard.ZstdError,)
    try:
        inflate_to(packed, plain, kind)
    except errors as error:
        raise ValueError(f"{packed}: damaged ({error})") from None


def inflate_to(packed: str, plain: str, kind: str) -> None:
    draft = f"{plain}.{os.getpid()}"
    with open(packed, "rb") as source, open(draft, "wb") as sink:
        if kind == "GZIP":
            shutil.copyfileobj(gzip.open(source), sink, 1 << 20)
        elif kind == "ZLIB":
            if not os.path.getsize(packed):
                return os.rename(draft, plain)
            stream = zlib.decompressobj()
            while block := source.read(1 << 20):
                sink.write(stream.decompress(block))
            if not stream.eof:
                raise ValueError(f"{packed}: truncated")
        else:
            import zstandard

            frame = None
            while block := source.read(1 << 20):
                while block:
                    frame = frame or zstandard.ZstdDecompressor().decompressobj()
                    sink.write(frame.decompress(block))
                    block, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
            if frame is not None:
                raise ValueError(f"{packed}: truncated")
    os.rename(draft, plain)


def features_of_file(path: Path) -> Described:
    """The features, and feature lists, of a Python file: its FEATURES is a dict of feature objects, TensorFlow's or
    tfrecord_fast's, or a pair of them, (context, sequences).

    Raises:
      FilesError: the file is missing, has no FEATURES, or has features that some contenders lack.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise FilesError(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # it is the user's code
        raise FilesError(f"{path}: {type(error).__name__}: {error}") from None
    features = getattr(module, "FEATURES", None)
    if features is None:
        raise FilesError(f"{path}: sets no FEATURES")
    pair = features if isinstance(features, tuple) else (features, {})
    if len(pair) != 2 or not all(isinstance(item, dict) for item in pair):
        raise FilesError(f"{path}: FEATURES must be a dict, or a pair of dicts")
    context, sequences = pair
    return (
        {name: plain_feature(path, name, item, "fixed", "varlen") for name, item in context.items()},
        {name: plain_feature(path, name, item, "sequence") for name, item in sequences.items()},
        [],
    )


def plain_feature(path: Path, name: str, feature: Any, *allowed: str) -> list[Any]:
    """The feature in plain data, like workloads.Feature."""
    kinds = {
        "FixedLenFeature": "fixed",
        "VarLenFeature": "varlen",
        "RaggedFeature": "varlen",
        "FixedLenSequenceFeature": "sequence",
    }
    kind = kinds.get(type(feature).__name__)
    where = f"{path}: feature {name!r}"
    if kind not in allowed:
        raise FilesError(f"{where}: {type(feature).__name__} is not something that all contenders have")
    if getattr(feature, "default_value", None) is not None or getattr(feature, "partitions", None):
        raise FilesError(f"{where}: default values and partitions are not something that all contenders have")
    key = getattr(feature, "value_key", None)
    if key not in (None, name):
        raise FilesError(f"{where}: its value_key is {key!r}; call the feature so")
    dtype = getattr(feature.dtype, "name", str(feature.dtype))
    if dtype not in DTYPES:
        raise FilesError(f"{where}: {dtype}, not one of {', '.join(DTYPES)}")
    return [kind, dtype, list(getattr(feature, "shape", ()))]


def fitting(dataset: Dataset) -> list[str]:
    """Return the names of the usual tasks that fit the files."""
    parsed = bool(dataset.features or dataset.sequences)
    usual = PACKED_TASKS if dataset.only_packed else PLAIN_TASKS
    return [name for name in usual if parsed or name == "epoch" or not TASKS[name].parsed]


def tasks_for(dataset: Dataset, wanted: Sequence[str]) -> list[Task]:
    """The wanted tasks, or, if none is named, the reading and parsing of the files.

    Raises:
      FilesError: a wanted task does not fit.
    """
    parsed = bool(dataset.features or dataset.sequences)
    if not wanted:
        return [TASKS[name] for name in fitting(dataset) if name in UNASKED]
    for name in wanted:
        task = TASKS[name]
        if not task.workloads or task.shardings or task.repeated or task.scripted or task.images:
            raise FilesError(f"task {name} does not support files")
        if task.gzip and not dataset.only_packed:
            raise FilesError(f"{name}: these files are not compressed")
        if task.parsed and not parsed and name != "epoch":
            raise FilesError(f"{name}: these records have no features to parse")
    return [TASKS[name] for name in wanted]


def dataset_for_files(task: Task, dataset: Dataset, cache: Path) -> Dataset:
    """The dataset with the answer to the task.

    Raises:
      FilesError: a record does not fit the features.
    """
    if not task.parsed or not (dataset.features or dataset.sequences):
        return dataset
    try:
        return replace(dataset, answer=parsed_answer(dataset, cache))
    except (ValueError, OSError) as error:
        originals = dataset.gzip_files or dataset.files
        raise FilesError(about_originals(str(error), dataset.files, originals)) from None
