"""`tf.debugging` of the face."""

from .fallback import face_names
from .ops.checks import (
    Assert,
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_positive,
    assert_rank,
    assert_rank_at_least,
    assert_scalar,
    assert_shapes,
    assert_type,
    without_effect,
)

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_positive",
    "assert_rank",
    "assert_rank_at_least",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
]

_names = face_names(__name__, "tf.debugging")
check_numerics = assert_all_finite
set_log_device_placement = disable_traceback_filtering = enable_traceback_filtering = without_effect
__getattr__ = _names.getattr
__dir__ = _names.dir
