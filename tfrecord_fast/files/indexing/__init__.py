"""Records in any order.

| module | contents |
| --- | --- |
| `index` | RecordIndex: the offset of each record |
| `indexed_reader` | IndexedReader: records by number |
"""
