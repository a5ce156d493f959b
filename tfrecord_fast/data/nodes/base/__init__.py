"""The base of all nodes.

| module | subject |
| --- | --- |
| `node` | `Node`, `Of`, the `Run` that starts nodes, and seeds of random orders |
| `iterators` | iterators that continue after an error |
| `turns` | locks of iterators that threads share |
"""
