"""A store in memory, which counts what is asked of it: for tests in which the way to the server does not matter."""

import errno
import threading
import time

from tfrecord_fast.files.stores import ObjectInfo


class FakeStore:
    """Objects by their keys; each `put` is another version."""

    def __init__(self, **objects):
        self.objects = {}
        self.reads, self.infos = [], 0
        self.delay = 0.0
        self.versions = 0
        self._lock = threading.Lock()
        self.now = self.most = 0
        for key, data in objects.items():
            self.put(key, data)

    def put(self, key, data):
        self.versions += 1
        self.objects[key] = data, f"v{self.versions}"

    def url(self, key):
        return f"fake://bucket/{key}"

    def info(self, key):
        self.infos += 1
        if key not in self.objects:
            raise FileNotFoundError(errno.ENOENT, "no such object", self.url(key))
        data, version = self.objects[key]
        return ObjectInfo(self.url(key), len(data), version)

    def read(self, key, start, end, *, version=None, timeout=None):
        with self._lock:
            self.reads.append((key, start, end))
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            if self.delay:
                time.sleep(self.delay)
            data, now = self.objects[key]
            if version not in (None, now):
                raise OSError(errno.ESTALE, "the object changed while it was read", self.url(key))
            return data[start:end]
        finally:
            with self._lock:
                self.now -= 1

    def read_head(self, key, most, *, timeout=None):
        if key not in self.objects:
            raise FileNotFoundError(errno.ENOENT, "no such object", self.url(key))
        data, version = self.objects[key]
        size = len(data)
        return self.read(key, 0, min(most, size), version=version), ObjectInfo(self.url(key), size, version)

    def pieces(self, key, start, end, *, version=None, timeout=None):
        yield self.read(key, start, end, version=version, timeout=timeout)
