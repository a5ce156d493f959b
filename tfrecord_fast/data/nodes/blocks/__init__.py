"""Blocks along a chain: runs of elements between nodes whose functions run once per block.

An iterator of blocks is an iterator of their elements, in runs: an error comes in the place of its element, and
`next()` continues after it. No block is empty.

| module | subject |
| --- | --- |
| `sizes` | how many records a block has |
| `iterators` | records, functions, and the selection of elements by number |
| `shuffling` | the shuffle of rows |
| `batches` | batches, cut from blocks |
"""
