"""Transformations of one element at a time.

| module | subject |
| --- | --- |
| `maps` | functions of the user: `map`, `filter`, `scan`, `take_while`, `enumerate` |
| `checks` | `ignore_errors`, `assert_cardinality` |
| `options` | `with_options` |
"""
