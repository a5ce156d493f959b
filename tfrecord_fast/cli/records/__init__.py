"""One record at a time: decode it, show it, write it as JSON, test it with a condition.

- `decoding`: a record of any kind as a tree of values.
- `showing`: the lines that a terminal shows of a record.
- `json_values`: values in strict JSON, without loss.
- `where`, `selecting`: the conditions of --where, and the features that they compare.
"""
