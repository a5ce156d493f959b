"""Random calls of TensorFlow's functions, whose arguments are variables in scope."""

from . import numbers, parts, shapes
from .listed import draw_expression

__all__ = ["draw_expression", "numbers", "parts", "shapes"]
