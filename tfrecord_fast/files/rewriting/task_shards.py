"""One shard for each task of an engine: a folder gets all of them at the end, or none."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.compression import CODECS, TFRecordOptions
from ..naming.location import location_of, shown_name
from ..system import file_system
from ..writing.example_writer import ExampleWriter
from ..writing.output_files import WrittenFile, write_manifest

MANIFEST = "_manifest.json"
Mode = Literal["error", "append", "overwrite"]


class TaskShards:
    """One write of an engine, which the driver and the tasks share. It pickles.

    The driver calls `begin`, then each task `write`, then the driver `commit`, or `abort`. A task may run several
    times, also in parallel: the result of its last attempt counts.

    In a local folder, tasks write into a hidden subfolder, and `commit` renames the shards. In a store, renaming would
    copy them: a shard appears under its name when its task has written it, and `abort` deletes the shards of this
    write. The manifest is written last, so that a reader of the manifest sees all shards or none.

    Args:
      folder: a path or a URL.
      mode: "error" raises FileExistsError if the folder is not empty; "append" keeps existing files; "overwrite"
        removes existing files once all shards are complete. Links are removed, not followed.
      options: as for TFRecordWriter.
      storage_options: settings of a URL's store.
    """

    def __init__(
        self,
        folder: PathLike,
        mode: Mode = "error",
        options: str | TFRecordOptions | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if mode not in ("error", "append", "overwrite"):
            raise InvalidArgumentError(f'mode must be "error", "append" or "overwrite", got {mode!r}')
        name, self._is_remote = location_of(folder)
        self.folder = name.rstrip("/") if self._is_remote else os.path.abspath(name)
        self._mode, self._options, self._storage_options = mode, options, storage_options
        codec = CODECS.get(TFRecordOptions.get_compression_type_string(options))
        self._extension = ".tfrecord" + ("" if codec is None else codec.extension)
        self._before: list[str] = []  # names in the folder when the write begins
        self._created_folder = False
        self.id = secrets.token_hex(6)

    @property
    def _drafts(self) -> str:
        return os.path.join(self.folder, f"._tfrecord-{self.id}")

    def begin(self) -> None:
        """Create the folder. Raises FileExistsError with mode "error" if the folder is not empty."""
        self._before = self._names()
        if self._mode == "error" and self._before:
            raise FileExistsError(17, "the folder is not empty", shown_name(self.folder))
        if not self._is_remote:
            self._created_folder = not os.path.isdir(self.folder)
            with self._named():
                os.makedirs(self._drafts)

    def write(self, task: int, tables: Iterable[Any]) -> list[WrittenFile]:
        """Write the rows of one attempt of a task: one shard for each subfolder with rows.

        Args:
          task: the task's number, the same for all attempts.
          tables: tables that ExampleWriter takes, or batches of serialized records; or pairs (subfolder, table), with
            subfolders such as "" or "year=2024/month=1".
        """
        if not self._is_remote and not os.path.isdir(self._drafts):
            raise FileNotFoundError(2, "the write has ended, or its folder is not reachable from here", self.folder)
        attempt = secrets.token_hex(4)
        writers: dict[str, ExampleWriter] = {}
        with self._named(), contextlib.ExitStack() as stack:  # an exception aborts all
            for item in tables:
                folder, table = item if isinstance(item, tuple) else ("", item)
                if len(table) == 0:
                    continue
                if folder not in writers:
                    writers[folder] = stack.enter_context(self._writer(task, attempt, folder))
                if isinstance(table, _core.RecordBatch):
                    writers[folder].write_batch(table)
                else:
                    writers[folder].write(table)
        return [writer.close()[0] for writer in writers.values()]

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Name the folder in errors about drafts."""
        try:
            yield
        except OSError as error:
            if not str(error.filename).startswith(self._drafts):
                raise
            raise OSError(error.errno, error.strerror, self.folder) from error

    def _writer(self, task: int, attempt: str, folder: str) -> ExampleWriter:
        target = "/".join(filter(None, [self.folder if self._is_remote else self._drafts, folder]))
        if not self._is_remote:
            os.makedirs(target, exist_ok=True)
        # In a store, this is the final name, so the last attempt replaces the others.
        mark = self.id if self._is_remote else f"{self.id}-{attempt}"
        path = f"{target}/part-{task:05d}-{mark}{self._extension}"
        return ExampleWriter(path, compression=self._options, num_threads=1, storage_options=self._storage_options)

    def commit(self, written: Iterable[WrittenFile]) -> list[WrittenFile]:
        """Rename the shards, write the manifest, and then remove the files that are replaced.

        If it fails before the manifest is written, it aborts. Afterwards the new shards stay, even if removing fails.

        Args:
          written: results of `write`: for each task, that of one attempt.

        Raises:
          FileExistsError: mode "error", and another write into the folder has ended since this one began.
        """
        with self._locked(), self._named():
            try:
                final = self._publish_all(sorted(written, key=lambda file: file.path))
            except BaseException:
                self.abort()
                raise
            if self._mode == "overwrite":
                self._remove_old()
        return final

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock a local folder against commits of other processes, if its file system supports locks."""
        if self._is_remote or not os.path.isdir(self.folder):
            yield
            return
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _publish_all(self, written: list[WrittenFile]) -> list[WrittenFile]:
        manifest = f"{self.folder}/{MANIFEST}"
        if self._mode == "error" and file_system.exists(manifest, storage_options=self._storage_options):
            raise FileExistsError(17, "another write has filled the folder meanwhile", shown_name(self.folder))
        listed = self._listed_before() if self._mode == "append" else []
        final = written if self._is_remote else [self._publish(file) for file in written]
        if not self._is_remote:
            self._remove_drafts()
        if listed is not None:
            self._unlink_links(MANIFEST)
            write_manifest(manifest, [*listed, *final], self._storage_options)
        return final

    def _publish(self, file: WrittenFile) -> WrittenFile:
        folder, name = os.path.split(os.path.relpath(file.path, self._drafts))
        attempt = name.index(self.id) + len(self.id)
        path = os.path.join(self.folder, folder, name[:attempt] + self._extension)
        self._unlink_links(folder)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.replace(file.path, path)
        return file._replace(path=path)

    def abort(self) -> None:
        """Remove all files of this write. Objects that tasks write afterwards stay.

        Shards that the manifest lists are published, and stay: engines also abort after a failed commit, which may have
        run in another process.
        """
        if self._is_listed():
            return
        if not self._is_remote:
            self._remove_drafts()
        with contextlib.suppress(OSError):
            for path in self._walked(self.folder):
                if self.id in os.path.basename(path):
                    file_system.remove(path, storage_options=self._storage_options)
        if self._created_folder:
            with contextlib.suppress(OSError):
                self._remove_empty(self.folder)

    def _is_listed(self) -> bool:
        try:
            with file_system.GFile(f"{self.folder}/{MANIFEST}", "rb", storage_options=self._storage_options) as file:
                return self.id.encode() in file.read()
        except OSError:
            return False

    def _walked(self, top: str) -> list[str]:
        walked = file_system.walk(top, storage_options=self._storage_options)
        return [f"{folder}/{name}" for folder, _, names in walked for name in names]

    def _unlink_links(self, name: str) -> None:
        """Remove links on the way to a name in the folder, before an overwrite writes there."""
        path = self.folder
        for step in name.split("/") if self._mode == "overwrite" and not self._is_remote else []:
            path = os.path.join(path, step)
            if os.path.islink(path):
                os.unlink(path)

    def _remove_old(self) -> None:
        """Remove the files of other writes, also those added since `begin`: the manifest does not list them."""
        root = ""
        for top, folders, names in file_system.walk(self.folder, storage_options=self._storage_options):
            root = root or top
            below = top[len(root) :]  # a store may spell the folder in another way
            if below.startswith("/._tfrecord-"):  # another write may have begun
                continue
            links = [] if self._is_remote else [name for name in folders if os.path.islink(f"{top}/{name}")]
            for name in [*names, *links]:
                if self.id not in name and (below or name != MANIFEST):
                    with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # a store's link to a folder stays
                        file_system.remove(f"{self.folder}{below}/{name}", storage_options=self._storage_options)
        if not self._is_remote:
            self._remove_empty(self.folder)

    def _remove_empty(self, folder: str) -> None:
        for top, _, _ in os.walk(folder, topdown=False):
            if "/._tfrecord-" not in top:  # another write may have begun
                with contextlib.suppress(OSError):
                    os.rmdir(top)

    def _listed_before(self) -> list[WrittenFile] | None:
        """Return the files in the existing manifest, or None if there are files without a manifest."""
        try:
            with file_system.GFile(f"{self.folder}/{MANIFEST}", "rb", storage_options=self._storage_options) as file:
                entries = json.loads(file.read())["files"]
        except FileNotFoundError:
            return None if self._before else []
        return [WrittenFile(f"{self.folder}/{entry['name']}", entry["records"], entry["bytes"]) for entry in entries]

    def _names(self) -> list[str]:
        """Return the names in the folder, except those of unfinished writes."""
        try:
            names = file_system.listdir(self.folder, storage_options=self._storage_options)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [name for name in names if not name.startswith("._tfrecord-")]

    def _remove_drafts(self) -> None:
        with contextlib.suppress(OSError):
            file_system.rmtree(self._drafts)
