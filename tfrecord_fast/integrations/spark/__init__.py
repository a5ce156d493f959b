"""Spark 4: TFRecord files as the data source "tfrecord".

| module | what |
| --- | --- |
| `source`, `options` | the data source and its options |
| `schemas` | Spark's types and the features that they are read from |
| `folders` | columns whose values are in names of folders, `key=value` |
| `reading`, `writing` | what tasks do |
"""

from .source import TFRecordDataSource, register

__all__ = ["TFRecordDataSource", "register"]
