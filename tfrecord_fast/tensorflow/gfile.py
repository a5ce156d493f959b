"""`tf.gfile` of the face."""

from .fallback import face_names

_names = face_names(__name__, "tf.compat.v1.gfile", "tfrecord_fast.gfile")
__getattr__ = _names.getattr
__dir__ = _names.dir
