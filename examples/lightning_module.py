"""Trains a model from TFRecords with Lightning: a DataModule with training and validation files.

    python examples/lightning_module.py [FOLDER]

Needs the extra `torch`, and the packages torchdata and lightning.
"""

import os
import sys
import tempfile

import lightning
import numpy as np
import torch
from torchdata.stateful_dataloader import StatefulDataLoader

import tfrecord_fast as tf
from tfrecord_fast.integrations.torch import TFRecordIterableDataset

FEATURES = {"x": tf.io.FixedLenFeature([3], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}


def write(folder):
    """Write points and their values on a plane, in two files for training and one for validation."""
    rng = np.random.default_rng(0)
    for name in ("train-0", "train-1", "validation-0"):
        x = rng.normal(size=(512, 3)).astype(np.float32)
        with tf.io.ExampleWriter(os.path.join(folder, f"{name}.tfrecord")) as writer:
            writer.write({"x": x, "y": x @ np.float32([1, -2, 3])})


class Points(lightning.LightningDataModule):
    def __init__(self, folder, batch_size=64):
        super().__init__()
        self.folder, self.batch_size = folder, batch_size

    def loader(self, files, **options):
        # Native threads do the work, without workers. `num_workers=0` makes the number of batches known.
        dataset = TFRecordIterableDataset(
            os.path.join(self.folder, files),
            FEATURES,
            batch_size=self.batch_size,
            label_key="y",
            num_workers=0,
            **options,
        )
        return StatefulDataLoader(dataset, batch_size=None)  # Lightning saves and restores its position

    def train_dataloader(self):
        return self.loader("train-*.tfrecord", shuffle_files=True, shuffle_buffer=1000, seed=1)

    def val_dataloader(self):
        return self.loader("validation-*.tfrecord")


class Plane(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, _):
        return self.loss(batch)

    def validation_step(self, batch, _):
        self.log("loss", self.loss(batch), batch_size=len(batch.label))

    def loss(self, batch):
        columns, label = batch
        return torch.nn.functional.mse_loss(self.layer(columns["x"]).squeeze(1), label)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def train(folder, epochs=3):
    """Return the loss on the validation files."""
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Plane(), datamodule=Points(folder))
    return float(trainer.callback_metrics["loss"])


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    write(folder)
    print(f"loss {train(folder):.6f}")
