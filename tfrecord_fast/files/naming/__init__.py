"""Names of files, as values: nothing here opens a file or asks a store.

| module | contents |
| --- | --- |
| `location` | local path or URL |
| `addresses` | the parts of a URL, and how to show it without credentials |
| `patterns` | local files that match a pattern |
| `file_objects` | file objects passed by the user |
| `byte_range` | a piece of a file, passed between processes |
| `compression` | compression types and options |
| `numbers` | record numbers, offsets and sizes as the core takes them |
| `formats` | formats that are not TFRecord, recognised by their first bytes |
"""
