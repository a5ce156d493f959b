"""Tensors: arrays and byte strings with TensorFlow's methods, and their conversion from and to plain values.

- `wrapping`, `columns`: plain values become tensors for scripts, and tensors plain values for the package
- `tensor`, `arithmetic`: Tensor, its items, references to it, and its operators
- `tensor_dtypes`, `tensor_shape`, `tensor_specs`: DType, TensorShape, TensorSpec and its relatives
- `ragged_tensor`, `ragged_items`, `ragged_rows`: RaggedTensor, its items, and rows of one known length
- `sparse_tensor`: SparseTensor
"""
