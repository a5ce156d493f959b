"""How an iteration starts: the native reader executes as many nodes as it can, Python the rest.

| module | subject |
| --- | --- |
| `plan` | `RecordPlan`: shuffle, repeat, take, skip, shard and batch as one native stream |
| `planning` | the table of nodes that a plan can include |
| `running` | the run of an iteration or of an epoch; one worker's elements; `repr` of nodes |
"""
