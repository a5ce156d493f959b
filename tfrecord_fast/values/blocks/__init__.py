"""Blocks: runs of elements that are kept as columns, on which functions run once for all.

| module | for |
| --- | --- |
| `columns` | one value per element: dense, uneven, sparse, or any |
| `images` | images that are drawn when their array is needed |
| `block` | a structure of columns, or a list of elements |
"""
