"""`tf.sparse`: SparseTensor, and dense arrays made of it."""

from .values.columns.sparse import SparseTensor, to_dense

__all__ = ["SparseTensor", "to_dense"]
