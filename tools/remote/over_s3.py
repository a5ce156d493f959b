"""The tests of reading local files, run once more with the files in an S3 server.

    python -m tools.remote.over_s3    # arguments go to pytest

`over_s3_files.py` says which tests, and which not. A folder of the server is a bucket, and the tests' temporary folders
are in it: what a test writes is an object at once. Readers are given the URL where the
test gives a path. Errors and `skipped` have the URL in them, which is checked, and then show the path again, since that
is what the tests compare them with.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tfrecord_fast as tf
from tests.remote.servers import Child, S3Bucket
from tests.support import frames
from tests.support.frames import core_file as _core_file
from tests.support.paths import REAL_FILES, ROOT
from tfrecord_fast.files.reading import shard_reader
from tfrecord_fast.files.reading.iteration import Skipped
from tfrecord_fast.files.streams.core_files import DEFAULT_SETTINGS, core_files, flatten
from tfrecord_fast.files.streams.fetching import open_stream
from tfrecord_fast.files.streams.shard_lists import ListedFile
from tools.remote.over_s3_files import FILES, LEFT_OUT

__all__ = ["OverS3", "over_s3"]

READS = ("data.nodes.sources.records", "data.files.records", "files.streams.infer", "files.streams.random_access")
READS += ("files.streams.record_iterator", "files.reading.shard_reader", "files.reading.tables")


class OverS3:
    """A bucket that is a folder, and what leads readers of paths in the folder to the bucket."""

    def __init__(self) -> None:
        self._all = tempfile.TemporaryDirectory(prefix="s3-")
        self._server = Child("s3_folder", self._all.name)
        self._bucket = S3Bucket(self._server.port)
        self.options = self._bucket.options
        self.folder = Path(self._all.name) / self._bucket.name
        self._base = f"{self.folder}/"
        self._shown: set[Any] = set()  # paths in errors, which may be copied

    def close(self) -> None:
        self._server.close()
        self._all.cleanup()

    def url(self, file: Any) -> Any:
        """The URL of a path in the folder; anything else as it is."""
        if not isinstance(file, str | bytes | os.PathLike):
            return file
        name = os.path.abspath(os.fsdecode(file))
        if not name.startswith(self._base):
            return file
        url = self._bucket.url(name[len(self._base) :])
        if isinstance(file, ListedFile):
            return ListedFile(url, file.bytes, file.records)
        return url.encode() if isinstance(file, bytes) else url

    def path(self, text: Any) -> Any:
        """A text with paths in place of URLs; anything else as it is."""
        return text.replace(self._bucket.url(), self._base) if isinstance(text, str) else text

    def lead(self, patch: pytest.MonkeyPatch) -> None:
        """Readers get URLs from now on, and what a store needs to know from the environment."""
        for name, value in self._bucket.options.items():
            patch.setenv(name.upper() if name.startswith("aws_") else f"AWS_{name.upper()}", value)

        for module in READS:
            patch.setattr(importlib.import_module(f"tfrecord_fast.{module}"), "flatten", self._led)
        patch.setattr(frames, "core_file", self._core_file)
        patch.setattr(frames, "_core", SimpleNamespace(RecordStream=_opened_stream))
        self._show_paths(patch)

    def _led(self, files: Any) -> list[Any]:
        return [self.url(file) for file in flatten(files)]

    def _core_file(self, source: Any) -> Any:
        url = self.url(source)
        return _core_file(source) if url is source else core_files([url])[0]

    def _show_paths(self, patch: pytest.MonkeyPatch) -> None:
        """In what says where something was read."""
        loss, failed = tf.DataLossError.__init__, tf.errors.TFRecordError.__init__
        raised = pytest.RaisesExc.__exit__
        files = tf.IndexedReader.files.fget

        def show_loss(error: Any, path: str | None = None, *arguments: Any, **named: Any) -> None:
            local = path is not None and path.startswith(self._base) and path not in self._shown
            assert not local, f"read as a local file: {path}"
            self._shown.add(self.path(path))
            loss(error, self.path(path), *arguments, **named)

        def show_failed(error: Any, *arguments: Any, **named: Any) -> None:
            failed(error, *map(self.path, arguments), **named)

        def show_raised(raises: Any, kind: Any, error: Any, trace: Any) -> Any:
            if isinstance(error, OSError) and isinstance(error.filename, str):
                error.filename = self.path(error.filename)
            return raised(raises, kind, error, trace)

        patch.setattr(tf.DataLossError, "__init__", show_loss)
        patch.setattr(tf.errors.TFRecordError, "__init__", show_failed)
        patch.setattr(pytest.RaisesExc, "__exit__", show_raised)
        patch.setattr(shard_reader, "Skipped", lambda path, *stretch: Skipped(self.path(path), *stretch))
        patch.setattr(tf.IndexedReader, "files", property(lambda reader: [self.path(file) for file in files(reader)]))


def _opened_stream(files: list[Any], *arguments: Any, **options: Any) -> Any:
    return open_stream(files, DEFAULT_SETTINGS, *arguments, **options)


class _Folders:
    """`tmp_path_factory`, in the bucket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def getbasetemp(self) -> Path:
        return self._folder

    def mktemp(self, basename: str, numbered: bool = True) -> Path:
        made = tempfile.mkdtemp(prefix=f"{basename}-", dir=self._folder) if numbered else str(self._folder / basename)
        os.makedirs(made, exist_ok=numbered)
        return Path(made)


