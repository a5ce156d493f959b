"""The files that this process has open, as the system knows them."""

import contextlib
import os


def descriptors(folder):
    """How many of them are under `folder`."""
    links = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{name}"))
    return sum(link.startswith(str(folder)) for link in links)
