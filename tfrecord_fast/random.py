"""`tf.random.set_seed`: the seed of shuffles that set none."""

from .base.seeds import set_seed

__all__ = ["set_seed"]
