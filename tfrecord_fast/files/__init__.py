"""Files: what a name means, records out of files and into them, and where each record stands.

| module | what |
| --- | --- |
| `names` | paths, patterns, URLs and file objects, as the core opens them |
| `file_system`, `whole_files` | listing, copying, removing; a file read or written as a whole |
| `options`, `writer`, `example_writer` | records, and columns, to files |
| `shard_reader`, `record_iterator` | files to records and columns |
| `index`, `indexed_reader` | records in any order |
| `infer` | the features of the records in files |
"""
