"""The examples of a split such as "train[:80%]+test": TFDS' arithmetic (https://www.tensorflow.org/datasets/splits)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...errors import InvalidArgumentError


class SplitInfo(NamedTuple):
    """A split of the dataset.

    `files` are paths or URLs, one per shard, and `shard_lengths` their numbers of examples.
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
    """Examples of a file: `take` of its `examples`, after the first `skip`."""

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
    """Some of a dataset's examples, made by `ReadInstruction` and `even_splits`. `+` adds two of them, or one and a
    string such as "test[:10%]".
    """

    def ranges(self, infos: _Infos) -> list[_Range]:
        """Return the examples as ranges of the dataset's splits."""
        raise NotImplementedError

    def __add__(self, other: Split | str) -> Split:
        return _Sum([self, split_of(other)])

    def __radd__(self, other: str) -> Split:
        return _Sum([split_of(other), self])


class ReadInstruction(Split):
    """A slice of a split.

    Args:
      split_name: such as "train".
      from_, to: begin and end of the slice; None for the begin and the end of the split. Numbers below 0 count from the
        end.
      unit: "abs" (examples), "%" or "shard" (files).
      rounding: of percents: "closest" rounds to the nearest example; with "pct1_dropremainder", one percent is a whole
        number of examples, so that 5% is exactly five times 1%, and the remaining examples are left out.

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
            raise InvalidArgumentError(f'unit must be "abs", "%" or "shard", got {unit!r}')
        if rounding not in ("closest", "pct1_dropremainder"):
            raise InvalidArgumentError(f'rounding must be "closest" or "pct1_dropremainder", got {rounding!r}')
        if unit == "%" and (abs(from_ or 0) > 100 or abs(to or 0) > 100):
            raise InvalidArgumentError(f"percents must lie between -100 and 100, got {from_} and {to}")
        self.split_name = split_name
        self.rounding = rounding
        self.from_ = from_
        self.to = to
        self.unit = unit

    def ranges(self, infos: _Infos) -> list[_Range]:
        """Return one range."""
        info = infos.get(self.split_name)
        if info is None:
            raise InvalidArgumentError(f"unknown split {self.split_name!r}; the splits are {', '.join(sorted(infos))}")
        start, end = self._bounds(info)
        count = info.num_examples
        if abs(start) > count or abs(end) > count:
            raise InvalidArgumentError(f"{self}: split {self.split_name!r} has only {count} examples")
        start, end = (count + bound if bound < 0 else bound for bound in (start, end))
        return [_Range(self.split_name, start, max(start, end))]

    def _bounds(self, info: SplitInfo) -> tuple[int, int]:
        """Return begin and end in examples; below 0: from the end."""
        start, end = self.from_, self.to
        lengths = info.shard_lengths
        if self.unit == "%":
            start, end = (None if bound is None else self._percent_bound(bound, info) for bound in (start, end))
        elif self.unit == "shard":
            start = None if start is None else sum(lengths[: int(start)])
            end = None if end is None else sum(lengths[: int(end) if end > 0 else len(lengths) + int(end)])
        return int(start or 0), info.num_examples if end is None else int(end)

    def _percent_bound(self, bound: float, info: SplitInfo) -> int:
        count = info.num_examples
        if self.rounding == "closest":
            return round(bound * count / 100.0)
        if count < 100:
            raise InvalidArgumentError(
                f'{self}: split {info.name!r} has {count} examples, but "pct1_dropremainder" needs at least 100'
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
    def __init__(self, terms: Sequence[Split]) -> None:
        self._terms = terms

    def ranges(self, infos: _Infos) -> list[_Range]:
        return [term_range for term in self._terms for term_range in term.ranges(infos)]

    def __repr__(self) -> str:
        return "+".join(map(repr, self._terms))


class _All(Split):
    def ranges(self, infos: _Infos) -> list[_Range]:
        return [_Range(name, 0, info.num_examples) for name, info in infos.items()]

    def __repr__(self) -> str:
        return "all"


class _EvenSplit(Split):
    def __init__(self, split: Split, index: int, count: int, drop_remainder: bool) -> None:
        self._split, self._index, self._count, self._drop_remainder = split, index, count, drop_remainder

    def ranges(self, infos: _Infos) -> list[_Range]:
        return list(map(self._share, self._split.ranges(infos)))

    def _share(self, whole: _Range) -> _Range:
        each, rest = divmod(whole.end - whole.start, self._count)
        extra = 0 if self._drop_remainder else rest
        start, end = (each * i + min(i, extra) for i in (self._index, self._index + 1))
        return _Range(whole.name, whole.start + start, whole.start + end)

    def __repr__(self) -> str:
        return f"even_splits({self._split!r}, {self._count})[{self._index}]"


def even_splits(split: Split | str, n: int, *, drop_remainder: bool = False) -> list[Split]:
    """Divide a split into n splits without common examples, for instance one per process.

    Args:
      split: a string such as "train[:80%]+test", or a Split. Each term of a sum is divided separately.
      n: the number of splits.
      drop_remainder: make all splits the same size, by leaving out up to n - 1 examples of each term. Otherwise, the
        first splits have one example more.

    >>> even_splits("train", 3)[0]
    even_splits(ReadInstruction('train'), 3)[0]
    """
    if n < 1:
        raise InvalidArgumentError(f"n must be at least 1, got {n}")
    return [_EvenSplit(split_of(split), i, n, drop_remainder) for i in range(n)]


_TERM = re.compile(r"([\w-]+)(?:\[([\w%:.-]+)\])?")
_BOUND = re.compile(r"(?:(-?[\d_.]+)(%|shard)?)?")


def split_of(spec: Split | str) -> Split:
    if isinstance(spec, Split):
        return spec
    if not isinstance(spec, str):
        raise TypeError(f"a split must be a string, a ReadInstruction or from even_splits, got {type(spec).__name__}")
    terms = [_term(text, spec) for text in re.split(r"\s*\+\s*", spec)]
    return terms[0] if len(terms) == 1 else _Sum(terms)


def _term(text: str, spec: str) -> Split:
    wrong = InvalidArgumentError(
        f'{spec!r} is not a split: expected a sum of terms such as "train", "train[:80%]", "train[10:-5]" or '
        '"train[2shard]"'
    )
    match = _TERM.fullmatch(text)
    if match is None:
        raise wrong
    name, selector = match.groups()
    if name == "all":
        if selector is not None:
            raise InvalidArgumentError(f'{spec!r}: "all" cannot be sliced; slice its splits, and add them')
        return _All()
    if selector is None:
        return ReadInstruction(name)
    matches = [_BOUND.fullmatch(text) for text in selector.split(":")]
    bounds = [bound.groups() for bound in matches if bound is not None]
    if len(bounds) != len(matches) or len(bounds) > 2 or not any(value for value, _ in bounds):
        raise wrong
    units = {unit for _, unit in bounds if unit}
    if len(units) > 1:
        raise InvalidArgumentError(f"{spec!r}: both ends of a slice must have the same unit")
    unit = units.pop() if units else "abs"
    try:
        numbers = [None if not value else float(value) if unit == "%" else int(value) for value, _ in bounds]
    except ValueError:
        raise wrong from None
    if len(numbers) == 1:
        if unit != "shard" or numbers[0] is None:
            raise InvalidArgumentError(f'{spec!r}: a slice needs a colon, except for one shard, as in "train[2shard]"')
        return ReadInstruction(name, from_=numbers[0], to=numbers[0] + 1, unit=unit)
    return ReadInstruction(name, from_=numbers[0], to=numbers[1], unit=unit)


def pieces_of(split: Split | str, infos: _Infos) -> list[Piece]:
    """Return the pieces of files to read, in order."""
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
