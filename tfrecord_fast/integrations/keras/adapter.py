"""The end of a dataset without a length, for Keras.

Keras mistakes a PyDataset without a length for an endless one: no exception of its `__getitem__` ends an epoch. With
this change, `EndOfEpoch` does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from keras.src.trainers.data_adapters.py_dataset_adapter import PyDatasetAdapter

from .iterations import EndOfEpoch


def end_iterations() -> None:
    """Let the iterators that Keras makes of a PyDataset end at `EndOfEpoch`."""
    PyDatasetAdapter._get_iterator = _ending(PyDatasetAdapter._get_iterator)


def _ending(make_iterator: Any) -> Any:
    @functools.wraps(make_iterator)
    def call(self: Any) -> Iterator[Any]:
        try:
            yield from make_iterator(self)
        except EndOfEpoch:
            return

    return call
