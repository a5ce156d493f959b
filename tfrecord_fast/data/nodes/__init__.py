"""What datasets are made of: nodes, the iterators and threads that they run on, and plans for the native reader.

| module | what |
| --- | --- |
| `node` | what every node can tell and do |
| `sources`, `records` | elements out of nothing, of values, and of files |
| `maps`, `batches`, `order`, `joins`, `prefetch`, `cache`, `errors`, `options` | transformations, by kind |
| `iterators`, `threads`, `padding`, `windows` | what nodes iterate with |
| `plan`, `planning` | what the native reader does, and which nodes it does it for |
| `running`, `describing` | iterators and descriptions of nodes, with their plans |

Nodes know nothing of `Dataset`, nor of plans.
"""
