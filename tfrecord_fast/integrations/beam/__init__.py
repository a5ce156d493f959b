"""Apache Beam: TFRecord files as PCollections, and PCollections as TFRecord files.

| module | what |
| --- | --- |
| `reading`, `writing` | the PTransforms |
| `sources` | files and parts of files as Beam's bounded sources |
| `elements` | what becomes of records: bytes, dicts, Arrow batches |
| `access` | which files there are, how they are opened, and where they are divided |
| `compression` | Beam's names of compressions |
"""

from .reading import ReadAllFromTFRecord, ReadFromTFRecord
from .writing import WriteToTFRecord

__all__ = ["ReadAllFromTFRecord", "ReadFromTFRecord", "WriteToTFRecord"]
