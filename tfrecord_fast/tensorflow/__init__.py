"""`import tfrecord_fast.tensorflow as tf`: TensorFlow's names for scripts, whose values have TensorFlow's methods.

The package itself returns NumPy values and plain bytes. Here the same values are tensors: arrays and byte strings with
`numpy()`, `shape`, `dtype`, `set_shape()` and so on. A name that is missing here comes from TensorFlow, if installed.

This file lists where each name is defined. A definition is imported when its name is first used.
"""

import sys
from collections.abc import Mapping
from typing import Any

from .. import _core
from ..base.lazy import lazy_names
from .fallback import installed, tf_module
from .modules import ModuleNames, add_modules, module_lazy_names

__version__ = "2.21.0"  # of the TensorFlow whose names these are; scripts test that it begins with 2
newaxis = None
_core.set_tensorflow_words(True)  # scripts and tests look for them in errors

_top = module_lazy_names(
    __name__,
    {
        ".": "audio compat core data debugging dtypes errors gfile image io keras linalg logging lookup math nest "
        "python_io ragged random sparse strings train",
        ".dtypes": "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16 int32 "
        "int64 int8 string uint16 uint32 uint64 uint8",
        ".machine": "app flags",
        ".ops.arrays": "bitcast broadcast_to cast concat constant convert_to_tensor ensure_shape expand_dims identity "
        "pad rank repeat reshape shape size split squeeze stack tile transpose unstack",
        ".ops.checks": "Assert assert_equal assert_greater assert_greater_equal assert_less assert_less_equal "
        "assert_rank",
        ".ops.control": "case cond control_dependencies device executing_eagerly function get_static_value group "
        "init_scope is_tensor name_scope no_op numpy_function print py_function stop_gradient while_loop",
        ".ops.encoded": "make_ndarray make_tensor_proto",
        ".ops.filled": "eye fill linspace meshgrid one_hot ones ones_like range sequence_mask zeros zeros_like",
        ".ops.mapping": "map_fn scan",
        ".ops.math": "abs acos acosh add add_n argmax argmin asin asinh atan atan2 atanh clip_by_value cos cosh "
        "cumsum divide einsum equal exp floor floordiv greater greater_equal less less_equal logical_and logical_not "
        "logical_or matmul maximum minimum multiply negative norm not_equal pow reduce_all reduce_any reduce_max "
        "reduce_mean reduce_min reduce_prod reduce_sum round sigmoid sign sin sinh sqrt square subtract tan tanh "
        "tensordot truediv",
        ".ops.picked": "argsort boolean_mask gather gather_nd reverse roll scatter_nd searchsorted slice sort "
        "tensor_scatter_nd_update unique where",
        ".ops.strings": "as_string",
        ".tensor_array": "TensorArray",
        ".tensors.ragged_tensor": "RaggedTensor",
        ".tensors.sparse_tensor": "SparseTensor",
        ".tensors.tensor": "Tensor",
        ".tensors.tensor_shape": "TensorShape",
        ".tensors.tensor_specs": "RaggedTensorSpec SparseTensorSpec TensorSpec TypeSpec",
        "..examples.features": "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature",
    },
    "tf",
)
# Names of TensorFlow 1 that TensorFlow 2 no longer has, for scripts that still use them.
_old = lazy_names(
    __name__,
    {
        ".compat.v1": "TFRecordReader arg_max arg_min ceil check_numerics decode_json_example decode_raw "
        "disable_eager_execution enable_eager_execution lin_space log matching_files parse_example "
        "parse_sequence_example parse_single_example parse_single_sequence_example parse_tensor placeholder "
        "py_func random_crop random_normal random_shuffle random_uniform read_file reduce_join serialize_tensor "
        "set_random_seed sparse_tensor_to_dense sparse_to_dense string_join string_split string_strip "
        "string_to_number substr to_double to_float to_float32 to_int32 to_int64 variable_scope write_file"
    },
)
# Stand-ins for modules of TensorFlow that are used where it is not installed.
_absent = lazy_names(__name__, {".machine": "autograph config distribute get_logger test tpu version"})


def _module_lazy_names(
    path: str, names: Mapping[str, str] | None = None, plain: str = "", public: str = "", left_out: str = ""
) -> tuple[str, ModuleNames]:
    return path, module_lazy_names(f"{__name__}.{path}", names or {}, public or f"tf.{path}", plain, left_out)


