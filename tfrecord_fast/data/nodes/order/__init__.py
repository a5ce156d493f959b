"""Transformations of the order of elements.

| module | subject |
| --- | --- |
| `ordering` | `shuffle`, `repeat`, `take`, `skip`, `shard` |
| `cache` | elements kept in memory or in a file |
"""
