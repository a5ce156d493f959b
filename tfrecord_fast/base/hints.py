"""What to say to frameworks that can't take a thing as it is."""

from __future__ import annotations

import sys

__all__ = ["shown_to_keras"]


def shown_to_keras(text: str, argument: str) -> str:
    """The text that stands for a thing in a format string: where Keras is imported, with what it takes instead.

    Keras' error about data that it doesn't know asks for nothing else.
    """
    if "keras" not in sys.modules:
        return text
    return f"{text} (for Keras, wrap it: tfrecord_fast.integrations.keras.TFRecordPyDataset({argument}))"
