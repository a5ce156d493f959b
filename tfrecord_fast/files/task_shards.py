"""One shard for each task of an engine that writes: a folder gets all of them at the end, or none."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ..errors import InvalidArgumentError
from ..typing import PathLike
from . import file_system
from .example_writer import ExampleWriter
from .names import CODECS
from .options import TFRecordOptions
from .shards import WrittenFile, write_manifest
from .urls import place_of, shown_name

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
        name, self._is_remote = place_of(folder)
        self.folder = name.rstrip("/") if self._is_remote else os.path.abspath(name)
        self._mode, self._options, self._storage_options = mode, options, storage_options
        codec = CODECS.get(TFRecordOptions.get_compression_type_string(options))
        self._extension = ".tfrecord" + ("" if codec is None else codec.extension)
        self._made = False  # the folder, by this write
        self.id = secrets.token_hex(6)

    @property
    def _drafts(self) -> str:
        return os.path.join(self.folder, f"._tfrecord-{self.id}")

    def begin(self) -> None:
        """Raises FileExistsError: mode "error", and there is something. Makes the folder."""
        if self._mode == "error" and self._found():
            raise FileExistsError(17, "the folder is not empty", shown_name(self.folder))
        if not self._is_remote:
            self._made = not os.path.isdir(self.folder)
            os.makedirs(self._drafts)

    def name_of(self, task: int) -> str:
        return f"part-{task:05d}-{self.id}{self._extension}"

    def write(self, task: int, tables: Iterable[Any]) -> WrittenFile | None:
        """Writes a task's shard, from tables of any kind that ExampleWriter takes; None if there are no rows."""
        place = self.folder if self._is_remote else self._drafts
        if not self._is_remote and not os.path.isdir(place):
            raise FileNotFoundError(2, "the write has ended, or its folder can't be reached from here", self.folder)
        path = f"{place}/{self.name_of(task)}"
        rows = 0
        with ExampleWriter(path, options=self._options, num_threads=1, storage_options=self._storage_options) as writer:
            for table in tables:
                writer.write(table)
                rows += len(table)
            if rows == 0:
                writer.abort()
                return None
        return writer.close()[0]

    def commit(self, written: Sequence[WrittenFile]) -> list[WrittenFile]:
        """Gives all shards their names, and writes the manifest.

        Args:
          written: what `write` returned for each task, of the try that counts.
        """
        before = self._found() if self._mode == "overwrite" else []
        final = []
        for file in sorted(written, key=lambda one: one.path):
            name = os.path.basename(file.path)
            final.append(file._replace(path=f"{self.folder}/{name}"))
            if not self._is_remote:
                os.replace(os.path.join(self._drafts, name), os.path.join(self.folder, name))
        names = {os.path.basename(file.path) for file in final}
        for name in before:
            if name not in names:
                self._remove(name)
        if not self._is_remote:
            self._remove_drafts()
        listed = self._listed_before() if self._mode == "append" else []
        if listed is not None:
            write_manifest(f"{self.folder}/{MANIFEST}", [*listed, *final], self._storage_options)
        return final

    def _listed_before(self) -> list[WrittenFile] | None:
        """What the manifest that is there lists; None if there are files and no manifest: it could not tell of them."""
        found = [name for name in self._found() if not name.endswith(f"-{self.id}{self._extension}")]
        if MANIFEST not in found:
            return None if found else []
        with file_system.GFile(f"{self.folder}/{MANIFEST}", "rb", storage_options=self._storage_options) as file:
            said = json.loads(file.read())["files"]
        return [WrittenFile(f"{self.folder}/{one['name']}", one["records"], one["bytes"]) for one in said]

    def abort(self) -> None:
        """Nothing of this write stays, except what a task writes to a store after this."""
        if not self._is_remote:
            self._remove_drafts()
            if self._made:
                with contextlib.suppress(OSError):
                    os.rmdir(self.folder)  # if it is empty
            return
        with contextlib.suppress(OSError):
            for name in self._found():
                if name.endswith(f"-{self.id}{self._extension}"):
                    self._remove(name)

    def _found(self) -> list[str]:
        """What is in the folder, except drafts of others."""
        try:
            names = file_system.listdir(self.folder, storage_options=self._storage_options)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [name for name in names if not name.startswith("._tfrecord-")]

    def _remove(self, name: str) -> None:
        path = f"{self.folder}/{name}"
        if file_system.isdir(path, storage_options=self._storage_options):
            file_system.rmtree(path, storage_options=self._storage_options)
        else:
            file_system.remove(path, storage_options=self._storage_options)

    def _remove_drafts(self) -> None:
        with contextlib.suppress(OSError):
            file_system.rmtree(self._drafts)
