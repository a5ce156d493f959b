"""vahidk's package `tfrecord`, imported so that TensorFlow can live in the same process.

Its messages have the names of TensorFlow's, and go to protobuf's default pool, which takes only one of the two. Here
they get a pool of their own.
"""

from unittest import mock

from google.protobuf import descriptor_pool

with mock.patch.object(descriptor_pool, "Default", return_value=descriptor_pool.DescriptorPool()):
    import tfrecord

__all__ = ["tfrecord"]
