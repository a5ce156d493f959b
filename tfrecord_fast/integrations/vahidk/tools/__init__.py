"""`tfrecord.tools`: indexes of files."""

from ....base.lazy import lazy_names

_names = lazy_names(__name__, {".": "tfrecord2idx", ".tfrecord2idx": "create_index"})
__getattr__ = _names.getattr
__dir__ = _names.dir
__all__ = list(_names.names)