@pytest.fixture(scope="module", autouse=True)
def _read_over_s3(over_s3: OverS3) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        over_s3.lead(patch)
        yield


@pytest.fixture(scope="module")
def tmp_path_factory(over_s3: OverS3) -> _Folders:
    return _Folders(over_s3.folder)


@pytest.fixture
def tmp_path(over_s3: OverS3) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="test-", dir=over_s3.folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def data_dir(over_s3: OverS3) -> Path:
    if not (REAL_FILES / "MANIFEST.tsv").exists():
        pytest.skip(f"no real files at {REAL_FILES}; set TFRECORD_FAST_DATA to where they are")
    return Path(shutil.copytree(REAL_FILES, over_s3.folder / "real", dirs_exist_ok=True))


# What the tests get in place of the fixtures of the same names.
_FIXTURES = {"tmp_path_factory": tmp_path_factory, "tmp_path": tmp_path, "data_dir": data_dir}


@pytest.fixture(scope="session")
def over_s3() -> Iterator[OverS3]:
    """A bucket that is a folder."""
    store = OverS3()
    yield store
    store.close()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return _Files.from_parent(parent, path=module_path) if module_path == Path(__file__) else None


class _Files(pytest.Module):
    """This file, when pytest collects it: the tests of FILES are collected in its name."""

    def collect(self) -> Iterator[pytest.Collector]:
        for name in FILES:
            yield _OneFile.from_parent(self, path=ROOT / name, name=name, nodeid=f"{self.nodeid}::{name}")


class _OneFile(pytest.Module):
    def _getobj(self) -> ModuleType:
        """A copy of the module, with its own fixtures: pytest looks for these once in each module."""
        *folders, name = self.path.relative_to(ROOT).with_suffix("").parts
        copy = ModuleType(name)
        if (self.path.parent / "conftest.py").exists():
            vars(copy).update(vars(importlib.import_module(".".join([*folders, "conftest"]))))
        vars(copy).update(vars(importlib.import_module(".".join([*folders, name]))))
        vars(copy).update(_FIXTURES, _read_over_s3=_read_over_s3)
        return copy

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        left_out = {test for files in LEFT_OUT.values() for test in files.get(self.name, [])}
        for item in super().collect():
            # A test without a folder reads no file.
            has_files = not _FIXTURES.keys().isdisjoint(getattr(item, "fixturenames", ["tmp_path"]))
            if has_files and getattr(item, "originalname", item.name) not in left_out:
                yield item


def main() -> int:
    plugins = [word for name in ("tests.conftest", "tools.remote.over_s3") for word in ("-p", name)]
    return int(pytest.main([*plugins, __file__, *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
