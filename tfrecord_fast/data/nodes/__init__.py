"""Nodes of datasets: sources of elements, and transformations of other nodes.

| room | subject |
| --- | --- |
| `base` | the node itself, and iterators that threads may share |
| `ahead` | threads: `prefetch`, calls of functions, trials that decide whether threads are worth it |
| `elements` | one element at a time: `map`, `filter`, `scan`, `ignore_errors`, options |
| `order` | `shuffle`, `repeat`, `take`, `skip`, `shard`, `cache` |
| `sources` | values in memory, generators, records of files |
| `batches` | `batch`, `padded_batch`, `unbatch`, windows |
| `joins` | several datasets as one, or one as several |
| `native` | the plan: which nodes the native reader executes, and how an iteration starts |

Imports run from the last rows to the first. Nodes know neither `Dataset` nor plans.
"""
