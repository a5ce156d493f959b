"""Helpers for every room.

| module | for |
| --- | --- |
| `optional`, `lazy` | optional packages, names imported on first use |
| `threads`, `cgroups`, `ranks` | the number of threads; workers and ranks that share the processors |
| `workers`, `process`, `handlers` | threads that run calls; forks; signal handlers |
| `record_format`, `file_stamp` | sizes in the file format; file size and time, to notice changes |
| `seeds`, `samples`, `casting` | random seeds, made-up elements, TensorFlow's casts |
| `build_info`, `version` | how the package was built |
"""
