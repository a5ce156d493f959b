"""Files that are written under a temporary name and renamed once complete.

The rules for names, and for devices and pipes, are the core's: csrc/io/draft.h.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.addresses import public_url
from ..naming.location import location_of

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # in which Python's files name nothing


class Target(NamedTuple):
    """How to write the file `path`.

    `final` is the target of its symbolic links. `draft` is the file to write and rename to `final`; None for a device
    or a pipe, which is written in place.
    """

    path: str
    final: str
    draft: str | None

    @property
    def written(self) -> str:
        return self.path if self.draft is None else self.draft

    def publish(self, overwrite: bool = True) -> None:
        if self.draft is None:
            return
        with self.named():
            if overwrite:
                os.replace(self.draft, self.final)
                return
            try:
                os.link(self.draft, self.final)  # unlike a rename, it fails if the file exists
            except OSError as error:
                if isinstance(error, FileExistsError) or os.path.lexists(self.final):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path) from None
                # the file system has no links
                os.replace(self.draft, self.final)
                return
            os.unlink(self.draft)

    def discard(self) -> None:
        if self.draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.draft)

    def named(self) -> contextlib.AbstractContextManager[None]:
        """Name `path` in errors about the draft."""
        return errors_named({self.draft: self.path, None: self.path})


@contextlib.contextmanager
def errors_named(paths: Mapping[str | None, str]) -> Iterator[None]:
    """Name the paths of drafts in errors about them, and that of None in errors of a full disk without a name."""
    try:
        yield
    except OSError as error:
        name = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else error.filename
        if name not in paths or (name is None and error.errno not in _FULL):
            raise
        raise OSError(error.errno, error.strerror, paths[name]) from None


def targets_of(paths: Sequence[str]) -> list[Target]:
    """Return how to write files, after removing drafts of them that killed processes left; create nothing."""
    targets = []
    for path in paths:
        check_folder(path)
        names = _core.find_target(os.fsencode(path))
        draft = None if names.draft is None else os.fsdecode(names.draft)
        targets.append(Target(path, os.fsdecode(names.path), draft))
    replaced = [target for target in targets if target.draft is not None]
    seen: dict[str, str] = {}
    for target in replaced:
        if target.final in seen:
            raise InvalidArgumentError(f"{seen[target.final]} and {target.path} are the same file, {target.final}")
        seen[target.final] = target.path
    if replaced:
        _core.remove_abandoned_drafts([os.fsencode(target.final) for target in replaced])
    return targets


def check_folder(path: str | bytes) -> None:
    """Raise FileNotFoundError, with the name of the folder, if the file's folder does not exist."""
    folder = os.fsdecode(os.path.dirname(path)) or "."
    try:
        os.stat(folder)
    except FileNotFoundError:
        message = f"no folder {folder!r}, create it first"
        if re.match("[a-z][a-z0-9]+:/[^/]", name := os.fsdecode(path)):
            message = f"no folder {folder!r}; a URL has two slashes, as {name.replace(':/', '://', 1)}"
        raise FileNotFoundError(errno.ENOENT, message, os.fsdecode(path)) from None


@contextlib.contextmanager
def complete_file(path: str) -> Iterator[str]:
    """Return a context manager with the name to write to. The file is renamed to `path` at the end, or removed after
    an exception.
    """
    (target,) = targets_of([path])
    try:
        with target.named():
            yield target.written
        target.publish()
    except BaseException:
        target.discard()
        raise


def local_name(path: PathLike) -> str:
    """Return the local path of a file that is renamed once complete."""
    location = location_of(path)
    if location.is_url:
        raise InvalidArgumentError(f"{public_url(location.name)}: must be a local path, not a URL")
    return location.name
