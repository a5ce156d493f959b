"""One shard for each task of an engine that writes: a folder gets all of them at the end, or none."""

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

__all__ = ["TaskShards"]

MANIFEST = "_manifest.json"
Mode = Literal["error", "append", "overwrite"]


class TaskShards:
    """What the driver and the tasks of one write share. It pickles.

    The driver calls `begin`, then each task `write`, then the driver `commit`, or `abort`. A task may run several
    times, also at the same time: what the last one completes counts, under the name of the task.

    In a local folder, tasks write into a hidden folder in it, and `commit` gives the shards their names. In a store,
    where that would copy them, a shard appears under its name when its task has written it; `abort` deletes those of
    this write. The manifest comes last, so that a reader that takes it sees all shards or none.

    Args:
      folder: a path or a URL.
      mode: "error": FileExistsError unless the folder has nothing in it; "append": beside what is there; "overwrite":
        what was there is removed when all shards are complete.
      options: as for TFRecordWriter.
      storage_options: of a URL's store.

    Raises:
      errors.InvalidArgumentError: an unknown mode.
      ValueError: unknown compression.
    """

    def __init__(
        self,
        folder: PathLike,
        mode: Mode = "error",
        options: str | TFRecordOptions | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if mode not in ("error", "append", "overwrite"):
            raise InvalidArgumentError(f'mode is "error", "append" or "overwrite", got {mode!r}')
        name, self._is_remote = location_of(folder)
        self.folder = name.rstrip("/") if self._is_remote else os.path.abspath(name)
        self._mode, self._options, self._storage_options = mode, options, storage_options
        codec = CODECS.get(TFRecordOptions.get_compression_type_string(options))
        self._extension = ".tfrecord" + ("" if codec is None else codec.extension)
        self._before: list[str] = []  # what is in the folder when the write begins
        self._made = False  # the folder, by this write
        self.id = secrets.token_hex(6)

    @property
    def _drafts(self) -> str:
        return os.path.join(self.folder, f"._tfrecord-{self.id}")

    def begin(self) -> None:
        """Raises FileExistsError: mode "error", and there is something. Makes the folder."""
        self._before = self._found()
        if self._mode == "error" and self._before:
            raise FileExistsError(17, "the folder is not empty", shown_name(self.folder))
        if not self._is_remote:
            self._made = not os.path.isdir(self.folder)
            os.makedirs(self._drafts)

    def write(self, task: int, tables: Iterable[Any]) -> list[WrittenFile]:
        """Writes what one try of a task has: one shard for each folder below the folder, none without rows.

        Args:
          task: its number, the same for all tries.
          tables: of any kind that ExampleWriter takes, or batches of serialized records; or pairs (folder, table),
            whose folder is below the one that is written: "" or "year=2024/month=1".
        """
        if not self._is_remote and not os.path.isdir(self._drafts):
            raise FileNotFoundError(2, "the write has ended, or its folder can't be reached from here", self.folder)
        attempt = secrets.token_hex(4)
        writers: dict[str, ExampleWriter] = {}
        with contextlib.ExitStack() as stack:  # an exception aborts all
            for given in tables:
                folder, table = given if isinstance(given, tuple) else ("", given)
                if len(table) == 0:
                    continue
                if folder not in writers:
                    writers[folder] = stack.enter_context(self._writer(task, attempt, folder))
                if isinstance(table, _core.RecordBatch):
                    writers[folder].write_batch(table)
                else:
                    writers[folder].write(table)
        return [writer.close()[0] for writer in writers.values()]

    def _writer(self, task: int, attempt: str, folder: str) -> ExampleWriter:
        place = "/".join(filter(None, [self.folder if self._is_remote else self._drafts, folder]))
        if not self._is_remote:
            os.makedirs(place, exist_ok=True)
        # In a store, the name under which it appears: that of the task, whichever try is the last.
        mark = self.id if self._is_remote else f"{self.id}-{attempt}"
        path = f"{place}/part-{task:05d}-{mark}{self._extension}"
        return ExampleWriter(path, options=self._options, num_threads=1, storage_options=self._storage_options)

    def commit(self, written: Iterable[WrittenFile]) -> list[WrittenFile]:
        """Gives the shards their names, writes the manifest, and then removes what is replaced.

        If it fails before the manifest is there, it aborts. After that the new shards stay, whatever can't be removed.

        Args:
          written: what `write` returned, for each task that of the try that counts.

        Raises:
          FileExistsError: mode "error", and another write into the folder has ended since this one began.
        """
        with self._alone():
            try:
                final = self._published_all(sorted(written, key=lambda one: one.path))
            except BaseException:
                self.abort()
                raise
            # What another write has put there meanwhile is replaced too: the manifest lists only these shards.
            for name in self._found() if self._mode == "overwrite" else []:
                if name != MANIFEST and self.id not in name:
                    with contextlib.suppress(FileNotFoundError):
                        self._remove_old(name)
        return final

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Of the commits into one folder, those of other processes wait; not of a store, nor if they can't."""
        if self._is_remote or not os.path.isdir(self.folder):
            yield
            return
        place = os.open(self.folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(place, fcntl.LOCK_EX)
            yield
        finally:
            os.close(place)

    def _published_all(self, written: list[WrittenFile]) -> list[WrittenFile]:
        manifest = f"{self.folder}/{MANIFEST}"
        if self._mode == "error" and file_system.exists(manifest, storage_options=self._storage_options):
            raise FileExistsError(17, "another write has filled the folder meanwhile", shown_name(self.folder))
        listed = self._listed_before() if self._mode == "append" else []
        final = written if self._is_remote else [self._published(file) for file in written]
        if not self._is_remote:
            self._remove_drafts()
        if listed is not None:
            write_manifest(manifest, [*listed, *final], self._storage_options)
        return final

    def _published(self, file: WrittenFile) -> WrittenFile:
        folder, name = os.path.split(os.path.relpath(file.path, self._drafts))
        attempt = name.index(self.id) + len(self.id)
        place = os.path.join(self.folder, folder) if folder else self.folder
        path = os.path.join(place, name[:attempt] + self._extension)
        os.makedirs(place, exist_ok=True)
        os.replace(file.path, path)
        return file._replace(path=path)

    def abort(self) -> None:
        """Nothing of this write stays, except what a task writes to a store after this.

        If the manifest lists its shards, they are published, and stay: engines abort after a commit that has failed,
        in another process perhaps.
        """
        if self._is_listed():
            return
        if not self._is_remote:
            self._remove_drafts()
        with contextlib.suppress(OSError):
            for path in self._walked(self.folder):
                if self.id in os.path.basename(path):
                    file_system.remove(path, storage_options=self._storage_options)
        if self._made:
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

    def _remove_old(self, name: str) -> None:
        """What is there from before: a file, or all in a folder that is not of this write."""
        path = f"{self.folder}/{name}"
        if not file_system.isdir(path, storage_options=self._storage_options):
            file_system.remove(path, storage_options=self._storage_options)
            return
        for one in self._walked(path):
            if self.id not in os.path.basename(one):
                file_system.remove(one, storage_options=self._storage_options)
        if not self._is_remote:
            self._remove_empty(path)

    def _remove_empty(self, folder: str) -> None:
        for top, _, _ in os.walk(folder, topdown=False):
            if "/._tfrecord-" not in top:  # another write may have begun
                with contextlib.suppress(OSError):
                    os.rmdir(top)

    def _listed_before(self) -> list[WrittenFile] | None:
        """What the manifest that is there lists; None if there are files and no manifest: it could not tell of them."""
        try:
            with file_system.GFile(f"{self.folder}/{MANIFEST}", "rb", storage_options=self._storage_options) as file:
                said = json.loads(file.read())["files"]
        except FileNotFoundError:
            return None if self._before else []
        return [WrittenFile(f"{self.folder}/{one['name']}", one["records"], one["bytes"]) for one in said]

    def _found(self) -> list[str]:
        """What is in the folder, except drafts of others."""
        try:
            names = file_system.listdir(self.folder, storage_options=self._storage_options)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [name for name in names if not name.startswith("._tfrecord-")]

    def _remove_drafts(self) -> None:
        with contextlib.suppress(OSError):
            file_system.rmtree(self._drafts)
