"""Bytes and records out of files.

| module | contents |
| --- | --- |
| `core_files` | paths, patterns, URLs and file objects resolved to files that the core opens |
| `listing` | files in folders and patterns, with their sizes |
| `shard_lists` | lists of files with sizes and record counts, kept as a file |
| `fetching` | threads that fetch objects for the core |
| `records` | the records of files in order |
| `record_iterator`, `record_reader` | TensorFlow 1's iterator; the record at a byte offset |
| `random_access` | files whose records are read in any order |
| `infer` | the features of the records in files |
"""
