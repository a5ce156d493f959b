"""The table of rules: how operations run on blocks. Operations that it lacks run in a loop over the records."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...values.blocks.images import ADD, DIVIDE, MIRRORED, MULTIPLY, SUBTRACT, UPSIDE_DOWN
from . import axes, elementwise, images, indexing, parsing, randomness
from .block_tensor import OPERATORS
from .calls import Rule, add_operator_rules, call, set_rule
from .frames import Frame, current, needs_records

_PACKAGE = __package__.rpartition(".")[0].rpartition(".")[0]  # tfrecord_fast


def _effect(function: Callable[..., Any], frame: Frame, *args: Any, **kwargs: Any) -> Any:
    """Refuse an operation whose effect a script sees for each record."""
    raise needs_records(f"{function.__name__} is called for each record")


def _named(module: str, rule: Rule, names: str) -> dict[str, Rule]:
    return {f"{_PACKAGE}.{module}.{name}": rule for name in names.split()}


_RULES: dict[str, Rule] = {
    **_named("tensorflow.ops.arrays", images.cast, "cast"),
    **_named("tensorflow.ops.arrays", elementwise.same_shape, "identity"),
    **_named("tensorflow.ops.arrays", axes.stack, "stack"),
    **_named("tensorflow.ops.arrays", axes.concat, "concat"),
    **_named("tensorflow.ops.arrays", axes.expand_dims, "expand_dims"),
    **_named("tensorflow.ops.arrays", axes.squeeze, "squeeze"),
    **_named("tensorflow.ops.arrays", axes.transpose, "transpose"),
    **_named("tensorflow.ops.arrays", images.reshape, "reshape"),
    **_named("tensorflow.ops.arrays", axes.shape_of, "shape"),
    **_named("tensorflow.ops.arrays", axes.size_of, "size"),
    **_named("tensorflow.ops.arrays", axes.rank_of, "rank"),
    **_named("tensorflow.ops.arrays", axes.ensure_shape, "ensure_shape"),
    **_named("tensorflow.ops.arrays", axes.tile, "tile"),
    **_named("tensorflow.ops.arrays", axes.pad, "pad"),
    **_named("tensorflow.ops.arrays", axes.unstack, "unstack"),
    **_named("tensorflow.ops.arrays", axes.split, "split"),
    **_named("tensorflow.ops.control", elementwise.same_shape, "stop_gradient"),
    **_named("tensorflow.ops.control", indexing.cond, "cond"),
    **_named("tensorflow.ops.control", indexing.case, "case"),
    **_named("tensorflow.ops.filled", elementwise.same_shape, "zeros_like ones_like"),
    **_named("tensorflow.ops.filled", axes.one_hot, "one_hot"),
    **_named("tensorflow.ops.filled", axes.sequence_mask, "sequence_mask"),
    **_named(
        "tensorflow.ops.math",
        elementwise.elementwise,
        "abs acos acosh asin asinh atan atan2 atanh ceil clip_by_value cos cosh divide_no_nan equal exp "
        "expm1 floor floordiv floormod greater greater_equal is_finite is_inf is_nan less less_equal log log1p "
        "logical_and logical_not logical_or logical_xor maximum minimum negative not_equal pow reciprocal "
        "rint round rsqrt sigmoid sign sin sinh softplus sqrt square squared_difference tan tanh",
    ),
    **_named("tensorflow.ops.math", images.arithmetic(ADD), "add"),
    **_named("tensorflow.ops.math", images.arithmetic(SUBTRACT), "subtract"),
    **_named("tensorflow.ops.math", images.arithmetic(MULTIPLY), "multiply"),
    **_named("tensorflow.ops.math", images.arithmetic(DIVIDE), "divide truediv"),
    **_named(
        "tensorflow.ops.math",
        axes.reduction,
        "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    ),
    **_named("tensorflow.ops.math", axes.along_axis(0), "argmax argmin cumsum"),
    **_named("tensorflow.ops.picked", axes.along_axis(-1), "sort argsort"),
    **_named("tensorflow.ops.picked", axes.reverse, "reverse"),
    **_named("tensorflow.ops.picked", indexing.boolean_mask, "boolean_mask"),
    **_named("tensorflow.ops.picked", indexing.gather, "gather"),
    **_named("tensorflow.ops.picked", indexing.where, "where"),
    **_named("images.decoding", images.decode, "decode_bmp decode_image decode_jpeg decode_png"),
    **_named("images.encoding", images.on_threads, "encode_jpeg encode_png"),
    **_named("tensorflow.ops.encoded", images.decode, "decode_and_crop_jpeg"),
    **_named("tensorflow.ops.pictures", images.flip(MIRRORED), "flip_left_right"),
    **_named("tensorflow.ops.pictures", images.flip(UPSIDE_DOWN), "flip_up_down"),
    **_named("tensorflow.ops.pictures", images.resize, "resize"),
    **_named("tensorflow.ops.pictures", images.on_threads, "resize_with_pad"),
    **_named("tensorflow.ops.strings", elementwise.same_shape, "length strip to_number to_hash_bucket_fast"),
    **_named("images.conversion", images.convert_image_dtype, "convert_image_dtype"),
    **_named("examples.parsing.parse", parsing.parse_single_example, "parse_single_example"),
    **_named("examples.parsing.parse", parsing.parse_single_sequence_example, "parse_single_sequence_example"),
    **_named("examples.parsing.parse", parsing.decode_raw, "decode_raw"),
    **_named("compat.io", parsing.parse_single_example_of_v1, "parse_single_example"),
    **_named("tensorflow.compat.v1", elementwise.same_shape, "cast"),
    **_named("values.columns.sparse", axes.to_dense, "to_dense"),
}
# Those that are called for each record, even with the same arguments for all.
_DRAWS: dict[str, Rule] = {
    **_named("tensorflow.ops.control", _effect, "print py_function numpy_function"),
    **_named("tensorflow.compat.v1", _effect, "py_func"),
    **_named("tensorflow.ops.randoms", randomness.of_shape, "normal truncated_normal uniform"),
    **_named("tensorflow.ops.randoms", randomness.each, "categorical gamma shuffle"),
    **_named(
        "tensorflow.ops.pictures",
        randomness.each,
        "random_brightness random_contrast random_crop random_hue random_saturation",
    ),
    **_named("tensorflow.ops.pictures", images.random_flip(MIRRORED), "random_flip_left_right"),
    **_named("tensorflow.ops.pictures", images.random_flip(UPSIDE_DOWN), "random_flip_up_down"),
}
add_operator_rules(elementwise.elementwise, indexing.getitem)
for _step, _names in ((ADD, "add radd"), (SUBTRACT, "sub"), (MULTIPLY, "mul rmul"), (DIVIDE, "truediv")):
    for _name in _names.split():
        set_rule(OPERATORS[_name], images.arithmetic(_step))


def on_blocks(function: Callable[..., Any], operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which runs by its rule in functions on blocks.

    Args:
      function: what scripts call.
      operation: the function that it is made of, which the table names.
    """
    name = f"{operation.__module__}.{operation.__name__}"
    draws = name in _DRAWS
    rule = _DRAWS[name] if draws else _RULES.get(name)

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if current.frame is None:
            return function(*args, **kwargs)
        return call(function, rule, draws, args, kwargs)

    return run
