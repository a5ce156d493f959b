"""Elements saved in files: `Dataset.save`, `snapshot` and `cache(filename)`.

| module | subject |
| --- | --- |
| `saved` | the file format |
| `record_files` | `data.experimental.TFRecordWriter` |
| `named_tuples` | named tuples and attrs classes of elements |
"""
