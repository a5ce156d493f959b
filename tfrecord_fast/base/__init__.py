"""Helpers for every room.

| module | for |
| --- | --- |
| `optional`, `lazy` | optional packages, names imported on first use |
| `threads`, `cgroups`, `ranks` | the number of threads; workers and ranks that share the processors |
| `workers`, `process` | threads that make calls; noticing forks |
| `seeds`, `samples`, `casting` | random seeds, made-up elements, TensorFlow's casts |
| `build_info`, `version` | how the package was built |
| `hints` | hints for Keras in reprs |
"""
