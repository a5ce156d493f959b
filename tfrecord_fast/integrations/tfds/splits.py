"""Which examples a split such as "train[:80%]+test" has: TFDS' arithmetic, as https://www.tensorflow.org/datasets/splits
describes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...errors import InvalidArgumentError

__all__ = ["Piece", "ReadInstruction", "Split", "SplitInfo", "even_splits", "pieces_of"]


class SplitInfo(NamedTuple):
    """A split as the dataset has it.

    `files` are paths or URLs, one per shard, and `shard_lengths` how many examples each has.
    """

    name: str
    files: list[str]
    shard_lengths: list[int]
    num_bytes: int = 0

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        return sum(self.shard_lengths)

    @property
    def num_shards(self) -> int:
        """The number of files."""
        return len(self.files)


class Piece(NamedTuple):
    """`take` examples of a file with `examples`, after the first `skip`."""

    file: str
    skip: int
    take: int
    examples: int


class _Range(NamedTuple):
    """The examples of one split from `start` up to `end`."""

    name: str
    start: int
    end: int


_Infos: TypeAlias = Mapping[str, SplitInfo]


class Split:
    """Some of a dataset's examples, which `ReadInstruction` and `even_splits` make. `+` puts two together, or one and a
    string such as "test[:10%]".
    """

    def ranges(self, infos: _Infos) -> list[_Range]:
        """The examples in terms of the dataset's splits."""
        raise NotImplementedError

    def __add__(self, other: Split | str) -> Split:
        return _Sum([self, split_of(other)])

    def __radd__(self, other: str) -> Split:
        return _Sum([split_of(other), self])


class ReadInstruction(Split):
    """A part of a split.

    Args:
      split_name: such as "train".
      from_, to: where the part begins and ends; None for the beginning and the end of the split. Numbers below 0 count
        from the end.
      unit: "abs" (examples), "%" or "shard" (files).
      rounding: of percents: "closest" to the nearest example; with "pct1_dropremainder", one percent is a whole number
        of examples, so that 5% are as many as five times 1%, and those that are left over are in no part.

    Raises:
      ValueError: an unknown unit or rounding, or more than 100 percent.
    """

    def __init__(
        self,
        split_name: str,
        from_: float | None = None,
        to: float | None = None,
        unit: str = "abs",
        rounding: str = "closest",
    ) -> None:
        if unit not in ("%", "abs", "shard"):
            raise InvalidArgumentError(f'unit is "abs", "%" or "shard", got {unit!r}')
        if rounding not in ("closest", "pct1_dropremainder"):
            raise InvalidArgumentError(f'rounding is "closest" or "pct1_dropremainder", got {rounding!r}')
        if unit == "%" and (abs(from_ or 0) > 100 or abs(to or 0) > 100):
            raise InvalidArgumentError(f"percents lie between -100 and 100, got {from_} and {to}")
        self.split_name = split_name
        self.rounding = rounding
        self.from_ = from_
        self.to = to
        self.unit = unit

    def ranges(self, infos: _Infos) -> list[_Range]:
        """One range."""
        info = infos.get(self.split_name)
        if info is None:
            raise InvalidArgumentError(f"unknown split {self.split_name!r}; there are {', '.join(sorted(infos))}")
        start, end = self._bounds(info)
        count = info.num_examples
        if abs(start) > count or abs(end) > count:
            raise InvalidArgumentError(f"{self}: split {self.split_name!r} has only {count} examples")
        start, end = (count + bound if bound < 0 else bound for bound in (start, end))
        return [_Range(self.split_name, start, max(start, end))]

    def _bounds(self, info: SplitInfo) -> tuple[int, int]:
        """Where the part begins and ends, in examples; below 0: from the end."""
        start, end = self.from_, self.to
        lengths = info.shard_lengths
        if self.unit == "%":
            start, end = (None if bound is None else self._of_percents(bound, info) for bound in (start, end))
        elif self.unit == "shard":
            start = None if start is None else sum(lengths[: int(start)])
            end = None if end is None else sum(lengths[: int(end) if end > 0 else len(lengths) + int(end)])
        return int(start or 0), info.num_examples if end is None else int(end)

    def _of_percents(self, bound: float, info: SplitInfo) -> int:
        count = info.num_examples
        if self.rounding == "closest":
            return round(bound * count / 100.0)
        if count < 100:
            raise InvalidArgumentError(
                f'{self}: split {info.name!r} has {count} examples, which "pct1_dropremainder" would all drop: '
                "it needs at least 100"
            )
        return math.trunc(bound * math.trunc(count / 100.0))

    def __repr__(self) -> str:
        if self.from_ is None and self.to is None:
            return f"ReadInstruction({self.split_name!r})"
        unit = "" if self.unit == "abs" else self.unit
        start, end = ("" if bound is None else f"{bound:g}{unit}" for bound in (self.from_, self.to))
        rounding = f", rounding={self.rounding!r}" if self.unit == "%" else ""
        return f"ReadInstruction('{self.split_name}[{start}:{end}]'{rounding})"


