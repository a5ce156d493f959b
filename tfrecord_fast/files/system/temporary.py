"""Files that are written under another name first, so that they appear complete or not at all.

The rule for names, and for what is replaced and what is written to as it is, is the core's: csrc/io/draft.h.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.location import location_of

__all__ = ["Target", "complete_file", "local_name", "targets_of"]


class Target(NamedTuple):
    """How to write the file `path`.

    `final` is where it will be: the name that symbolic links lead to. `draft` is what to write and rename to `final`;
    None for a device or a pipe, which is written to as it is.
    """

    path: str
    final: str
    draft: str | None

    @property
    def written(self) -> str:
        """The name to open."""
        return self.path if self.draft is None else self.draft

    def publish(self, overwrite: bool = True) -> None:
        """Gives the draft its name.

        Raises:
          FileExistsError: there is a file of that name by now, and `overwrite` is False.
          OSError: it names `path`.
        """
        if self.draft is None:
            return
        with self.named():
            if overwrite:
                os.replace(self.draft, self.final)
                return
            try:
                os.link(self.draft, self.final)  # unlike a renaming, it fails if there is such a file
            except FileExistsError:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path) from None
            except OSError:  # a file system without links
                if os.path.lexists(self.final):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path) from None
                os.replace(self.draft, self.final)
                return
            os.unlink(self.draft)

    def discard(self) -> None:
        """Removes the draft."""
        if self.draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.draft)

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Errors about the draft name the file that was asked for."""
        try:
            yield
        except OSError as error:
            if self.draft is None or error.filename not in (self.draft, os.fsencode(self.draft)):
                raise
            raise OSError(error.errno, error.strerror, self.path) from error


def targets_of(paths: Sequence[str]) -> list[Target]:
    """How to write files. What killed processes left behind of them is removed; nothing is created.

    Raises:
      OSError: symbolic links form a circle.
      errors.InvalidArgumentError: two paths lead to the same file.
    """
    targets = []
    for path in paths:
        found = _core.find_target(os.fsencode(path))
        draft = None if found.draft is None else os.fsdecode(found.draft)
        targets.append(Target(path, os.fsdecode(found.path), draft))
    replaced = [target for target in targets if target.draft is not None]
    seen: dict[str, str] = {}
    for target in replaced:
        if target.final in seen:
            raise InvalidArgumentError(f"{seen[target.final]} and {target.path} are the same file, {target.final}")
        seen[target.final] = target.path
    if replaced:
        _core.remove_abandoned_drafts([os.fsencode(target.final) for target in replaced])
    return targets


@contextlib.contextmanager
def complete_file(path: str) -> Iterator[str]:
    """The name to write `path` under. At the end the file gets its name; after an exception it is removed.

    Raises:
      OSError: it names `path`.
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
    """The name of a file that is to appear when it is complete.

    Raises:
      errors.InvalidArgumentError: a URL.
    """
    place = location_of(path)
    if place.is_url:
        raise InvalidArgumentError(f"{place.name}: files that appear when complete need a local path, not a URL")
    return place.name
