"""The output formats of `schema`: code, JSON, an Arrow schema, TFDS features, or a TFMD schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from ....dtypes import as_dtype, string
from ....errors import InvalidArgumentError
from ....examples.features import VarLenFeature
from ....examples.infer import InferredFeature, InferredList, describe_features
from ....examples.parsing.table_plan import TablePlan
from ....images.headers import image_of
from ....values.columns.arrow_arrays import ArrowArrays
from ...console import Style, counted, printable
from ...records.json_values import marked
from ...records.showing import Shower
from .surveys import Summary, Survey

Inferred = Mapping[str, InferredFeature | InferredList]

_MOST_VALUES = 16  # of an example in JSON
_TYPES = {"int64": "INT", "float32": "FLOAT", "string": "BYTES"}
_WIDEST = 72  # columns of code before its comments


class NotExpressible(ValueError):
    """A format can't represent these features."""


def as_code(survey: Survey) -> str:
    """Return Python code; comments give the number of records that have each feature, and an example value."""
    features, lists = survey.inferred(), survey.inferred_lists()
    if not survey.has_lists:
        return f"features = {_commented(features, survey.features(), survey)}"
    context = f"context_features = {_commented(features, survey.features(), survey)}"
    return f"{context}\nsequence_features = {_commented(lists, survey.lists(), survey)}"


def _commented(inferred: Inferred, summaries: list[Summary], survey: Survey) -> str:
    first, *lines, last = describe_features(inferred).splitlines()
    width = min(_WIDEST, max(map(len, lines), default=0))
    seen = {_text(summary.key): summary for summary in summaries}
    notes = [_note(key, seen[key], survey) for key in inferred]
    rows = [f"{line.ljust(width)}  # {note}" if note else line for line, note in zip(lines, notes, strict=True)]
    nothing = [f"    # {key!r}: no record has a value" for key, summary in seen.items() if summary.kind == "none"]
    return "\n".join([first, *rows, *nothing, last])


def _note(key: str, seen: Summary, survey: Survey) -> str:
    parts = [] if seen.records == survey.records else [f"in {seen.records:,} of {survey.records:,}"]
    if seen.fewest != seen.most:
        parts.append(f"{seen.fewest:,}–{seen.most:,} values")
    elif seen.records != survey.records or not seen.most:
        parts.append(counted(seen.most, "value"))
    if key in survey.values:
        parts.append(f"e.g. {Shower(Style(coloured=False)).value(survey.values[key])}")
    return ", ".join(parts)


def as_json(survey: Survey) -> str:
    """Return an object: files, records, and for each feature its type, its number of records, and an example value."""
    features = _plain(survey.inferred(), survey.features(), survey)
    lists = _plain(survey.inferred_lists(), survey.lists(), survey)
    named = {"context_features": features, "sequence_features": lists} if survey.has_lists else {"features": features}
    return json.dumps({"kind": survey.kind, "files": survey.files, "records": survey.records, **named})


def _plain(inferred: Inferred, summaries: list[Summary], survey: Survey) -> dict[str, Any]:
    objects: dict[str, Any] = {}
    for summary in summaries:
        key = _text(summary.key)
        objects[key] = {"feature": None, "dtype": None, "records": summary.records}
        if key not in inferred:
            continue
        feature = inferred[key]
        objects[key] |= {"feature": type(feature).__name__, "dtype": as_dtype(feature.dtype).name}
        if not isinstance(feature, VarLenFeature):
            objects[key]["shape"] = list(cast("list[int]", feature.shape))
        objects[key] |= {"min_values": summary.fewest, "max_values": summary.most}
        if key in survey.values:
            value = survey.values[key]
            objects[key]["example"] = marked(value._replace(values=value.values[:_MOST_VALUES]))
    return objects


def as_arrow(survey: Survey) -> str:
    """Return the schema of a table from `read_table`, which needs pyarrow. Control characters in names are escaped."""
    _check_names(survey, "Arrow")
    features: Any = survey.inferred(optional_scalars=True)
    if survey.has_lists:
        features = features, survey.inferred_lists()
    try:
        schema = TablePlan(features, ArrowArrays("plain"), nullable=True).schema
    except InvalidArgumentError as error:  # a NUL in a name, or a duplicate name
        raise NotExpressible(str(error)) from None
    for number, field in enumerate(schema):
        schema = schema.set(number, field.with_name(printable(field.name)))
    return str(schema.to_string())


def as_tfds(survey: Survey) -> str:
    if survey.has_lists:
        raise NotExpressible("TFDS supports Examples only, not SequenceExamples")
    _check_names(survey, "TFDS")
    lines = []
    for key, feature in survey.inferred().items():
        dtype = "np.object_" if as_dtype(feature.dtype) == string else f"np.{as_dtype(feature.dtype).name}"
        if isinstance(feature, VarLenFeature):
            code = f"tfds.features.Sequence(tfds.features.Tensor(shape=(), dtype={dtype}))"
        elif not list(cast("list[int]", feature.shape)) and as_dtype(feature.dtype) == string:
            code = _tfds_text(survey, key)
        else:
            code = f"tfds.features.Tensor(shape={tuple(cast('list[int]', feature.shape))}, dtype={dtype})"
        lines.append(f"    {key!r}: {code},\n")
    return "features = tfds.features.FeaturesDict({\n" + "".join(lines) + "})"


def _tfds_text(survey: Survey, key: str) -> str:
    """Guess from one value whether a bytes feature holds images, text or bytes."""
    value: Any = survey.values[key].values[0] if key in survey.values else b"\xff"
    image = image_of(value)
    if image is not None and image[0] in ("PNG", "JPEG"):
        return f"tfds.features.Image(encoding_format={image[0].lower()!r})"
    try:
        value.decode()
    except UnicodeDecodeError:
        return "tfds.features.Tensor(shape=(), dtype=np.object_)"
    return "tfds.features.Text()"


def as_tfmd(survey: Survey) -> str:
    if survey.has_lists:
        raise NotExpressible("TFMD supports Examples only, not SequenceExamples")
    _check_names(survey, "TFMD")
    messages = []
    seen = {_text(summary.key): summary for summary in survey.features()}
    for key, feature in survey.inferred().items():
        summary = seen[key]
        if isinstance(feature, VarLenFeature):
            shape = f"value_count {{ min: {summary.fewest} max: {summary.most} }}"
        else:
            dims = "".join(f"dim {{ size: {size} }} " for size in cast("list[int]", feature.shape))
            shape = f"shape {{ {dims}}}"
        fraction = "min_fraction: 1.0 " if summary.records == survey.records else ""
        messages.append(
            f"feature {{\n  name: {_quoted(summary.key)}\n  type: {_TYPES[as_dtype(feature.dtype).name]}\n"
            f"  presence {{ {fraction}min_count: 1 }}\n  {shape}\n}}"
        )
    return "\n".join(messages)


def _check_names(survey: Survey, format: str) -> None:
    for key in sorted(survey.keys):
        try:
            key.decode()
        except UnicodeDecodeError:
            name = printable(_text(key))
            raise NotExpressible(f"feature '{name}': the name is not UTF-8, as {format} requires") from None


def _quoted(key: bytes) -> str:
    """Quote a string for protobuf's text format."""
    plain = set(range(0x20, 0x7F)) - set(b"\"\\'")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in key) + '"'


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


FORMATS: dict[str, Callable[[Survey], str]] = {
    "code": as_code,
    "json": as_json,
    "arrow": as_arrow,
    "tfds": as_tfds,
    "tfmd": as_tfmd,
}
