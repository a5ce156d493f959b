"""Sample records of the page, and the images in them."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from ....examples.messages.wire import Value
from ....images.headers import image_of
from ...console import Style
from ...records.decoding import decode
from ...records.showing import Shower
from .cards import text
from .collecting import Collected
from .pictures import Pictures
from .texts import bytes_of

_MOST_RECORDS = 8
_MOST_IMAGES = 40
_MOST_FEATURES = 200  # of a record
_MOST_LINES = 60
_SHORT = 60  # characters of a caption


def records_section(collected: Collected, pictures: Pictures) -> str:
    """Return some random records, feature by feature."""
    drawn = collected.collector.sample()
    step = max(1, len(drawn) // _MOST_RECORDS)
    articles = [
        _record(collected, file, number, record, pictures, is_open=not i)
        for i, (file, number, record) in enumerate(drawn[::step][:_MOST_RECORDS])
    ]
    skipped = collected.collector.passed_over
    note = f'<p class="soft">{skipped:,} records of more than 2 MB are never sampled.</p>' if skipped else ""
    return "".join(articles) + note


def _record(collected: Collected, file: int, number: int, record: bytes, pictures: Pictures, is_open: bool) -> str:
    shown = decode(record)
    shower = Shower(Style(False))
    path = text(collected.shards[file].path)
    head = f"<summary>Record {number:,} of {path}: {text(shown.kind)}, {bytes_of(len(record))}</summary>"
    tree = shown.tree or {}
    rows = list(_rows(tree.get("features") or tree.get("context") or {}, shower, pictures))
    rows += list(_rows(tree.get("feature_lists") or {}, shower, pictures))
    if rows:
        more = f"<p class=soft>… {len(rows) - _MOST_FEATURES:,} more features</p>" if len(rows) > _MOST_FEATURES else ""
        body = (
            '<div style="overflow-x:auto"><table class="record"><thead><tr><th scope="col">feature</th>'
            f'<th scope="col">kind</th><th scope="col">value</th></tr></thead><tbody>{"".join(rows[:_MOST_FEATURES])}'
            f"</tbody></table></div>{more}"
        )
    else:
        url = pictures.url(record)
        lines = [line for line in shower.lines(number, record, shown)][:_MOST_LINES]
        body = _image(url, f"record {number:,}") if url else f"<pre>{escape(chr(10).join(lines))}</pre>"
    return f"<details{' open' if is_open else ''}>{head}{body}</details>"


def _rows(features: dict[str, Any], shower: Shower, pictures: Pictures) -> Iterator[str]:
    for name, value in features.items():
        steps = value if isinstance(value, list) else [value]
        dtype = next((step.kind for step in steps if isinstance(step, Value) and step.kind != "none"), "none")
        texts = [shower.value(step) for step in steps[:4] if isinstance(step, Value)]
        more = f", … {len(steps) - 4:,} more steps" if len(steps) > 4 else ""
        shown = escape(texts[0] if not isinstance(value, list) and texts else f"{', '.join(texts)}{more}", quote=True)
        images = [step for step in steps[:4] for step in (step.values[:4] if isinstance(step, Value) else [])]
        urls = [pictures.url(step) for step in images if isinstance(step, bytes)]
        drawn = "".join(_image(url, f"{name}") for url in urls if url)
        yield f'<tr><th scope="row">{text(name)}</th><td>{dtype}</td><td>{drawn}{shown}</td></tr>'


def _image(url: str, what: str) -> str:
    return f'<img src="{url}" alt="Image: {text(what)}">'


def wall_section(collected: Collected, pictures: Pictures) -> str:
    """Return the images of sample records side by side, or "" without images."""
    items: list[str] = []
    images = 0
    for file, number, record in collected.collector.sample():
        for name, image, caption in _images(record):
            images += 1
            url = pictures.url(image) if len(items) < _MOST_IMAGES else None
            if url is None:
                continue
            known = image_of(image)
            size = f"{known[0]} {known[1]}×{known[2]}" if known else ""
            source = f"record {number:,} of {collected.shards[file].path}"
            alt = text(f"{name} of {source}: {caption or size}")
            items.append(
                f'<li><figure><img src="{url}" alt="{alt}" width="112" height="112">'
                f"<figcaption>{f'{text(caption)}<br>{size}' if caption else size}</figcaption></figure></li>"
            )
    if items:
        return f'<ul class="wall">{"".join(items)}</ul>'
    if images and not pictures.can_draw:
        return "<p>The records contain images. To see them here: <code>pip install 'tfrecord_fast[image]'</code></p>"
    return ""


def _images(record: bytes) -> Iterator[tuple[str, bytes, str]]:
    """Yield (feature, image, caption) for images in a record."""
    if image_of(record):
        yield "image", record, ""
        return
    tree = decode(record).tree or {}
    features = {**(tree.get("features") or {}), **(tree.get("context") or {})}
    caption = _caption(features)
    for name, value in features.items():
        for image in value.values[:2] if isinstance(value, Value) and value.kind == "bytes" else []:
            if isinstance(image, bytes) and image_of(image):
                yield name, image, caption
    for name, steps in (tree.get("feature_lists") or {}).items():
        for step in steps[:2]:
            for image in step.values[:1] if isinstance(step, Value) and step.kind == "bytes" else []:
                if isinstance(image, bytes) and image_of(image):
                    yield name, image, caption


def _caption(features: dict[str, Any]) -> str:
    """Return the value of a feature that looks like a label: a short text, or an integer."""
    named = sorted((name for name in features if isinstance(features[name], Value)), key=_likeness)
    for name in named:
        values = features[name].values
        if _likeness(name)[0] > 2 or len(values) != 1:
            continue
        value = values[0]
        if isinstance(value, bytes):
            try:
                shown = value.decode()
            except UnicodeDecodeError:
                continue
            if not shown or len(shown) > _SHORT or not shown.isprintable():
                continue
            return shown
        if isinstance(value, int):
            return f"{name.rpartition('/')[2]} {value}"
    return ""


def _likeness(name: str) -> tuple[int, int, str]:
    words = ("text", "label", "class")
    rank = next((i for i, word in enumerate(words) if word in name.lower()), len(words))
    return rank, len(name), name
