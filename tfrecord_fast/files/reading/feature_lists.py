"""The error for features of Examples that are feature lists of the files' SequenceExamples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _core
from ...errors import InvalidArgumentError, TFRecordError
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile
from ..streams.fetching import open_stream


def refusing_lists(
    batches: Iterator[Any], plan: Any, files: list[str] | list[CoreFile], options: dict[str, Any]
) -> Iterator[Any]:
    """Yield what the core has parsed with a plan of Examples.

    Raises:
      errors.InvalidArgumentError: no record of the first batch has a feature, and the first record of a local file has
        a feature list of that name.
    """

    unchecked = True

    def checked(parsed: Any) -> Any:
        nonlocal unchecked
        if not unchecked:
            return parsed
        unchecked = False
        columns = parsed[0] if plan.checks_rows else parsed
        empty = {key for key, column in zip(plan.columns.names, columns, strict=True) if _is_empty(column)}
        for key in sorted(empty & _lists_of(files, options), key=str) if empty else ():
            raise InvalidArgumentError(
                f"feature {key!r} is a feature list: the files have SequenceExamples, so pass the pair "
                "(context_features, sequence_features)"
            )
        return parsed

    # Not a chain of the first batch and the others: when one thread exhausts a chain, it frees what another is in.
    return map(checked, batches)


def _is_empty(column: Any) -> bool:
    if getattr(column, "present", None) is not None:
        return not column.present.any()
    if isinstance(column, _core.ListColumn):
        return len(column.values) == 0
    return isinstance(column, np.ndarray) and column.size == 0


def _lists_of(files: list[str] | list[CoreFile], options: dict[str, Any]) -> set[Any]:
    """Return the names of the feature lists in the first record; none if the file can't be read twice."""
    first = files[0] if isinstance(files[0], str) else os.fsdecode(files[0].name) if files[0].is_local else ""
    if not os.path.isfile(first):
        return set()
    survey = _core.FeatureSurvey()
    try:
        survey.add(next(iter(open_stream([first], DEFAULT_SETTINGS, batch_size=1, **options).batches())))
    except (TFRecordError, ValueError, OSError, StopIteration):
        return set()
    names = {summary.key for summary in survey.lists()} - {summary.key for summary in survey.features()}
    return names | {name.decode("utf-8", "surrogateescape") for name in names}
