"""What `schema` prints of a survey: code, JSON, an Arrow schema, features of TFDS, or a schema of TFMD."""

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
from ...console import Style, printable
from ...records.json_values import marked
from ...records.showing import Shower
from .surveys import Summary, Survey

__all__ = ["FORMATS", "NotExpressible"]

Inferred = Mapping[str, InferredFeature | InferredList]

_MOST_VALUES = 16  # of an example in JSON
_TYPES = {"int64": "INT", "float32": "FLOAT", "string": "BYTES"}
_WIDEST = 72  # columns of code before its comments


class NotExpressible(ValueError):
    """A format has no form for these features."""


def as_code(survey: Survey) -> str:
    """Python code that can be pasted, in which comments say how often each feature is there, and give a value."""
    features, lists = survey.inferred(), survey.inferred_lists()
    if not survey.has_lists:
        return f"features = {_commented(features, survey.features(), survey)}"
    context = f"context_features = {_commented(features, survey.features(), survey)}"
    return f"{context}\nsequence_features = {_commented(lists, survey.lists(), survey)}"


def _commented(inferred: Inferred, summaries: list[Summary], survey: Survey) -> str:
    first, *lines, last = describe_features(inferred).splitlines()
    width = min(_WIDEST, max(map(len, lines), default=0))
    seen = {_text(one.key): one for one in summaries}
    notes = [_note(key, seen[key], survey) for key in inferred]
    made = [f"{line.ljust(width)}  # {note}" if note else line for line, note in zip(lines, notes, strict=True)]
    nothing = [f"    # {key!r}: no record has a value" for key, one in seen.items() if one.kind == "none"]
    return "\n".join([first, *made, *nothing, last])


def _note(key: str, seen: Summary, survey: Survey) -> str:
    parts = [] if seen.records == survey.records else [f"in {seen.records:,} of {survey.records:,}"]
    if seen.fewest != seen.most:
        parts.append(f"{seen.fewest:,}–{seen.most:,} values")
    elif seen.records != survey.records or not seen.most:
        parts.append(f"{seen.most:,} value" + ("" if seen.most == 1 else "s"))
    if key in survey.values:
        parts.append(f"e.g. {Shower(Style(coloured=False)).value(survey.values[key])}")
    return ", ".join(parts)


def as_json(survey: Survey) -> str:
    """An object: files, records, and for each feature what parses it, how often it is there, and a value."""
    features = _plain(survey.inferred(), survey.features(), survey)
    lists = _plain(survey.inferred_lists(), survey.lists(), survey)
    named = {"context_features": features, "sequence_features": lists} if survey.has_lists else {"features": features}
    return json.dumps({"kind": survey.kind, "files": survey.files, "records": survey.records, **named})


def _plain(inferred: Inferred, summaries: list[Summary], survey: Survey) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for one in summaries:
        key = _text(one.key)
        made[key] = {"feature": None, "dtype": None, "records": one.records}
        if key not in inferred:
            continue
        feature = inferred[key]
        made[key] |= {"feature": type(feature).__name__, "dtype": as_dtype(feature.dtype).name}
        if not isinstance(feature, VarLenFeature):
            made[key]["shape"] = list(cast("list[int]", feature.shape))
        made[key] |= {"min_values": one.fewest, "max_values": one.most}
        if key in survey.values:
            value = survey.values[key]
            made[key]["example"] = marked(value._replace(values=value.values[:_MOST_VALUES]))
    return made


def as_arrow(survey: Survey) -> str:
    """The schema that read_table gives, which needs pyarrow. Of names, what a terminal would obey is escaped."""
    _check_names(survey, "Arrow's")
    features: Any = survey.inferred(optional_scalars=True)
    if survey.has_lists:
        features = features, survey.inferred_lists()
    try:
        schema = TablePlan(features, ArrowArrays("plain"), nullable=True).schema
    except InvalidArgumentError as error:  # a NUL in a name, or a name that is there twice
        raise NotExpressible(str(error)) from None
    for place, field in enumerate(schema):
        schema = schema.set(place, field.with_name(printable(field.name)))
    return str(schema.to_string())


def as_tfds(survey: Survey) -> str:
    """Code that makes the FeaturesDict of TensorFlow Datasets."""
    if survey.has_lists:
        raise NotExpressible("TFDS stores Examples only, and these are SequenceExamples")
    _check_names(survey, "TFDS's")
    lines = []
    for key, feature in survey.inferred().items():
        dtype = "np.object_" if as_dtype(feature.dtype) == string else f"np.{as_dtype(feature.dtype).name}"
        if isinstance(feature, VarLenFeature):
            made = f"tfds.features.Sequence(tfds.features.Tensor(shape=(), dtype={dtype}))"
        elif not list(cast("list[int]", feature.shape)) and as_dtype(feature.dtype) == string:
            made = _tfds_text(survey, key)
        else:
            made = f"tfds.features.Tensor(shape={tuple(cast('list[int]', feature.shape))}, dtype={dtype})"
        lines.append(f"    {key!r}: {made},\n")
    return "features = tfds.features.FeaturesDict({\n" + "".join(lines) + "})"


def _tfds_text(survey: Survey, key: str) -> str:
    """What a bytes feature is, by one value: an image, text, or bytes."""
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
    """The Schema of TensorFlow Metadata, as protobuf text."""
    if survey.has_lists:
        raise NotExpressible("a schema of TFMD is of Examples, and these are SequenceExamples")
    _check_names(survey, "TFMD's")
    made = []
    seen = {_text(one.key): one for one in survey.features()}
    for key, feature in survey.inferred().items():
        one = seen[key]
        if isinstance(feature, VarLenFeature):
            shape = f"value_count {{ min: {one.fewest} max: {one.most} }}"
        else:
            dims = "".join(f"dim {{ size: {size} }} " for size in cast("list[int]", feature.shape))
            shape = f"shape {{ {dims}}}"
        fraction = "min_fraction: 1.0 " if one.records == survey.records else ""
        made.append(
            f"feature {{\n  name: {_quoted(one.key)}\n  type: {_TYPES[as_dtype(feature.dtype).name]}\n"
            f"  presence {{ {fraction}min_count: 1 }}\n  {shape}\n}}"
        )
    return "\n".join(made)


def _check_names(survey: Survey, whose: str) -> None:
    """Refuses names that are not UTF-8, for formats whose names are."""
    for key in sorted(survey.keys):
        try:
            key.decode()
        except UnicodeDecodeError:
            raise NotExpressible(f"feature '{printable(_text(key))}': its name is not UTF-8, and {whose} are") from None


def _quoted(key: bytes) -> str:
    """As protobuf's text format has strings."""
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
