"""Places that files are read from: each takes bytes under a name and returns what readers are given for it."""

import fsspec


class LocalFolder:
    """A folder of this machine."""

    options = None

    def __init__(self, folder):
        self._folder = folder

    def put(self, name, data):
        (self._folder / name).write_bytes(data)
        return self.url(name)

    def url(self, name):
        return str(self._folder / name)


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
