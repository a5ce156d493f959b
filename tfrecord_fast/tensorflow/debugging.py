"""`tf.debugging` of the face."""

from .fallback import face_names
from .ops.checks import (
    Assert,
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_positive,
    assert_rank,
    assert_shapes,
)

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_positive",
    "assert_rank",
    "assert_shapes",
]

_names = face_names(__name__, "tf.debugging")
check_numerics = assert_all_finite
__getattr__ = _names.getattr
__dir__ = _names.dir
