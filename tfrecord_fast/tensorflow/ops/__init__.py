"""The functions on tensors that pipelines use, on NumPy: small, and compared with TensorFlow's one by one."""
