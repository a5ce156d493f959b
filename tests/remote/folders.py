"""Folders of objects under one URL, with the same few methods whatever the store."""

import fsspec


class MemoryFolder:
    """fsspec's file system in memory."""

    options = None

    def __init__(self, name):
        self._system = fsspec.filesystem("memory")
        self._base = f"/{name}"

    def put(self, name, data):
        self._system.pipe(f"{self._base}/{name}", data)
        return self.url(name)

    def url(self, name):
        return f"memory:/{self._base}/{name}"

    def close(self):
        if self._system.exists(self._base):
            self._system.rm(self._base, recursive=True)
