"""What records are, by their form: Examples, TensorBoard events, text, images, and so on."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _core

__all__ = ["EMPTY", "EXAMPLE", "SEQUENCE_EXAMPLE", "Kinds", "kind_named", "kind_of"]

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

_FIRST = 100  # records of a file, all of which are looked at
_OF_BATCH = 4  # of each batch after them, from its beginning


def kind_of(record: bytes) -> str:
    """The kind of a record: "Example", "SequenceExample", "ELWC", "TensorBoard event", "TensorProto", "text", "JSON",
    "PNG image", "protobuf", "opaque bytes" or another such name. It is guessed from the form, not from the values.

    >>> kind_of(b"some words"), kind_of(b"")
    ('text', 'empty')
    """
    return kind_named(_core.looks_like(record))


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
