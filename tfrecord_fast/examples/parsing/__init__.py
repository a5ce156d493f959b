"""Records to columns.

| module | for |
| --- | --- |
| `parse` | `parse_example` and the other public functions |
| `plans` | a dict of features, compiled and cached |
| `table_plan` | the same for Arrow tables |
| `core_columns` | the columns that a dict of features asks the core for |
| `groups` | features that share one column |
| `user_columns`, `partitions` | the core's columns to SparseTensors and RaggedTensors |
| `sample_records` | records of zeros, to learn the shapes that a function returns |
"""
