"""File systems of our own: small ones, and ones that nobody can write to."""

import os
import subprocess


def mounted(folder, options):
    """A small tmpfs at `folder`, or None where this process may mount nothing."""
    if os.geteuid() != 0:
        return None
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    return folder if done.returncode == 0 else None


def unmount(folder):
    subprocess.run(["umount", "-l", str(folder)], check=True)
