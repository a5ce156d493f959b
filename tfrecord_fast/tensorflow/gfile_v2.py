"""`tf.io.gfile` of the face."""

from .fallback import face_names

_names = face_names(__name__, "tf.io.gfile", "tfrecord_fast.io.gfile")
__getattr__ = _names.getattr
__dir__ = _names.dir
