"""Functions on blocks: a script's function is called once for many records, and its operations work on all of them.

| module | subject |
| --- | --- |
| `frames` | the records that an operation works on; splits, and what can't run on blocks |
| `block_tensor` | what the function gets: one tensor per record, seen as the tensor of a single record |
| `calls` | an operation on blocks: by its rule, or in a loop over the records |
| `rules` | the table of rules |
| `elementwise`, `axes`, `indexing`, `images`, `parsing` | the rules |
| `functions` | a script's function on a block of a dataset |

`docs/design.md` has the reasons.
"""
