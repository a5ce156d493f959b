"""`tf.ragged` of the face."""

from .fallback import face_names
from .ops.raggeds import boolean_mask, constant, range, row_splits_to_segment_ids, stack

__all__ = ["boolean_mask", "constant", "range", "row_splits_to_segment_ids", "stack"]

_names = face_names(__name__, "tf.ragged")
__getattr__ = _names.getattr
__dir__ = _names.dir
