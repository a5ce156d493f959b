"""Apache Beam: TFRecord files as PCollections, and PCollections as TFRecord files.

| module | contents |
| --- | --- |
| `reading`, `writing` | the PTransforms |
| `sources` | files and byte ranges of files as Beam's bounded sources |
| `elements` | conversion of records to bytes, dicts, rows or Arrow batches |
| `access` | listing, opening and dividing files |
| `compression` | Beam's names of compressions |
"""

from ...base.optional import extra_named

with extra_named("beam"):
    from .reading import ReadAllFromTFRecord, ReadFromTFRecord
    from .writing import WriteToTFRecord

__all__ = ["ReadAllFromTFRecord", "ReadFromTFRecord", "WriteToTFRecord"]
