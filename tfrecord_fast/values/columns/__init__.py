"""Columns of values, and conversion into them.

| module | for |
| --- | --- |
| `bytes_array`, `ragged`, `sparse` | the columns that are not plain arrays |
| `strings` | byte strings, one or many |
| `conversion` | a user's value as an array of a given dtype |
| `typed` | Python's values as arrays, in the dtypes that TensorFlow chooses |
| `arrow` | columns to Arrow without pyarrow |
| `arrow_arrays` | columns to pyarrow's arrays of given types |
"""
