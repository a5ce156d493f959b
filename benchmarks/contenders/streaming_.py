"""MosaicML Streaming: the same records as MDS shards (https://github.com/mosaicml/streaming)."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Contender, Job, Setting
from benchmarks.contenders.kit.feeding import Feeding, SideBySide, needs


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
    made: list[Setting] = []
    for workers in (0, 2):
        # One dataset each: its locks can't be used in workers after they were used here.
        dataset = streaming.StreamingDataset(local=str(folder), batch_size=n, shuffle=True, num_canonical_nodes=1)
        loader: Any = DataLoader(dataset, batch_size=n, num_workers=workers, persistent_workers=workers > 0)
        row = f"DataLoader, {workers} workers" if workers else "DataLoader"
        made.append(Feeding("StreamingDataset, shuffle=True", loader, layout.columns, row))
    return made


CONTENDER = Contender(
    "streaming",
    "MosaicML Streaming",
    package="mosaicml-streaming",
    module="streaming",
    leaves_out="MDS files of its own; no checksums",
    requirements=("mosaicml-streaming==0.13.0", "protobuf"),
    tasks={"train-feed": train_feed},
)
