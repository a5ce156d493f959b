"""Numbers with a special meaning, as in TensorFlow."""

__all__ = ["AUTOTUNE", "INFINITE", "UNKNOWN"]

AUTOTUNE = -1  # as many as seems best
INFINITE = -1  # the cardinality of endless elements
UNKNOWN = -2  # a cardinality that takes an iteration to find out
