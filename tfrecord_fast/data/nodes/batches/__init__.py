"""Several elements as one.

| module | subject |
| --- | --- |
| `batching` | `batch`, `rebatch`, `unbatch` |
| `padding` | `padded_batch`, `ragged_batch` |
| `runs` | the iterators of batches and windows |
"""
