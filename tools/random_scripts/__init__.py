"""Random scripts of tf.data, run with TensorFlow and with `tfrecord_fast.tensorflow`, and compared."""
