"""tfrecord_fast feeds a training loop: through PyTorch's DataLoader and through Grain."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Job, Setting
from benchmarks.contenders.kit.feeding import Feeding, buffer_of, of_tensors
from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.ours.features import columns_of, features_of

WORKERS = {
    "DataLoader": {},
    "DataLoader, 2 workers": {"num_workers": 2, "persistent_workers": True},
    "DataLoader, 4 workers": {"num_workers": 4, "persistent_workers": True},
    "DataLoader, 2 workers started anew": {"num_workers": 2},
}


def train_feed(job: Job) -> list[Setting]:
    job.needs_features()
    settings = through_torch(job) if importable("torch") else []
    return settings + (through_grain(job) if importable("grain") else [])


def through_torch(job: Job) -> list[Setting]:
    """Strings as lists of bytes and as tensors of them."""
    from torch.utils.data import DataLoader

    from tfrecord_fast.integrations.torch import TFRecordIterableDataset, TFRecordMapDataset

    features, n, buffer = features_of(job), job.dataset.batch, buffer_of(job)
    has_strings = any(dtype == "string" for _, dtype, _ in job.dataset.features.values())
    settings: list[Setting] = []
    for row, workers in WORKERS.items():
        for strings in ("list", "uint8") if has_strings else ("list",):
            dataset = TFRecordIterableDataset(
                job.dataset.files,
                features,
                batch_size=n,
                shuffle_files=True,
                shuffle_buffer=buffer,
                strings=strings,
            )
            label = f"TFRecordIterableDataset, shuffle_buffer={buffer}" + f", strings={strings}" * has_strings
            settings.append(Feeding(label, DataLoader(dataset, batch_size=None, **workers), of_tensors, row))
    records = TFRecordMapDataset(job.dataset.files, features)
    loader: Any = DataLoader(records, batch_size=n, shuffle=True)
    return [*settings, Feeding("TFRecordMapDataset, shuffle=True", loader, of_tensors, "DataLoader, by number")]


def through_grain(job: Job) -> list[Setting]:
    """Whole batches by a reader, with Grain's thread that prefetches and without it, and single records by number,
    which Grain shuffles and batches."""
    import grain

    from tfrecord_fast.integrations.grain import TFRecordDataSource, TFRecordIterDataset

    features, n, buffer = features_of(job), job.dataset.batch, buffer_of(job)
    batches = TFRecordIterDataset(
        job.dataset.files, features, batch_size=n, shuffle_files=True, shuffle_buffer=buffer, seed=1
    )
    ahead = grain.experimental.ThreadPrefetchIterDataset(batches, prefetch_buffer_size=2)
    label = f"TFRecordIterDataset, shuffle_buffer={buffer}"
    settings: list[Setting] = [
        Feeding(label, batches, columns_of, "Grain"),
        Feeding(f"{label}, ThreadPrefetchIterDataset", ahead, columns_of, "Grain"),
    ]
    source = TFRecordDataSource(job.dataset.files, features, strings="array")
    by_number = grain.MapDataset.source(source).shuffle(seed=1).batch(n)
    for threads in (0, 16):
        read = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=threads)
        settings.append(
            Feeding(
                f"TFRecordDataSource, MapDataset.shuffle.batch, num_threads={threads}",
                by_number.to_iter_dataset(read),
                columns_of,
                "Grain, by number",
            )
        )
    return settings
