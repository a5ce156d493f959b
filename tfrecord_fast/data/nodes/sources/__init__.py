"""Nodes without inputs, or whose inputs are names of files.

| module | subject |
| --- | --- |
| `values` | values in memory, generators, random numbers, lists of files |
| `records` | records of TFRecord files |
| `record_batches` | batches of a native stream, cut and joined |
"""
