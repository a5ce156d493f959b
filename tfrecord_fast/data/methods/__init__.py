"""The methods of Dataset, by kind: each makes a node, and gives a dataset of it.

| module | what |
| --- | --- |
| `sources` | datasets of values, numbers and generators |
| `elements` | functions of elements |
| `order` | which elements come when, and what is made ahead or kept |
| `batches` | elements made one, and taken apart |
| `joins` | several datasets made one |
"""
