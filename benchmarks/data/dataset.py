"""The description of the data for a contender: files and sizes, in a form that is sent to its process as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any

from benchmarks.data.answers import Answer

# By name: [kind, dtype, shape], as in workloads.Feature, in the lists that JSON has.
Features = dict[str, list[Any]]


@dataclass(frozen=True)
class Dataset:
    """TFRecord files that hold the same kind of record.

    `file_bytes` is the size of the uncompressed files together, which is what every MB/s refers to. `gzip_files` and
    each of `shardings`, by number of shards, hold the same records in the same order; they are empty if they were not
    asked for. `compression` is that of `gzip_files`: GZIP, except for the user's own files. Those may be `only_packed`:
    then `files` are inflated copies of them, for tasks that work on records. `features` and `sequences` are plain data,
    as in workloads.py. `answer` is the reference's. What is derived from the data is kept in `folder`, if there is one.
    """

    name: str
    files: list[str]
    gzip_files: list[str]
    batch: int
    file_bytes: int
    gzip_bytes: int
    answer: Answer
    shardings: list[list[str]] = field(default_factory=list)
    features: Features = field(default_factory=dict)
    sequences: Features = field(default_factory=dict)
    compression: str = "GZIP"
    only_packed: bool = False
    folder: str = ""

    @property
    def records(self) -> int:
        return int(self.answer["records"])

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Dataset:
        known = {f.name for f in dataclass_fields(cls)}  # data made by an earlier harness has other fields
        return cls(**{name: value for name, value in fields.items() if name in known})
