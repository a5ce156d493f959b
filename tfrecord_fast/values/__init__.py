"""The values of records: columns, elements of datasets, and functions on them.

| module or room | for |
| --- | --- |
| `columns/` | BytesArray, RaggedTensor, SparseTensor, arrays, and conversion into them |
| `elements/` | tuples and dicts of values: stacked, taken apart, described |
| `plain_ops` | TensorFlow's functions on tensors that scripts use |
| `text` | str to bytes and back, under TensorFlow's names |
| `csv_fields` | the fields of a record of comma-separated values |

`elements` imports `columns`; the modules import both.
"""
