"""Files by name, local or in a store.

| module | contents |
| --- | --- |
| `file_system` | `tf.io.gfile` and whole files: list, stat, copy, rename, remove, read, write |
| `remote_files` | the same for URLs |
| `url_reader`, `url_writer` | URLs opened as files |
| `temporary` | files written under a temporary name and renamed once complete |
"""
