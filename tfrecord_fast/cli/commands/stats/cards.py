"""The cards of the page, one per feature: histogram, figures, frequent values."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .drawing import histogram
from .drift import Drift
from .figures import Feature, Numbers, shown_key
from .texts import about, bytes_of, count, number, percent, value_of

_MOST_FREQUENT = 6
_WIDE = 11  # characters


def text(value: str) -> str:
    """Escape a text for HTML; invisible characters, and bytes that are not UTF-8, are shown with backslashes."""
    return escape(shown_key(value), quote=True)


def card(feature: Feature, other: Feature | None, drift: Drift | None, identifier: str) -> str:
    """Return the card of a feature as a list item; `other` is the same feature of the second set."""
    name = text(feature.name)
    distinct = feature.distinct[0]
    score = drift.score if drift is not None else 0.0
    warn = " warn" if feature.conflicts else ""
    numbers, plot_of = feature.numbers, None if other is None else other.numbers
    parts = [
        f'<li class="card" id="{identifier}" data-name="{name}" data-missing="{feature.missing}" '
        f'data-distinct="{distinct:.0f}" data-drift="{score:.6f}">',
        f'<div class="head"><h3>{name}</h3><span class="chip{warn}">{feature.kind}</span></div>',
        _chips(feature, drift),
    ]
    if numbers is not None:
        parts.append(histogram(shown_key(feature.name), numbers, plot_of))
    else:
        parts.append(_frequent(feature, other))
    if feature.values:
        parts.append(_facts(feature, numbers))
    if numbers is not None:
        parts.append(_frequent(feature, other))
    elif feature.texts is not None:
        parts.append(_sizes(feature, other))
    parts.append(_lengths(feature, other))
    return "".join([*parts, "</li>"])


def _chips(feature: Feature, drift: Drift | None) -> str:
    chips = []
    if feature.missing:
        chips.append(("warn", f"{percent(feature.missing, feature.records)} missing"))
    if feature.core.unset:
        chips.append(("", f"{count(feature.core.unset)} without a kind"))
    if feature.conflicts:
        chips.append(("warn", "conflicting kinds"))
    numbers = feature.numbers
    if numbers is not None:
        infinities = numbers.figures.positive_infinities + numbers.figures.negative_infinities
        if numbers.figures.nans:
            chips.append(("warn", f"{count(numbers.figures.nans)} NaN"))
        if infinities:
            chips.append(("warn", f"{count(infinities)} infinite"))
    if feature.values and feature.distinct[0] == 1 and feature.records > 1:
        chips.append(("warn", "always the same"))
    if drift is not None:
        if drift.only:
            chips.append(("warn", f"only in the {drift.only} set"))
        elif drift.distance is not None:
            much = "warn" if drift.distance >= 0.1 else ""
            chips.append((much, f"drift {'' if drift.exact else '≈ '}{drift.distance:.3f} ({drift.measure})"))
    if not chips:
        return ""
    spans = "".join(f'<span class="chip {style}">{words}</span>' for style, words in chips)
    return f'<p class="chips">{spans}</p>'


def _facts(feature: Feature, numbers: Numbers | None) -> str:
    facts = [("values", count(feature.values)), ("distinct", about(*feature.distinct, feature.values))]
    if numbers is not None:
        figures = numbers.figures
        facts += [
            ("min", number(figures.minimum)),
            ("median", _quantile(numbers, 0.5)),
            ("max", number(figures.maximum)),
            ("mean", number(figures.mean)),
            ("std", number(figures.std)),
            ("zeros", percent(figures.zeros, figures.values)),
            ("5 % – 95 %", f"{_quantile(numbers, 0.05)} – {_quantile(numbers, 0.95)}"),
        ]
    elif feature.texts is not None:
        sizes = feature.texts.sizes.figures
        facts += [
            ("smallest", bytes_of(sizes.minimum)),
            ("mean size", bytes_of(sizes.mean)),
            ("largest", bytes_of(sizes.maximum)),
            ("empty", percent(sizes.zeros, sizes.values)),
        ]
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    wide = " wide" if any(len(value) > _WIDE for _, value in facts[:-1]) else ""
    return f'<dl class="facts{wide}">{rows}</dl>'


def _quantile(numbers: Numbers, fraction: float) -> str:
    return number(numbers.quantile(fraction))


def _frequent(feature: Feature, other: Feature | None) -> str:
    values = feature.frequent(_MOST_FREQUENT)
    stands_out = values and (values[0].times * 50 >= feature.values or feature.distinct[0] <= 12)
    if not stands_out or values[0].times < 2 <= feature.values:
        return ""
    others = {} if other is None else {(value.value, value.size): value.times for value in other.frequent(10_000)}
    total = feature.values
    rows = []
    sign = "" if feature.distinct[1] else "≈ "
    for value in values:
        share = 100 * value.times / total
        cells = f'<td class="n">{sign}{count(value.times)}</td><td class="n">{percent(value.times, total)}</td>'
        if other is not None:
            cells += f'<td class="n">{percent(others.get((value.value, value.size), 0), other.values)}</td>'
        shown = escape(value_of(value, 32), quote=True)
        rows.append(f'<tr><th scope="row"><i style="width:{share:.1f}%"></i>{shown}</th>{cells}</tr>')
    second = "" if other is None else '<th scope="col" class="n">second</th>'
    hidden = ' class="sr"' if other is None else ""
    head = (
        f'<thead{hidden}><tr><th scope="col">value</th><th scope="col" class="n">times</th>'
        f'<th scope="col" class="n">share</th>{second}</tr></thead>'
    )
    return f'<h4>Most frequent</h4><table class="top">{head}<tbody>{"".join(rows)}</tbody></table>'


def _sizes(feature: Feature, other: Feature | None) -> str:
    assert feature.texts is not None
    sizes = feature.texts.sizes
    if sizes.figures.minimum == sizes.figures.maximum and other is None:
        return ""
    second = other.texts.sizes if other is not None and other.texts is not None else None
    return f"<h4>Bytes per value</h4>{histogram(f'sizes of {shown_key(feature.name)} in bytes', sizes, second)}"


def _lengths(feature: Feature, other: Feature | None) -> str:
    parts: Sequence[tuple[str, Numbers, Numbers | None]] = [
        (
            "Values per step" if feature.core.is_list else "Values per record",
            feature.lengths,
            None if other is None else other.lengths,
        )
    ]
    if feature.steps is not None:
        parts = [("Steps per record", feature.steps, None if other is None else other.steps), *parts]
    plots = []
    for title, numbers, second in parts:
        figures = numbers.figures
        if not figures.values or (figures.minimum == figures.maximum == 1):
            continue
        if figures.minimum == figures.maximum:
            plots.append(f"<h4>{title}</h4><p>always {number(figures.minimum)}</p>")
            continue
        plot = histogram(f"{title.lower()} of {shown_key(feature.name)}", numbers, second)
        extent = f"{number(figures.minimum)} – {number(figures.maximum)}, mean {number(figures.mean)}"
        plots.append(f"<h4>{title}: {extent}</h4>{plot}")
    return "".join(plots)
