"""MosaicML Streaming: the same records as MDS shards (https://github.com/mosaicml/streaming)."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.contenders import Contender, Job, Reading, Setting
from benchmarks.contenders.kit.feeding import Feeding, SideBySide, needs
from benchmarks.contenders.kit.remote import CREDENTIALS, title_of
from benchmarks.data.answers import frames
from benchmarks.native.store import BUCKET, Store


def train_feed(job: Job) -> list[Setting]:
    """A sample's numbers side by side, in as few arrays as can be; shuffled by its default algorithm, whose blocks are
    larger than the data."""
    needs("torch")
    import streaming
    from torch.utils.data import DataLoader

    job.needs_features()
    layout, n = SideBySide(job.dataset), job.dataset.batch
    folder = job.scratch / "mds"
    kinds = {dtype: f"ndarray:{dtype}:{len(names)}" for dtype, names in layout.numbers.items()}
    with streaming.MDSWriter(out=str(folder), columns=kinds | dict.fromkeys(layout.strings, "bytes")) as writer:
        for rows in layout.rows():
            for row in rows:
                writer.write(row)
    settings: list[Setting] = []
    for workers in (0, 2):
        # One dataset each: its locks can't be used in workers after they were used here.
        dataset = streaming.StreamingDataset(local=str(folder), batch_size=n, shuffle=True, num_canonical_nodes=1)
        loader: Any = DataLoader(dataset, batch_size=n, num_workers=workers, persistent_workers=workers > 0)
        row = f"DataLoader, {workers} workers" if workers else "DataLoader"
        settings.append(Feeding("StreamingDataset, shuffle=True", loader, layout.columns, row))
    return settings


def remote(job: Job) -> list[Setting]:
    """About as many MDS shards as there are objects; each pass fetches them into an empty folder."""
    os.environ.update({name.upper(): value for name, value in CREDENTIALS.items()})
    return [of_store(job, files) for files in job.dataset.shardings]


def of_store(job: Job, files: list[str]) -> Setting:
    import streaming

    folder = job.scratch / f"mds-{len(files)}"
    limit = max(job.dataset.file_bytes // len(files), 200_000) if len(files) > 1 else None
    with streaming.MDSWriter(out=str(folder), columns={"bin": "bytes"}, size_limit=limit) as writer:
        for source in files:
            for record in frames(source, check=False):
                writer.write({"bin": record})
    store = Store([str(path) for path in folder.iterdir()], job.scratch / f"store-{len(files)}")
    passes = itertools.count()

    def samples() -> Iterator[bytes]:
        os.environ["S3_ENDPOINT_URL"] = store.endpoint
        streaming.base.util.clean_stale_shared_memory()
        local = job.scratch / f"local-{len(files)}-{next(passes)}"
        data = streaming.StreamingDataset(
            remote=f"s3://{BUCKET}", local=str(local), shuffle=False, batch_size=1, num_canonical_nodes=1
        )
        return (sample["bin"] for sample in data)

    return Fetching("StreamingDataset(remote=s3://…)", samples, row=title_of(files), folder=job.scratch)


class Fetching(Reading):
    """Removes what a pass has fetched."""

    def __init__(self, *arguments: Any, folder: Path, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.folder = folder

    def cleanup(self) -> None:
        for path in self.folder.glob("local-*"):
            shutil.rmtree(path, ignore_errors=True)


CONTENDER = Contender(
    "streaming",
    "MosaicML Streaming",
    package="mosaicml-streaming",
    module="streaming",
    leaves_out="MDS files of its own; no checksums",
    checks=False,
    requirements=("mosaicml-streaming==0.13.0", "protobuf"),
    tasks={"train-feed": train_feed, "remote": remote},
)
