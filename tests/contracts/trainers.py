"""Adapters of trainers: each reads files in batches of eight records, as dicts of arrays or tensors."""

import itertools

import pytest

__all__ = ["READING_COMPRESSED_FILES", "RESUMING", "TAKING_FEATURES", "TRAINERS"]

BATCH = 8


class GrainDataset:
    def dataset(self, paths, features, shuffled=False, **options):
        from tfrecord_fast.integrations.grain import TFRecordIterDataset

        order = {"shuffle_buffer": 30, "seed": 1} if shuffled else {}
        return TFRecordIterDataset(paths, features, batch_size=BATCH, **order, **options)

    def batches(self, dataset, workers=0):
        import grain

        return dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers)) if workers else dataset

    resumable = batches

    def state(self, batches, iterator):
        return iterator.get_state()

    def resumed(self, batches, state):
        iterator = iter(batches)
        iterator.set_state(state)
        return iterator


class GrainSource(GrainDataset):
    def dataset(self, paths, features, shuffled=False, **options):
        import grain

        from tfrecord_fast.integrations.grain import TFRecordDataSource

        records = grain.MapDataset.source(TFRecordDataSource(paths, features, **options))
        return (records.seed(1).shuffle() if shuffled else records).to_iter_dataset().batch(BATCH)


class Keras:
    def dataset(self, paths, features, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KERAS_BACKEND", "torch")  # counts where Keras is imported for the first time
            from tfrecord_fast.integrations.keras import TFRecordPyDataset

        return TFRecordPyDataset(paths, features, batch_size=BATCH, **options)

    def batches(self, dataset):
        return dataset


class Torch:
    """A TFRecordIterableDataset."""

    def dataset(self, paths, features, shuffled=False, **options):
        from tfrecord_fast.integrations.torch import TFRecordIterableDataset

        order = {"shuffle_buffer": 30, "seed": 1} if shuffled else {}
        return TFRecordIterableDataset(paths, features, batch_size=BATCH, **order, **options)

    def batches(self, dataset, workers=0):
        from torch.utils.data import DataLoader

        return self._loader(DataLoader, dataset, workers)

    def resumable(self, dataset, workers=0):
        from torchdata.stateful_dataloader import StatefulDataLoader

        return self._loader(StatefulDataLoader, dataset, workers)

    def _loader(self, loader, dataset, workers):
        method = "fork" if workers else None
        return loader(dataset, num_workers=workers, multiprocessing_context=method, **self._options(dataset))

    def _options(self, dataset):
        return {"batch_size": None}

    def state(self, batches, iterator):
        return batches.state_dict()

    def resumed(self, batches, state):
        batches.load_state_dict(state)
        return iter(batches)


class TorchByNumber(Torch):
    """A TFRecordMapDataset."""

    def dataset(self, paths, features, shuffled=False, **options):
        from tfrecord_fast.integrations.torch import TFRecordMapDataset

        self._shuffled = shuffled
        return TFRecordMapDataset(paths, features, **options)

    def _options(self, dataset):
        import torch

        if not self._shuffled:
            return {"batch_size": BATCH}
        sampler = torch.utils.data.RandomSampler(dataset, generator=torch.Generator().manual_seed(1))
        return {"batch_size": BATCH, "sampler": sampler}


class Vahidk:
    """Rows of one record, which have the length 1."""

    def dataset(self, paths, features):
        from tfrecord_fast.integrations.vahidk import tfrecord_loader

        names = {"int64": "int", "float32": "float", "string": "byte"}
        description = {key: names[feature.dtype.name] for key, feature in features.items()}
        rows = itertools.chain.from_iterable(tfrecord_loader(path, None, description) for path in paths)
        return ({key: value.reshape(1, *features[key].shape) for key, value in row.items()} for row in rows)

    def batches(self, dataset):
        return dataset


TRAINERS = {
    "grain, a dataset": GrainDataset(),
    "grain, a source": GrainSource(),
    "keras": Keras(),
    "torch": Torch(),
    "torch, by number": TorchByNumber(),
    "vahidk": Vahidk(),
}
READING_COMPRESSED_FILES = [name for name in TRAINERS if name not in ("grain, a source", "torch, by number")]
RESUMING = [name for name in TRAINERS if name not in ("keras", "vahidk")]  # with worker processes of their own
TAKING_FEATURES = [name for name in TRAINERS if name != "vahidk"]
