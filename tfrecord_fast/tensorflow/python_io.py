"""`tf.python_io` of the face."""

from .fallback import face_names

_names = face_names(__name__, "tf.compat.v1.python_io", "tfrecord_fast.python_io")
__getattr__ = _names.getattr
__dir__ = _names.dir
