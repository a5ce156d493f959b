"""What records are: Examples, TensorBoard events, text, images, and so on. All commands have the names from here."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _core

__all__ = [
    "EMPTY",
    "EXAMPLE",
    "SEQUENCE_EXAMPLE",
    "Kinds",
    "counts_of",
    "form_of",
    "kind_named",
    "kind_of",
    "unknown_field",
]

EXAMPLE = "Example"
SEQUENCE_EXAMPLE = "SequenceExample"
EMPTY = "empty"

# What the core says (csrc/parse/looks_like.cc), and the name of the kind. Whatever else it says is the name, less "a".
_NAMES = {
    "an empty record": EMPTY,
    "an Example": EXAMPLE,
    "a SequenceExample": SEQUENCE_EXAMPLE,
    "an ELWC (ExampleListWithContext)": "ELWC",
    "a TensorBoard event (tensorflow.Event)": "TensorBoard event",
    "a serialized tensor (TensorProto)": "TensorProto",
    "a message with Examples inside": "nested Examples",
    "statistics of TFX (DatasetFeatureStatisticsList)": "TFX statistics",
    "JSON text": "JSON",
    "bytes of a form that is not known here": "opaque bytes",
}
_PROTOBUF = "another protobuf message"
_CERTAIN = (EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, "text", "JSON")  # forms that leave nothing to ask

_FIRST = 100  # records of a file, all of which are looked at
_OF_BATCH = 4  # of each batch after them, from its beginning


def kind_of(record: bytes) -> str:
    """The kind of a record: "Example", "SequenceExample", "ELWC", "TensorBoard event", "TensorProto", "text", "JSON",
    "PNG image", "protobuf", "opaque bytes" or another such name. What parsers find features with values in is an
    Example, whatever fields there are besides; all else is guessed from the form.

    >>> kind_of(b"some words"), kind_of(b"")
    ('text', 'empty')
    """
    form = form_of(record)
    if form in _CERTAIN:
        return form
    collector = _core.StatsCollector(0, 0, [])
    collector.add([record])
    return next(iter(counts_of(collector)))


def form_of(data: bytes) -> str:
    """The same of any bytes, or of the beginning of them, by their form alone.

    >>> form_of(b"GIF89a...")
    'GIF image'
    """
    return kind_named(_core.looks_like(data))


def counts_of(collector: _core.StatsCollector) -> dict[str, int]:
    """How many of the records that were collected are of each kind, the most frequent first."""
    counts = {
        EXAMPLE: collector.examples - collector.sequences - collector.empty,
        SEQUENCE_EXAMPLE: collector.sequences,
        EMPTY: collector.empty,
    }
    for said, records, _, _ in collector.others():
        counts[kind_named(said)] = counts.get(kind_named(said), 0) + records
    return {name: records for name, records in sorted(counts.items(), key=lambda one: -one[1]) if records}


def unknown_field(record: bytes) -> int:
    """The number of the first field that no Example and no SequenceExample has, at any depth; 0 if there is none."""
    return _core.unknown_fields([record])[2]


def kind_named(said: str) -> str:
    """The kind that the core describes so.

    >>> kind_named("an Example")
    'Example'
    """
    if said.startswith(_PROTOBUF):
        return "protobuf"
    return _NAMES.get(said) or said.removeprefix("a ")


class Kinds:
    """The kinds of a file's records, by a sample: the first ones, and some of each batch after them."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._looked_at = 0

    @classmethod
    def of(cls, parts: Iterable[Kinds]) -> Kinds:
        """Those of all files together."""
        made = cls()
        for part in parts:
            for name, count in part._counts.items():
                made._counts[name] = made._counts.get(name, 0) + count
        return made

    def add(self, records: _core.RecordBatch) -> None:
        """Looks at a batch."""
        most = max(_OF_BATCH, _FIRST - self._looked_at)
        for place in range(min(most, len(records))):
            kind = kind_of(records[place])
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._looked_at += 1

    @property
    def names(self) -> list[str]:
        """The kinds, the most frequent one first; empty records only if there are no others."""
        names = sorted(self._counts, key=lambda name: -self._counts[name])
        return [name for name in names if name != EMPTY] or names
