"""Ray Data: TFRecord files as a dataset, and datasets as TFRecord files.

| module | contents |
| --- | --- |
| `reading` | a Datasource whose tasks read byte ranges of files |
| `writing` | a Datasink whose shards appear when the write has succeeded |
| `tensors` | Arrow's fixed-size lists as Ray's tensors, and back |
"""

from ...base.optional import extra_named

with extra_named("ray"):
    from .reading import TFRecordDatasource, read_tfrecords
    from .writing import TFRecordDatasink, write_tfrecords

__all__ = ["TFRecordDatasink", "TFRecordDatasource", "read_tfrecords", "write_tfrecords"]
