"""Figures as a table on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from .... import _core
from ....examples.record_kinds import counts_of
from ...console import Style, counted, printable
from .collecting import Collected
from .drift import Drift
from .figures import Feature, Numbers, edges_of, shown_key
from .texts import about, bytes_of, count, middle_of, number, percent, value_of

_BLOCKS = "▁▂▃▄▅▆▇█"
_SPARK = 12
_MOST_NAME = 40
_MOST_ROWS = 2000
_HEAD = ("FEATURE", "KIND", "PRESENT", "VALUES", "DISTINCT", "ZEROS", "MIN", "MEDIAN", "MEAN", "STD", "MAX", "", "TOP")
_LEFT = {0, 1, 11, 12}  # columns that are aligned left


def lines_of(collected: Collected, style: Style) -> Iterator[str]:
    features, lists = collected.features
    files = counted(len(collected.shards), "file")
    size = bytes_of(sum(shard.payload_bytes for shard in collected.shards))
    limit = " (stopped at --limit)" if collected.limited else ""
    yield style("head", f"{files}, {count(collected.records)} records{limit}, {size}")
    kinds = counts_of(collected.collector)
    yield "kinds: " + (", ".join(f"{name} {count(records)}" for name, records in kinds.items()) or "no records")
    if collected.records:
        sizes = collected.collector.sizes()
        least, most = bytes_of(sizes.minimum), bytes_of(sizes.maximum)
        yield f"record sizes: {least} – {most}, mean {bytes_of(sizes.mean)}"
        yield f"duplicates: {duplicates_text(collected)}"
    if len(collected.shards) > 1:
        yield from _balance(collected)
    for title, some in (("", features), ("feature lists (values per step)", lists)):
        if some:
            yield ""
            if title:
                yield style("head", title)
            yield from _table(some, style)
    yield from notes_of(collected, [*features, *lists])


def duplicates_text(collected: Collected) -> str:
    repeats = collected.repeats
    if not repeats.copies:
        return "none" if not repeats.halvings else f"none among 1 of {2**repeats.halvings} of the records"
    copies = collected.repeated.copies
    sign = "about " if repeats.halvings else ""
    are = "record is a copy" if copies == 1 else "records are copies"
    text = f"{sign}{count(copies)} {are} ({percent(copies, collected.records)})"
    most = f"the most frequent record occurs {count(repeats.most)} times"
    ends = sorted((repeats.pairs[0][:2], repeats.pairs[0][2:]))
    names = [f"record {record} of {printable(collected.shards[file].path)}" for file, record in ends]
    return f"{text}, {most}; {names[1]} is a copy of {names[0]}"


def _balance(collected: Collected) -> Iterator[str]:
    shards = [shard for shard in collected.shards if shard.compression is not None]
    if not shards:
        return
    least, most = min(shards, key=lambda shard: shard.records), max(shards, key=lambda shard: shard.records)
    mean = sum(shard.records for shard in shards) / len(shards)
    uneven = f", {most.records / mean:.2g} times the mean" if mean and most.records > 1.05 * mean else ""
    names = printable(least.path), printable(most.path)
    yield f"records per file: {count(least.records)} ({names[0]}) – {count(most.records)} ({names[1]}{uneven})"


def notes_of(collected: Collected, features: Sequence[Feature]) -> Iterator[str]:
    if any(not feature.distinct[1] for feature in features):
        error = 100 * _core.DISTINCT_ERROR
        yield (
            "≈ marks estimates: for features with more than a thousand distinct values, the number of these has a "
            f"standard error of {error:.1f} %, and quantiles, bars and frequent values come from a sample"
        )
    left_out = collected.collector.entries_left_out
    if left_out:
        yield (
            f"LEFT OUT: {count(left_out)} values under keys after the first {_core.MOST_FEATURES:,}, or under keys of "
            f"more than 1,024 bytes"
        )


def _table(features: Sequence[Feature], style: Style) -> Iterator[str]:
    rows = [_HEAD, *(_row(feature) for feature in features[:_MOST_ROWS])]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(_HEAD))]
    for index, row in enumerate(rows):
        cells = [_padded(text, width, i in _LEFT) for i, (text, width) in enumerate(zip(row, widths, strict=True))]
        if index:
            cells[0], cells[1] = style("name", cells[0]), style("kind", cells[1])
            cells[12] = style("text", cells[12])
            if row[2] != "100 %":
                cells[2] = style("bad", cells[2])
        yield "  ".join(cells).rstrip()
    if len(features) > _MOST_ROWS:
        yield f"… {count(len(features) - _MOST_ROWS)} more features (--json has them all)"


def _row(feature: Feature) -> tuple[str, ...]:
    name = shown_key(feature.name)
    name = name if len(name) <= _MOST_NAME else name[: _MOST_NAME - 1] + "…"
    present = percent(feature.core.present, feature.records)
    distinct = about(*feature.distinct, feature.values)
    top = ", ".join(f"{value_of(value, 20)} {percent(value.times, feature.values)}" for value in feature.frequent(2))
    shown = feature.shown
    if shown is None:
        return (name, feature.kind, present, _lengths(feature), "", "", "", "", "", "", "", "", "")
    figures = shown.figures
    unit = " B" if feature.numbers is None else ""
    nans = f", {count(figures.nans)} NaN" if figures.nans else ""
    infinities = figures.positive_infinities + figures.negative_infinities
    nans += f", {count(infinities)} infinite" if infinities else ""
    return (
        name,
        feature.kind,
        present,
        _lengths(feature),
        distinct,
        percent(figures.zeros, figures.values),
        number(figures.minimum) + unit,
        middle_of(shown) + unit,
        number(figures.mean) + unit,
        number(figures.std),
        number(figures.maximum) + unit,
        _spark(shown),
        (top + nans).removeprefix(", "),
    )


def _lengths(feature: Feature) -> str:
    figures = feature.lengths.figures
    if not figures.values:
        return "-"
    if figures.minimum == figures.maximum:
        text = number(figures.minimum)
    else:
        text = f"{number(figures.minimum)}–{number(figures.maximum)}"
    if feature.steps is not None:
        low, high = feature.steps.figures.minimum, feature.steps.figures.maximum
        steps = number(low) if low == high else f"{number(low)}–{number(high)}"
        return f"{steps} × {text}"
    return text


def _spark(numbers: Numbers) -> str:
    bars = edges_of([numbers])
    if bars is None:
        return ""
    counts = bars.counts(numbers)
    if len(counts) > _SPARK:
        counts = np.array([group.sum() for group in np.array_split(counts, _SPARK)])
    most = counts.max()
    return "".join(" " if not bar else _BLOCKS[min(7, int(8 * bar / most))] for bar in counts)


def drift_lines(differences: Iterable[Drift], style: Style) -> Iterator[str]:
    yield style("head", "drift: distances from 0 to 1 of values (KS: numbers; L-infinity: categories) and of missing")
    for drift in differences:
        name = style("name", _padded(shown_key(drift.name), _MOST_NAME, True))
        if drift.only:
            yield f"{name}  only in the {drift.only} set"
            continue
        text = (
            "different kinds" if drift.measure == "kind" else "-" if drift.distance is None else f"{drift.distance:.3f}"
        )
        sign = "" if drift.exact else "≈ "
        missing = f"  missing differs by {drift.missing:.3f}" if drift.missing else ""
        yield f"{name}  {sign}{text} {'' if drift.measure == 'kind' else drift.measure}{missing}".rstrip()


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def _padded(text: str, width: int, left: bool) -> str:
    space = " " * max(0, width - _width(text))
    return text + space if left else space + text