# Modules that consist of names only.
add_modules(
    __name__,
    _module_lazy_names("audio", {".ops.encoded": "decode_wav"}),
    _module_lazy_names("core.example.example_pb2", {"..train": "Example SequenceExample"}),
    _module_lazy_names(
        "core.example.feature_pb2",
        {"..train": "BytesList Feature FeatureList FeatureLists Features FloatList Int64List"},
    ),
    _module_lazy_names(
        "debugging",
        {
            ".ops.checks": "Assert assert_equal assert_greater assert_greater_equal assert_less "
            "assert_less_equal assert_negative assert_non_negative assert_non_positive assert_positive "
            "assert_rank assert_shapes check_numerics disable_traceback_filtering=do_nothing "
            "enable_traceback_filtering=do_nothing set_log_device_placement=do_nothing"
        },
    ),
    _module_lazy_names("experimental", {".data.optional": "Optional"}),
    _module_lazy_names("gfile", plain="tfrecord_fast.gfile", public="tf.compat.v1.gfile"),
    _module_lazy_names(
        "image",
        {
            ".ops.encoded": "decode_and_crop_jpeg extract_jpeg_shape is_jpeg",
            ".ops.pictures": "ResizeMethod adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation "
            "central_crop crop_to_bounding_box flip_left_right "
            "flip_up_down pad_to_bounding_box per_image_standardization random_brightness "
            "random_contrast random_crop random_flip_left_right random_flip_up_down random_hue random_saturation "
            "resize resize_image_with_crop_or_pad=resize_with_crop_or_pad resize_images=resize_by_corners "
            "resize_with_crop_or_pad resize_with_pad rgb_to_grayscale rot90 stateless_random_brightness "
            "stateless_random_contrast stateless_random_crop stateless_random_flip_left_right "
            "stateless_random_flip_up_down stateless_random_hue stateless_random_saturation",
        },
        "tfrecord_fast.image",
    ),
    _module_lazy_names(
        "io",
        {".ops.encoded": "decode_and_crop_jpeg extract_jpeg_shape is_jpeg", ".ops.strings": "decode_csv"},
        "tfrecord_fast.io",
        left_out="gfile",
    ),
    _module_lazy_names("io.gfile", plain="tfrecord_fast.io.gfile"),
    _module_lazy_names(
        "linalg", {".ops.math": "einsum l2_normalize matmul norm tensordot", ".ops.picked": "diag_part"}
    ),
    _module_lazy_names(
        "logging",
        {
            ".machine": "DEBUG ERROR FATAL INFO WARN debug error fatal get_verbosity info log set_verbosity "
            "warn=warning warning"
        },
        public="tf.compat.v1.logging",
    ),
    _module_lazy_names(
        "math",
        {
            ".ops.math": "abs accumulate_n=add_n acos acosh add add_n argmax argmin asin asinh atan atan2 "
            "atanh ceil clip_by_value cos cosh cumsum divide divide_no_nan equal exp expm1 floor floordiv "
            "floormod greater greater_equal is_finite is_inf is_nan l2_normalize less less_equal log log1p "
            "logical_and logical_not logical_or logical_xor matmul maximum minimum mod=floormod multiply "
            "negative norm not_equal pow reciprocal reduce_all reduce_any reduce_max reduce_mean reduce_min "
            "reduce_prod reduce_sum rint round rsqrt sigmoid sign sin sinh softplus sqrt square "
            "squared_difference subtract tan tanh tensordot truediv"
        },
    ),
    _module_lazy_names("python_io", plain="tfrecord_fast.python_io", public="tf.compat.v1.python_io"),
    _module_lazy_names("ragged", {".ops.composites": "constant=ragged_constant"}),
    _module_lazy_names(
        "random",
        {
            ".ops.randoms": "categorical gamma normal set_seed shuffle stateless_normal stateless_uniform "
            "truncated_normal uniform"
        },
    ),
    _module_lazy_names(
        "sparse",
        {
            ".ops.composites": "from_dense reorder reset_shape reshape slice",
            ".tensors.sparse_tensor": "SparseTensor",
        },
        "tfrecord_fast.sparse",
    ),
    _module_lazy_names(
        "strings",
        {
            ".ops.strings": "as_string bytes_split join length reduce_join regex_replace split strip substr "
            "to_hash_bucket_fast to_number"
        },
    ),
    _module_lazy_names("train", plain="tfrecord_fast.train"),
)


def __getattr__(name: str) -> Any:
    if name in _old.names:
        return _old.getattr(name)
    if name in _absent.names and not installed():
        return _absent.getattr(name)
    return _top.getattr(name)


if "keras" in sys.modules:
    tf_module("dataset_methods").teach_keras()

__dir__ = _top.dir
__all__ = sorted([*_top.names, "newaxis"])
