"""Datasets of files.

| module | subject |
| --- | --- |
| `records` | TFRecordDataset |
| `other_files` | TextLineDataset, FixedLengthRecordDataset |
| `csv_files` | CsvDataset, make_csv_dataset |
"""
