"""The numbers that stand for something else, as TensorFlow has them."""

__all__ = ["AUTOTUNE", "INFINITE", "UNKNOWN"]

AUTOTUNE = -1  # as many as seems best
INFINITE = -1  # a cardinality without end
UNKNOWN = -2  # a cardinality that takes an iteration to find out
