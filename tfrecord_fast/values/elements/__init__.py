"""Elements of datasets: tuples and dicts of values.

| module | for |
| --- | --- |
| `nests` | structures: normalised, stacked, sliced, mapped over |
| `composites` | sparse and ragged components: stacked and taken apart |
| `attrs_classes` | instances of attrs classes as structures |
| `specs` | shapes and dtypes of components |
| `samples` | made-up elements of a given spec |
| `owned` | who may write to the arrays of an element |
"""
