"""The list of random operations, and how one is drawn.

An operation is a function that takes a Drawing and returns the Variable that its call makes: the expression is the
variable's name. Some calls fail for some records.
"""

from __future__ import annotations

import math

from ..drawing import NUMBERS, NoOperand, Variable

__all__ = ["ALL", "axis_of", "draw_expression", "made", "operation"]

ALL = (*NUMBERS, "string", "bool")
_MOST_VALUES = 200  # of a tensor
_OPERATIONS = []


def operation(weight=1):
    """Return a decorator that adds an operation, which is drawn as often as its weight says."""

    def add(function):
        _OPERATIONS.extend([function] * weight)
        return function

    return add


def draw_expression(drawing):
    """Return the variable of a random operation."""
    for _ in range(100):
        try:
            variable = drawing.rng.choice(_OPERATIONS)(drawing)
        except NoOperand:
            continue
        if math.prod(size or 5 for size in variable.shape) <= _MOST_VALUES and variable.rank <= 4:
            return variable
    return Variable("tf.constant(1)", "int32", ())


def made(name, dtype, shape, *operands, exact=True):
    """Return the variable of an expression, which is exact if its operands are."""
    return Variable(name, dtype, tuple(shape), exact and all(operand.exact for operand in operands))


def axis_of(drawing, rank):
    """Return an axis, and its text, which may be negative."""
    axis = drawing.rng.randrange(rank)
    return axis, axis - rank if drawing.chance(0.3) else axis
