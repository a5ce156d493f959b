"""Files: names, the bytes and records behind them, and files written.

Imports run down this table and never back up.

| room | contents |
| --- | --- |
| `reading/`, `rewriting/` | ShardReader and tables; split, sample, shuffle, deduplicate and repair |
| `indexing/`, `writing/` | records in any order; records and columns to files |
| `streams/` | names resolved to files, and their records through the native reader |
| `system/` | files by name, local or in a store: open, list, copy, remove |
| `stores/` | object stores behind URLs |
| `naming/` | paths, URLs, patterns, file objects and byte ranges as values; compression types |
"""
