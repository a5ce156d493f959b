"""The Lightning example does what docs/integrations/torch.md says."""

import importlib.util

import lightning
import pytest

from tests.support.paths import EXAMPLES
from tfrecord_fast.integrations.torch import LabelledBatch


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("lightning_module", EXAMPLES / "lightning_module.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_model_learns_from_a_data_module(example, tmp_path):
    example.write(str(tmp_path))
    assert example.train(str(tmp_path)) < 1e-3


def test_a_checkpoint_has_the_position(example, tmp_path):
    """A run that stops in the middle of an epoch continues with the batches that it has not seen."""
    example.write(str(tmp_path))
    kept = str(tmp_path / "kept.ckpt")

    class Seen(lightning.Callback):
        def __init__(self):
            self.batches = []

        def on_train_batch_start(self, trainer, module, batch, index):
            assert type(batch) is LabelledBatch
            self.batches.append(batch.label.tolist())

        def on_train_batch_end(self, trainer, *_):
            if trainer.global_step == 7:
                trainer.save_checkpoint(kept)

    def fit(steps, **given):
        seen = Seen()
        trainer = lightning.Trainer(
            max_steps=steps,
            limit_train_batches=16,  # all; Lightning reads ahead where it doesn't know how many there are
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[seen],
        )
        trainer.fit(example.Plane(), datamodule=example.Points(str(tmp_path)), **given)
        return seen.batches

    whole = fit(30)
    assert fit(7) + fit(30, ckpt_path=kept, weights_only=False) == whole
