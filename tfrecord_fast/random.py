"""`tf.random.set_seed`: the seed of shuffles that are given none."""

from .base.seeds import set_seed

__all__ = ["set_seed"]
