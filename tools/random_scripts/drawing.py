"""The state of a random script while it is written: random numbers, and the variables in scope."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

__all__ = ["FLOATS", "INTEGERS", "NUMBERS", "Drawing", "NoOperand", "Variable"]

INTEGERS = ("int32", "int64")
FLOATS = ("float32", "float64")
NUMBERS = INTEGERS + FLOATS


class NoOperand(Exception):
    """No variable in scope fits an operation: the caller draws another operation."""


@dataclass(frozen=True)
class Variable:
    """A variable of a script.

    Attributes:
      name: its expression.
      dtype: "int64", "string", …
      shape: sizes; None where a size is unknown before the script runs.
      exact: False if TensorFlow and NumPy may compute other last digits, so no decision may depend on the value.
      layout: "dense", "sparse" or "ragged".
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    exact: bool = True
    layout: str = "dense"

    @property
    def rank(self):
        return len(self.shape)


class Drawing:
    """Draws from one seed.

    Attributes:
      rng: the random numbers.
      scope: variables that the function being written may use.
      tags: "split" if control flow depends on values, "random" if the script draws random numbers.
    """

    def __init__(self, rng):
        self.rng = rng if isinstance(rng, random.Random) else random.Random(rng)
        self.scope = []
        self.tags = set()
        self._count = 0

    def new_name(self, letter="v"):
        self._count += 1
        return f"{letter}{self._count}"

    def chance(self, probability):
        return self.rng.random() < probability

    def choice(self, *items):
        return self.rng.choice(items)

    def pick(self, dtypes=NUMBERS, ranks=None, layout="dense", exact=False, fits=lambda variable: True):
        """Return a variable in scope, recent ones more often."""
        matches = [
            variable
            for variable in self.scope
            if variable.dtype in dtypes
            and variable.layout == layout
            and (ranks is None or variable.rank in ranks)
            and (variable.exact or not exact)
            and fits(variable)
        ]
        if not matches:
            raise NoOperand
        return self.rng.choice(matches[-4:] if self.chance(0.6) else matches)

    def partner(self, variable, exact=False):
        """Return a variable of the same dtype whose shape is the same or broadcasts, or a constant."""
        try:
            if self.chance(0.3):
                raise NoOperand
            return self.pick(
                (variable.dtype,),
                exact=exact,
                fits=lambda other: broadcast(variable.shape, other.shape) is not None,
            )
        except NoOperand:
            return self.constant(variable.dtype)

    def constant(self, dtype):
        """Return a Python literal as a variable."""
        if dtype in INTEGERS:
            text = str(self.choice(0, 1, 2, 3, 5, 7, -1))
        elif dtype in FLOATS:
            text = self.choice("0.0", "0.5", "1.0", "2.0", "-1.5", "4.0", "0.25")
        elif dtype == "string":
            text = self.choice("''", "'a'", "'bc'", "'1'", "'x y'")
        else:
            text = self.choice("True", "False")
        return Variable(text, dtype, ())

    def small_integer(self, most, dtypes=INTEGERS):
        """Return the expression of a scalar between 0 and `most`, which depends on the record."""
        number = self.pick(dtypes, ranks=(0,), exact=True)
        return replace(number, name=f"{number.name} % {most + 1}")

    def condition(self):
        """Return the expression of a bool that depends on the record."""
        try:
            if self.chance(0.4):
                return self.pick(("bool",), ranks=(0,), exact=True).name
        except NoOperand:
            pass
        if self.chance(0.15):
            text = self.pick(("string",), ranks=(0,)).name
            return self.choice(f"{text} == 'a'", f"tf.strings.length({text}) > 1", f"{text} != ''")
        number = self.pick(NUMBERS, ranks=(0,), exact=True)
        if number.dtype in INTEGERS:
            return self.choice(
                f"{number.name} > {self.choice(0, 1, 2, 4)}",
                f"{number.name} % 2 == 0",
                f"{number.name} % 3 < 1",
                f"tf.equal({number.name}, {self.choice(0, 1, 3)})",
                f"tf.math.floormod({number.name}, 4) != 1",
            )
        return self.choice(f"{number.name} > {self.choice('0.0', '1.0', '0.75')}", f"{number.name} <= 0.5")


def broadcast(first, second):
    """Return the broadcast shape; None if it is not known to fit."""
    size, sizes = max(len(first), len(second)), []
    first, second = (1,) * (size - len(first)) + first, (1,) * (size - len(second)) + second
    for one, other in zip(first, second, strict=True):
        if one == other and one is not None:
            sizes.append(one)
        elif one == 1:
            sizes.append(other)
        elif other == 1:
            sizes.append(one)
        else:
            return None
    return tuple(sizes)
