"""File systems of our own, small or read-only, and what the system says when it refuses."""

import os
import subprocess


def mounted(folder, options):
    """A small tmpfs at `folder`, or None if this process may not mount anything."""
    if os.geteuid() != 0:
        return None
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    return folder if done.returncode == 0 else None


def unmount(folder):
    subprocess.run(["umount", "-l", str(folder)], check=True)


def refused(error, number, path):
    """Whether an OSError has this errno, its text and the name of the file."""
    return error.errno == number and error.filename == str(path) and os.strerror(number) in str(error)
