"""Columns to records.

| module | for |
| --- | --- |
| `encode` | `encode_examples` and the other public functions |
| `columns` | dicts, data frames and tables to columns |
| `sequences`, `arrow_columns` | NumPy arrays and Python lists, or Arrow arrays, to one column |
| `feature_lists` | the feature lists of SequenceExamples |
| `column` | the type that all of them make |
"""
