"""Files made from other files, or from the tasks of an engine.

| module | contents |
| --- | --- |
| `dividing`, `sampling`, `shuffling`, `deduplicating`, `repairing` | one command each |
| `row_keys` | keys that identify records |
| `multi_file_writer` | several files that are renamed together |
| `task_shards` | one shard for each task of an engine |
"""
