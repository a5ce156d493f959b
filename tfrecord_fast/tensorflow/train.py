"""`tf.train` of the face."""

from .fallback import face_names

_names = face_names(__name__, "tf.train", "tfrecord_fast.train")
__getattr__ = _names.getattr
__dir__ = _names.dir
