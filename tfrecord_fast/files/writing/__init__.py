"""Records and columns to files.

| module | contents |
| --- | --- |
| `writer` | TFRecordWriter: records to one file |
| `example_writer` | ExampleWriter: columns to shards |
| `output_files` | the files of an ExampleWriter, renamed once complete |
"""
