"""What a column is: BytesArray, RaggedTensor, SparseTensor and arrays; conversion into them, and out to Arrow.

| module | what |
| --- | --- |
| `conversion` | a user's value as one of a known type |
| `typed` | Python's lists as arrays, typed as TensorFlow types them |
| `bytes_array`, `ragged`, `sparse` | the columns that are not plain arrays |
| `composites`, `nests` | sparse and ragged rows; tuples and dicts of values, stacked and taken apart |
| `arrow` | columns as Arrow arrays |
| `ops`, `text` | the few functions on tensors and strings that scripts use |
"""
