"""`import tfrecord_fast.tensorflow as tf`: TensorFlow's names for scripts, whose values have TensorFlow's methods.

The package itself gives NumPy's values and plain bytes. Here the same values are tensors: arrays and byte strings
with `numpy()`, `shape`, `dtype`, `set_shape()` and so on. Names that are not here are TensorFlow's, where it is
installed."""

import pkgutil
from typing import Any

from ..base.lazy import lazy_names
from .fallback import face_names, installed, is_shared, shared

# Where each name comes from. It is imported when it is first asked for.
_own = lazy_names(
    __name__,
    {
        ".": "app compat core data debugging dtypes errors experimental flags gfile image io keras logging math nest "
        "python_io ragged random sparse strings train",
        ".composites": "RaggedTensor SparseTensor",
        ".dtypes": "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16 int32 "
        "int64 int8 string uint16 uint32 uint64 uint8",
        ".ops.arrays": "bitcast broadcast_to cast concat constant convert_to_tensor ensure_shape expand_dims identity "
        "pad rank repeat reshape shape shape_n size split squeeze stack tile transpose unstack",
        ".ops.checks": "Assert assert_equal assert_greater assert_greater_equal assert_less assert_less_equal "
        "assert_rank",
        ".ops.control": "case cond control_dependencies device executing_eagerly function get_static_value group "
        "init_scope is_tensor name_scope no_op numpy_function print py_function stop_gradient switch_case while_loop",
        ".ops.filled": "eye fill linspace meshgrid one_hot ones ones_like range sequence_mask zeros zeros_like",
        ".ops.mapping": "foldl foldr map_fn scan vectorized_map",
        ".ops.numbers": "abs acos add add_n argmax argmin asin atan atan2 clip_by_norm clip_by_value cos cosh "
        "cumsum divide equal exp floor floordiv greater greater_equal less less_equal logical_and logical_not "
        "logical_or matmul maximum minimum multiply negative norm not_equal pow reduce_all reduce_any reduce_logsumexp "
        "reduce_max reduce_mean reduce_min reduce_prod reduce_sum round sigmoid sign sin sinh sqrt square "
        "subtract tan tanh tensordot truediv",
        ".ops.picked": "argsort boolean_mask gather gather_nd reverse roll slice sort unique unique_with_counts where",
        ".ops.scattered": "acosh asinh atanh dynamic_partition einsum saturate_cast scatter_nd searchsorted "
        "tensor_scatter_nd_add tensor_scatter_nd_update truncatediv truncatemod",
        ".ops.strings": "as_string",
        "..examples.features": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
        ".shapes": "TensorShape",
        ".specs": "RaggedTensorSpec SparseTensorSpec TensorSpec TypeSpec",
        ".tensors": "Tensor",
    },
)
# TensorFlow's, where it is installed.
_where_absent = lazy_names(__name__, {".machine": "autograph config distribute get_logger test tpu version"})
_rooms = {module.name for module in pkgutil.iter_modules(__path__)}
_foreign = face_names(__name__, "tf")
__version__ = "2.21.0"  # of the TensorFlow whose names these are; scripts ask whether it begins with 2
newaxis = None
# Names of TensorFlow 1 that TensorFlow 2 has no longer, for scripts that still use them.
_old = lazy_names(
    __name__,
    {
        ".compat.v1": "TFRecordReader arg_max arg_min ceil decode_json_example decode_raw disable_eager_execution "
        "enable_eager_execution lin_space log matching_files parse_example parse_sequence_example "
        "parse_single_example parse_single_sequence_example parse_tensor placeholder py_func random_crop "
        "random_normal random_shuffle random_uniform read_file reduce_join serialize_tensor set_random_seed "
        "sparse_tensor_to_dense string_join string_split string_strip string_to_number substr to_double "
        "to_float to_float32 to_int32 to_int64 write_file"
    },
)


def __getattr__(name: str) -> Any:
    if name in _own.names:
        found = _own.getattr(name)
        if is_shared(found):
            found = globals()[name] = shared(found, f"tf.{name}")
        return found
    if name in _old.names:
        return _old.getattr(name)
    if name in _where_absent.names and not installed():
        return _where_absent.getattr(name)
    if name in _rooms:  # `from . import name`, before it is imported
        raise AttributeError(name)
    return _foreign.getattr(name)


__dir__ = _own.dir
__all__ = sorted([*_own.names, "newaxis"])
