"""Trains a small PyTorch model from TFRecord files that Ray Data reads on all cores.

python examples/ray_training.py
"""

import tempfile

import numpy as np
import ray
import torch

import tfrecord_fast as tf
from tfrecord_fast.integrations.ray import read_tfrecords

FEATURES = {"x": tf.FixedLenFeature([8], tf.float32), "y": tf.FixedLenFeature([], tf.float32)}
ROWS, EPOCHS = 20_000, 3


def write(folder):
    """Write points of a plane, with some noise; return its weights."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=8).astype(np.float32)
    x = rng.normal(size=(ROWS, 8)).astype(np.float32)
    y = x @ weights + rng.normal(scale=0.01, size=ROWS).astype(np.float32)
    with tf.ExampleWriter(f"{folder}/train.tfrecord", num_shards=4) as writer:
        writer.write({"x": x, "y": y})
    return weights


def main():
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with tempfile.TemporaryDirectory() as folder:
        weights = write(folder)
        model = torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for epoch in range(EPOCHS):
            dataset = read_tfrecords(folder, FEATURES, shuffle="files", seed=epoch)
            for batch in dataset.iter_torch_batches(batch_size=256, local_shuffle_buffer_size=2048):
                loss = torch.nn.functional.mse_loss(model(batch["x"]).squeeze(-1), batch["y"])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.5f}")
        error = np.abs(model.weight.detach().numpy()[0] - weights).max()
        print(f"largest error of a weight: {error:.4f}")
        assert error < 0.05
    ray.shutdown()


if __name__ == "__main__":
    main()
