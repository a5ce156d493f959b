"""Records and columns of many files, in order, sharded and resumable.

| module | contents |
| --- | --- |
| `shard_reader` | ShardReader |
| `explain` | its `repr` |
| `outputs` | features, groups and label of each batch |
| `assignment` | the files, records and epochs that one iteration reads |
| `iteration` | the current iteration, and the damage it skipped |
| `shards`, `record_counts` | the records of each shard, and how many records files have |
| `epochs`, `state` | the number of the next epoch; saved states |
| `global_shuffle` | all records in random order |
| `tables` | files as Arrow tables |
| `byte_ranges` | files divided into byte ranges for tasks |
"""
