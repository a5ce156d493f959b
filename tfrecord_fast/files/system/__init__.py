"""Files by name, local or in a store.

| module | contents |
| --- | --- |
| `file_system` | `tf.io.gfile`: list, stat, copy, rename, remove |
| `remote_files` | the same for URLs |
| `url_reader`, `url_writer` | URLs opened as files |
| `whole_files` | a file read or written as a whole |
| `temporary` | files written under a temporary name and renamed once complete |
"""
