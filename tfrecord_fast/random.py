"""`tf.random.set_seed`: the seed of shuffles without one of their own."""

from .base.seeds import set_seed

__all__ = ["set_seed"]
