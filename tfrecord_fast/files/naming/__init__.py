"""Names of files, as values: nothing here opens a file or calls a store.

| module | contents |
| --- | --- |
| `location` | local path or URL |
| `addresses` | the parts of a URL, and how to show it without credentials |
| `patterns` | local files that match a pattern |
| `file_objects` | file objects passed by the user |
| `byte_range` | a piece of a file, passed between processes |
| `compression` | compression types and options |
| `numbers` | record flags, numbers, offsets and sizes, checked for the core |
| `formats` | other file formats, recognised by their first bytes |
"""
