"""Runs Beam's pipelines in this process, and says what came out."""

import itertools
import os
from typing import ClassVar

import apache_beam as beam
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.options.pipeline_options import PipelineOptions

RUNNER = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"  # without looking for others, or their downloads

_numbers = itertools.count()
_collected = {}


def collected(*transforms, options=None):
    """The elements that the transforms give, one after the other; and the counters, by name."""
    number = next(_numbers)
    _collected[number] = []
    with beam.Pipeline(runner=RUNNER, options=options) as pipeline:
        found = pipeline
        for transform in transforms:
            found = found | transform
        found | "Collect" >> beam.Map(_collect, number)
    counters = pipeline.result.metrics().query()["counters"]
    return _collected.pop(number), {one.key.metric.name: one.committed for one in counters}


def _collect(element, number):
    _collected[number].append(element)


def processes(workers=2):
    """A pipeline whose workers are processes of their own."""
    options = PipelineOptions(direct_running_mode="multi_processing", direct_num_workers=workers)
    options.view_as(beam.options.pipeline_options.SetupOptions).pickle_library = "cloudpickle"
    return beam.Pipeline(runner=RUNNER, options=options)


class Elsewhere(LocalFileSystem):
    """A file system of Beam's that only Beam knows: elsewhere://folder/name is the local file /folder/name.

    Attributes:
      opened: the URLs that were opened for reading.
    """

    opened: ClassVar[list[str]] = []

    @classmethod
    def scheme(cls):
        return "elsewhere"

    def split(self, path):
        folder, _, name = path.rpartition("/")
        return folder, name

    def _url_dirname(self, path):
        return self.split(path)[0]

    def _list(self, folder):
        for found in super()._list(_local(folder)):
            yield FileMetadata(_url(found.path), found.size_in_bytes, found.last_updated_in_seconds)

    def _path_open(self, path, mode, mime_type, compression_type):
        if mode == "rb":
            self.opened.append(path)
        return super()._path_open(_local(path), mode, mime_type, compression_type)

    def mkdirs(self, path):
        super().mkdirs(_local(path))

    def rename(self, sources, targets):
        super().rename([*map(_local, sources)], [*map(_local, targets)])

    def metadata(self, path):
        found = super().metadata(_local(path))
        return FileMetadata(path, found.size_in_bytes, found.last_updated_in_seconds)

    def exists(self, path):
        return super().exists(_local(path))

    def size(self, path):
        return super().size(_local(path))

    def last_updated(self, path):
        return super().last_updated(_local(path))

    def checksum(self, path):
        return super().checksum(_local(path))

    def delete(self, paths):
        super().delete([*map(_local, paths)])


def _local(url):
    return url.replace("elsewhere:/", "", 1)


def _url(path):
    return f"elsewhere:/{path}"


class KilledOnce(beam.DoFn):
    """Passes elements on, and kills its process at one of them, if no process was killed there before."""

    def __init__(self, mark, at):
        self._mark, self._at = str(mark), at

    def process(self, element):
        if element == self._at and not os.path.exists(self._mark):
            with open(self._mark, "w"):
                pass
            os.kill(os.getpid(), 9)
        yield element
