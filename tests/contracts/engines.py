"""Engines that read files as tables: each plans to read files, and returns their rows as dicts, in any order."""

import contextlib

import pyarrow

__all__ = ["DIVIDING", "ENGINES", "TAKING_FEATURES"]


class _Engine:
    """An engine that runs in this process and reads files in one go."""

    @contextlib.contextmanager
    def running(self):
        yield self

    def read(self, *arguments, **options):
        return self.rows(self.plan(*arguments, **options))


class Dask(_Engine):
    @contextlib.contextmanager
    def running(self):
        import dask

        with dask.config.set(scheduler="threads", num_workers=2):
            yield self

    def plan(self, *arguments, **options):
        from tfrecord_fast.integrations.dask import read_tfrecords

        return read_tfrecords(*arguments, **options)

    def rows(self, frame):
        return pyarrow.Table.from_pandas(frame.compute(), preserve_index=False).to_pylist()

    def tasks(self, frame):
        return frame.npartitions


class DuckDB(_Engine):
    def plan(self, *arguments, **options):
        from tfrecord_fast.integrations.duckdb import from_tfrecord

        return from_tfrecord(*arguments, **options)

    def rows(self, relation):
        return relation.to_arrow_table().to_pylist()


class HuggingFace(_Engine):
    def __init__(self, **options):
        self._options = options

    def plan(self, *arguments, **options):
        from tfrecord_fast.integrations.huggingface import from_tfrecord

        return from_tfrecord(*arguments, **self._options, **options)

    def rows(self, dataset):
        return list(dataset)


class Polars(_Engine):
    def plan(self, *arguments, **options):
        from tfrecord_fast.integrations.polars import scan_tfrecord

        return scan_tfrecord(*arguments, **options)

    def rows(self, scan):
        return scan.collect().to_arrow().to_pylist()


class Ray(_Engine):
    @contextlib.contextmanager
    def running(self):
        from tests.integrations.ray_kit import local_ray

        with local_ray():
            yield self

    def plan(self, *arguments, **options):
        from tfrecord_fast.integrations.ray import read_tfrecords

        return read_tfrecords(*arguments, **options)

    def rows(self, dataset):
        from tests.integrations.ray_kit import table_of

        return table_of(dataset).to_pylist()

    def tasks(self, dataset):
        return len(list(dataset.to_arrow_refs()))


class Spark(_Engine):
    @contextlib.contextmanager
    def running(self):
        from tests.integrations.spark_kit import local_spark

        with local_spark() as self._session:
            yield self

    def plan(self, path, *, split_bytes=None):
        from tests.integrations.spark_kit import load

        return load(self._session, path, **({} if split_bytes is None else {"splitBytes": split_bytes}))

    def rows(self, frame):
        return frame.toArrow().to_pylist()

    def tasks(self, frame):
        return frame.rdd.getNumPartitions()


ENGINES = {
    "dask": Dask(),
    "duckdb": DuckDB(),
    "huggingface": HuggingFace(),
    "huggingface, streamed": HuggingFace(streaming=True),
    "polars": Polars(),
    "ray": Ray(),
    "spark": Spark(),
}
DIVIDING = ["dask", "ray", "spark"]  # one large file among several tasks
TAKING_FEATURES = [name for name in ENGINES if name != "spark"]  # which takes a schema of its own
