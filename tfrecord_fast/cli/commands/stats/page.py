"""The self-contained page that `stats --html` writes.

All text from records, keys and file names is escaped, and the page's policy allows only its own script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from .... import _core
from ....examples.record_kinds import counts_of
from ...console import counted
from ...files import Totals
from .cards import card, text
from .collecting import Collected
from .drift import Drift
from .figures import Feature
from .pictures import Pictures
from .samples import records_section, wall_section
from .table import duplicates_text, notes_of
from .texts import about, bytes_of, count, number, percent

# Nothing is fetched, and only the script of the page runs, whatever the records hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_MOST_CARD_BYTES = 1_300_000
_MOST_ROWS = 3000  # in the table of all features
_MOST_ROW_BYTES = 600_000
_MOST_PICTURE_BYTES = 600_000
_MOST_FILES = 500


def page(sets: Sequence[Collected], differences: Sequence[Drift]) -> str:
    style, script = _asset("page.css"), _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"{_POLICY}; script-src 'sha256-{digest}'"
    first = sets[0]
    features, lists = first.features
    title = _title(sets)
    pictures = Pictures(_MOST_PICTURE_BYTES)
    sections = list(_sections(sets, differences, [*features, *lists], pictures))
    links = "".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading, _ in sections)
    bodies = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}" tabindex="-1">{heading}</h2>{body}</section>'
        for name, heading, body in sections
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=True)}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{text(title)}</title>'
        f"<style>{style}</style></head><body>"
        f'<a class="skip" href="#main">Skip to the content</a>'
        f"<header><h1>{text(title)}</h1>{_totals(first, len(features) + len(lists))}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f'<main id="main" tabindex="-1">{_warnings(sets)}{bodies}</main>'
        f"<footer>{_footer(first, features, lists, len(sets) == 2)}</footer>"
        f"<script>{script}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets").joinpath(name).read_text(encoding="utf-8")


def _title(sets: Sequence[Collected]) -> str:
    names = []
    for collected in sets:
        paths = [shard.path for shard in collected.shards]
        last = paths[0].rpartition("/")[2] if paths else "no files"
        names.append(last if len(paths) < 2 else f"{last} and {len(paths) - 1:,} more")
    return " against ".join(names)


def _totals(collected: Collected, features: int) -> str:
    kinds = counts_of(collected.collector)
    copies, exact = collected.repeated.copies, collected.repeated.exact
    no_copies = "all records are distinct" if exact else "none in a sample"
    items = [
        ("records", count(collected.records), "stopped at --limit" if collected.limited else ""),
        (
            "files",
            count(len(collected.shards)),
            ", ".join(sorted({s.compression for s in collected.shards if s.compression})),
        ),
        ("size", bytes_of(sum(shard.payload_bytes for shard in collected.shards)), "of records"),
        ("features", count(features), ""),
        (
            "duplicates",
            ("" if exact else "≈ ") + count(copies),
            percent(copies, collected.records) if copies else no_copies if collected.records else "",
        ),
    ]
    if kinds:
        name, number_of = next(iter(kinds.items()))
        others = ", ".join(f"{count(n)} {label}" for label, n in list(kinds.items())[1:])
        items.append(("kind", text(name), text(others) if others else f"all {count(number_of)}"))
    rows = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{small}</small></dd></div>"
        if small
        else f"<div><dt>{name}</dt><dd>{value}</dd></div>"
        for name, value, small in items
    )
    return f'<dl class="totals">{rows}</dl>'


def _warnings(sets: Sequence[Collected]) -> str:
    wrong = [(s.path, s.problem) for collected in sets for s in collected.shards if s.problem is not None]
    if not wrong:
        return ""
    rows = "".join(f"<li><strong>{text(path)}</strong>: {text(problem.place)}</li>" for path, problem in wrong[:50])
    more = f"<li>… {len(wrong) - 50:,} more</li>" if len(wrong) > 50 else ""
    return (
        f'<section aria-labelledby="damage"><h2 id="damage" class="bad">Damage</h2>'
        f"<p>The figures include only records before the damage.</p><ul>{rows}{more}</ul></section>"
    )


def _sections(
    sets: Sequence[Collected], differences: Sequence[Drift], features: Sequence[Feature], pictures: Pictures
) -> Iterator[tuple[str, str, str]]:
    """Yield (identifier, heading, content)."""
    other: dict[str, Feature] = {}
    if len(sets) == 2:
        other = {feature.name: feature for group in sets[1].features for feature in group}
        yield "drift", "Drift", _drift(sets, differences)
    wall = wall_section(sets[0], pictures)
    if wall:
        yield "images", "Images", f'<p class="soft">From a random sample of records.</p>{wall}'
    if features:
        yield "features", "Features", _cards(features, other, {drift.name: drift for drift in differences})
    if features:
        yield "table", "All features as a table", _table(features)
    if sets[0].records:
        yield "records", "Sample records", records_section(sets[0], pictures)
    yield "files", "Files", _files(sets[0])


def _cards(features: Sequence[Feature], other: dict[str, Feature], drift: dict[str, Drift]) -> str:
    cards: list[str] = []
    size = 0
    if drift:
        features = sorted(features, key=lambda feature: -drift[feature.name].score)
    for index, feature in enumerate(features):
        markup = card(feature, other.get(feature.name), drift.get(feature.name), f"f{index}")
        size += len(markup)
        if size > _MOST_CARD_BYTES:
            break
        cards.append(markup)
    left = len(features) - len(cards)
    note = f"<p>The first {count(len(cards))} features; {count(left)} more are in the table below.</p>" if left else ""
    by_drift = '<option value="drift">drift</option>' if drift else ""
    legend = (
        '<p class="soft"><span class="key"></span>first set <span class="key two"></span>second set; both as shares of '
        "their set</p>"
        if drift
        else ""
    )
    tools = (
        '<div class="tools" id="tools" hidden><label>Filter by name<input id="filter" type="search" autocomplete="off">'
        '</label><label>Sort by<select id="sort">'
        f'{by_drift}<option value="name">name</option><option value="missing">missing</option>'
        '<option value="distinct">distinct values</option></select>'
        '</label><span id="shown" class="soft" role="status"></span></div>'
    )
    return f'{note}{legend}{tools}<ul class="cards" id="cards">{"".join(cards)}</ul>'


def _table(features: Sequence[Feature]) -> str:
    names = ("missing", "values", "distinct", "zeros", "min", "median", "mean", "std", "max")
    head = '<th scope="col">feature</th><th scope="col">kind</th>'
    head += "".join(f'<th scope="col" class="n">{name}</th>' for name in names)
    rows: list[str] = []
    size = 0
    for feature in features[:_MOST_ROWS]:
        rows.append(_row(feature))
        size += len(rows[-1])
        if size > _MOST_ROW_BYTES:
            break
    left = len(features) - len(rows)
    note = f"<p>{count(left)} more features are not shown; <code>--json</code> has them all.</p>" if left else ""
    return (
        f'<div class="scroll" role="region" aria-label="Table of all features" tabindex="0"><table class="sortable">'
        f'<caption class="sr">Figures of all features</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _row(feature: Feature) -> str:
    numbers = feature.shown
    unit = " B" if feature.numbers is None and feature.texts is not None else ""
    cells: list[tuple[float, str]] = [
        (feature.missing, percent(feature.missing, feature.records)),
        (feature.values, count(feature.values)),
        (feature.distinct[0], about(*feature.distinct, feature.values)),
    ]
    if numbers is not None:
        figures = numbers.figures
        cells.append((figures.zeros / max(1, figures.values), percent(figures.zeros, figures.values)))
        for value in (figures.minimum, numbers.quantile(0.5), figures.mean, figures.std, figures.maximum):
            cells.append((value if value is not None else 0, number(value) + (unit if value is not None else "")))
    else:
        cells += [(0, "")] * 6
    data = "".join(f'<td class="n" data-v="{float(value):.9g}">{shown}</td>' for value, shown in cells)
    return f'<tr><th scope="row">{text(feature.name)}</th><td>{feature.kind}</td>{data}</tr>'


def _drift(sets: Sequence[Collected], differences: Sequence[Drift]) -> str:
    second = sets[1]
    rows = []
    for drift in differences[:200]:
        if drift.only:
            distance = f"only in the {drift.only} set"
        elif drift.measure == "kind":
            distance = "different kinds"
        else:
            distance = "no values" if drift.distance is None else f"{'' if drift.exact else '≈ '}{drift.distance:.4f}"
        much = ' class="much"' if drift.score >= 0.1 else ""
        measure = "" if drift.measure == "kind" else drift.measure
        rows.append(
            f'<tr><th scope="row">{text(drift.name)}</th><td class="n" data-v="{drift.score:.6f}">{distance} '
            f'<span class="meter" aria-hidden="true"><b{much} style="width:{100 * drift.score:.0f}%"></b>'
            f'</span></td><td>{measure}</td><td class="n" data-v="{drift.missing:.6f}">{drift.missing:.4f}</td></tr>'
        )
    more = f"<p>{count(len(differences) - 200)} more features differ less.</p>" if len(differences) > 200 else ""
    size = f"{count(second.records)} records in {counted(len(second.shards), 'file')}"
    return (
        f"<p>The second set has {size}. Features are sorted by their distance, from 0 (no difference) to 1; bars are "
        f"red from 0.1.</p>"
        '<div class="scroll" role="region" aria-label="Table of drift" tabindex="0"><table class="sortable"><thead><tr>'
        '<th scope="col">feature</th><th scope="col" class="n">distance of values</th><th scope="col">measure</th>'
        '<th scope="col" class="n">difference in missing</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{more}"
    )


def _files(collected: Collected) -> str:
    most = max((shard.records for shard in collected.shards), default=0)
    rows = "".join(_file(shard, most) for shard in collected.shards[:_MOST_FILES])
    left = len(collected.shards) - _MOST_FILES
    more = f"<p>{count(left)} more files are not shown; <code>--json</code> has them all.</p>" if left > 0 else ""
    copies = f"<p>Duplicates: {text(duplicates_text(collected))}.</p>" if collected.records else ""
    return (
        f'{copies}<div class="scroll" role="region" aria-label="Table of files" tabindex="0">'
        '<table class="sortable"><thead><tr><th scope="col">file</th><th scope="col" class="n">records</th>'
        '<th scope="col" class="n">bytes of records</th>'
        '<th scope="col" class="n">bytes stored</th><th scope="col">compression</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}"
    )


def _file(shard: Totals, most: int) -> str:
    width = 100 * shard.records / most if most else 0
    stored = shard.stored_bytes
    return (
        f'<tr><th scope="row">{text(shard.path)}</th><td class="n" data-v="{shard.records}">{count(shard.records)} '
        f'<span class="meter" aria-hidden="true"><b style="width:{width:.0f}%"></b></span></td>'
        f'<td class="n" data-v="{shard.payload_bytes}">{bytes_of(shard.payload_bytes)}</td>'
        f'<td class="n" data-v="{stored or 0}">{bytes_of(stored)}</td><td>{shard.compression or "none"}</td></tr>'
    )


def _footer(collected: Collected, features: Sequence[Feature], lists: Sequence[Feature], compared: bool) -> str:
    error = 100 * _core.DISTINCT_ERROR
    items = [
        (
            "Exact and estimated",
            "If a feature has up to a thousand distinct values, all figures are exact. "
            "With more, counts, min, max, mean, std and zeros stay exact; quantiles, bars and figures with ≈ are "
            "estimates.",
        ),
        ("Mean, std", "Of finite values; std is that of the population (divided by n, as in NumPy)."),
        ("Distinct values", f"Without NaN. Estimates have a standard error of {error:.1f} % (HyperLogLog)."),
        (
            "Median, 5 % – 95 %",
            "Interpolated linearly, as in NumPy. In a sample (KLL), the rank is nearly always off by less than 1 % of "
            "all values.",
        ),
        (
            "Most frequent",
            "In a sample, counts may be slightly too low (Misra-Gries), and only values that certainly stand out are "
            "shown. Strings are compared by 64-bit hashes.",
        ),
    ]
    if compared:
        items += [
            (
                "KS",
                "Kolmogorov-Smirnov distance of numbers: the largest difference between the distribution functions. "
                "For bytes with too many distinct values, that of their sizes.",
            ),
            (
                "L-infinity",
                "For bytes, and integers with up to 100 distinct values: the largest difference between the shares of "
                "a value in the two sets.",
            ),
        ]
    notes = "".join(
        f"<p>{text(note)}</p>" for note in notes_of(collected, [*features, *lists]) if note.startswith("LEFT")
    )
    entries = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in items)
    return f'<section aria-labelledby="about"><h2 id="about">About the figures</h2>{notes}<dl>{entries}</dl></section>'
