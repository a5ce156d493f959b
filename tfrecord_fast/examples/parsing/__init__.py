"""Records to columns.

| module | for |
| --- | --- |
| `parse` | `parse_example` and the other public functions |
| `plans` | a dict of features, compiled and cached |
| `table_plan` | the same for Arrow tables |
| `raw_columns` | the columns that a dict of features asks the core for |
| `groups` | features that share one column |
| `results`, `partitions` | the core's columns to SparseTensors and RaggedTensors |
| `made_up` | records of zeros, to learn the shapes that a function returns |
"""