class _Sum(Split):
    def __init__(self, parts: Sequence[Split]) -> None:
        self._parts = parts

    def ranges(self, infos: _Infos) -> list[_Range]:
        return [one for part in self._parts for one in part.ranges(infos)]

    def __repr__(self) -> str:
        return "+".join(map(repr, self._parts))


class _All(Split):
    def ranges(self, infos: _Infos) -> list[_Range]:
        return [_Range(name, 0, info.num_examples) for name, info in infos.items()]

    def __repr__(self) -> str:
        return "all"


class _EvenSplit(Split):
    def __init__(self, split: Split, index: int, count: int, drop_remainder: bool) -> None:
        self._split, self._index, self._count, self._drop_remainder = split, index, count, drop_remainder

    def ranges(self, infos: _Infos) -> list[_Range]:
        return [self._part(one) for one in self._split.ranges(infos)]

    def _part(self, whole: _Range) -> _Range:
        each, rest = divmod(whole.end - whole.start, self._count)
        extra = 0 if self._drop_remainder else rest
        start, end = (each * i + min(i, extra) for i in (self._index, self._index + 1))
        return _Range(whole.name, whole.start + start, whole.start + end)

    def __repr__(self) -> str:
        return f"even_splits({self._split!r}, {self._count})[{self._index}]"


def even_splits(split: Split | str, n: int, *, drop_remainder: bool = False) -> list[Split]:
    """n parts of a split, without examples in common, for instance one per process.

    Args:
      split: a string such as "train[:80%]+test", or a part itself. Each term of a sum is divided for itself.
      n: how many parts.
      drop_remainder: whether all parts have equally many examples; up to n - 1 of each term are then in none.
        Otherwise, the first parts have one more.

    >>> even_splits("train", 3)[0]
    even_splits(ReadInstruction('train'), 3)[0]
    """
    if n < 1:
        raise InvalidArgumentError(f"n must be at least 1, got {n}")
    return [_EvenSplit(split_of(split), i, n, drop_remainder) for i in range(n)]


_TERM = re.compile(r"([\w-]+)(?:\[([\w%:.-]+)\])?")
_BOUND = re.compile(r"(?:(-?[\d_.]+)(%|shard)?)?")


def split_of(spec: Split | str) -> Split:
    """A string such as "train[:80%]+test" as a Split.

    Raises:
      ValueError: it is no such string.
    """
    if isinstance(spec, Split):
        return spec
    if not isinstance(spec, str):
        raise TypeError(f"a split is a string, a ReadInstruction or one of even_splits, got {type(spec).__name__}")
    terms = [_term(text, spec) for text in re.split(r"\s*\+\s*", spec)]
    return terms[0] if len(terms) == 1 else _Sum(terms)


def _term(text: str, spec: str) -> Split:
    wrong = InvalidArgumentError(
        f'{spec!r} is no split: expected a sum of terms such as "train", "train[:80%]", "train[10:-5]" or '
        '"train[2shard]"'
    )
    match = _TERM.fullmatch(text)
    if match is None:
        raise wrong
    name, selector = match.groups()
    if name == "all":
        if selector is not None:
            raise InvalidArgumentError(f'{spec!r}: no slice of "all"; slice its splits, and add them')
        return _All()
    if selector is None:
        return ReadInstruction(name)
    bounds = [_BOUND.fullmatch(part) for part in selector.split(":")]
    found = [bound.groups() for bound in bounds if bound is not None]
    if len(found) != len(bounds) or len(found) > 2 or not any(value for value, _ in found):
        raise wrong
    unit = next((unit for _, unit in found if unit), "abs")
    if len({one for _, one in found if one}) > 1:
        raise InvalidArgumentError(f"{spec!r}: both ends of a slice have the same unit")
    try:
        numbers = [None if not value else float(value) if unit == "%" else int(value) for value, _ in found]
    except ValueError:
        raise wrong from None
    if len(numbers) == 1:
        if unit != "shard" or numbers[0] is None:
            raise InvalidArgumentError(f'{spec!r}: a slice has a colon, except for one shard, as in "train[2shard]"')
        return ReadInstruction(name, from_=numbers[0], to=numbers[0] + 1, unit=unit)
    return ReadInstruction(name, from_=numbers[0], to=numbers[1], unit=unit)


def pieces_of(split: Split | str, infos: _Infos) -> list[Piece]:
    """What to read of which files, in order.

    Raises:
      ValueError: there is no such split, it is smaller than the slice, or no examples are left.
    """
    pieces = []
    for name, start, end in split_of(split).ranges(infos):
        first = 0
        for file, length in zip(infos[name].files, infos[name].shard_lengths, strict=True):
            skip, stop = max(start - first, 0), min(end - first, length)
            if skip < stop:
                pieces.append(Piece(file, skip, stop - skip, length))
            first += length
    if not pieces:
        raise InvalidArgumentError(f"split {split!r} has no examples")
    return pieces
