"""Files that the user did not name, beside others or in shared folders, where anyone may have put something else."""

from __future__ import annotations

import errno
import os
import stat
import tempfile


def open_regular(path: str, flags: int) -> int:
    """Open a regular file and return its descriptor; never follow a symbolic link or wait for a pipe.

    A file that has another name too is not opened for writing.

    Raises:
      OSError: the file can't be opened, or something else has its name.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    status = os.fstat(descriptor)
    writes = flags & (os.O_WRONLY | os.O_RDWR)
    if not stat.S_ISREG(status.st_mode) or (writes and status.st_nlink > 1):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{os.path.basename(path)} is not a regular file of its own", path)
    return descriptor


def read_regular(path: str, limit: int) -> bytes:
    """Return the bytes of a file as `open_regular` opens it.

    Raises:
      OSError: as `open_regular` does; (EFBIG) the file has more than `limit` bytes.
    """
    with open(open_regular(path, os.O_RDONLY), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content


def replace_regular(path: str, content: bytes) -> None:
    """Write a small file whole. A link of that name is replaced, and not followed."""
    descriptor, draft = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def user_cache(kind: str) -> str:
    """Return the folder for what this package keeps unasked, of one kind."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the specification wants it ignored
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tfrecord_fast", kind)
