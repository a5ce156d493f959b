"""The methods of Dataset. Each creates a node and returns a dataset of it.

| module | subject |
| --- | --- |
| `sources` | datasets of values, numbers and generators |
| `elements` | functions of single elements |
| `order` | order, repetition, prefetching, caches |
| `batches` | batches, and their rows |
| `joins` | several datasets as one |
| `groups` | groups of elements by value, saved datasets |
"""
