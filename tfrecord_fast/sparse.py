"""`tf.sparse`: SparseTensor, and its conversion to dense arrays."""

from .values.columns.sparse import SparseTensor, to_dense

__all__ = ["SparseTensor", "to_dense"]
