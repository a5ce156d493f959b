"""Spark 4: TFRecord files as the data source "tfrecord".

| module | contents |
| --- | --- |
| `source`, `options` | the data source and its options |
| `schemas` | Spark's types and their features |
| `folders` | columns whose values are in names of folders, `key=value` |
| `reading`, `writing` | the work of tasks |
"""

from ...base.optional import extra_named

with extra_named("spark"):
    from .source import TFRecordDataSource, register

__all__ = ["TFRecordDataSource", "register"]
