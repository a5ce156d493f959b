"""The kinds of records: Examples, TensorBoard events, text, images, and so on, under the names that commands print."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _core

EXAMPLE = "Example"
SEQUENCE_EXAMPLE = "SequenceExample"
EMPTY = "empty"

# Names of kinds by the core's descriptions (csrc/parse/looks_like.cc); the others are the description without "a ".
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
    "bytes of an unknown form": "opaque bytes",
}
_PROTOBUF = "another protobuf message"
_CERTAIN = (EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, "text", "JSON")  # recognised by their form alone

_FIRST_RECORDS = 100  # looked at in each file
_BATCH_RECORDS = 4  # looked at in each later batch


def kind_of(record: bytes) -> str:
    """Return the kind of a record: "Example", "SequenceExample", "ELWC", "TensorBoard event", "TensorProto", "text",
    "JSON", "PNG image", "protobuf", "opaque bytes" or another such name.

    A record in which parsers find features with values is an Example; other kinds are guessed from the form.

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
    """Return the kind of any bytes, or of their beginning, by their form alone.

    >>> form_of(b"GIF89a...")
    'GIF image'
    """
    return kind_named(_core.looks_like(data))


def counts_of(collector: _core.StatsCollector) -> dict[str, int]:
    """Count the collected records of each kind, the most frequent first."""
    counts = {
        EXAMPLE: collector.examples - collector.sequences - collector.empty,
        SEQUENCE_EXAMPLE: collector.sequences,
        EMPTY: collector.empty,
    }
    for description, records, _, _ in collector.others():
        name = kind_named(description)
        counts[name] = counts.get(name, 0) + records
    return {name: records for name, records in sorted(counts.items(), key=lambda item: -item[1]) if records}


def unknown_field(record: bytes) -> int:
    """Return the number of the first field, at any depth, that Examples and SequenceExamples lack; 0 for none."""
    return _core.unknown_fields([record])[2]


def kind_named(description: str) -> str:
    """Return the kind for the core's description of a record.

    >>> kind_named("an Example")
    'Example'
    """
    if description.startswith(_PROTOBUF):
        return "protobuf"
    return _NAMES.get(description) or description.removeprefix("a ")


class Kinds:
    """The kinds of a file's records, by a sample: the first records, and some of each later batch."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._looked_at = 0

    @classmethod
    def of(cls, files: Iterable[Kinds]) -> Kinds:
        total = cls()
        for kinds in files:
            for name, count in kinds._counts.items():
                total._counts[name] = total._counts.get(name, 0) + count
        return total

    def add(self, records: _core.RecordBatch) -> None:
        count = max(_BATCH_RECORDS, _FIRST_RECORDS - self._looked_at)
        for row in range(min(count, len(records))):
            name = kind_of(records[row])
            self._counts[name] = self._counts.get(name, 0) + 1
            self._looked_at += 1

    @property
    def names(self) -> list[str]:
        """The kinds, the most frequent first; empty records only if there are no others."""
        names = sorted(self._counts, key=lambda name: -self._counts[name])
        return [name for name in names if name != EMPTY] or names
