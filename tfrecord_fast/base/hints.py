"""Hints in reprs, for frameworks whose errors print them."""

from __future__ import annotations

import sys

__all__ = ["shown_to_keras"]


def shown_to_keras(text: str, argument: str) -> str:
    """Return the text for `format()` of an object; if Keras is imported, with the class that Keras accepts.

    Keras' error about unknown data formats the object.
    """
    if "keras" not in sys.modules:
        return text
    return f"{text} (for Keras, wrap it: tfrecord_fast.integrations.keras.TFRecordPyDataset({argument}))"
