"""The protobuf messages of records, in a descriptor pool of their own: TensorFlow's and others' are in the default one.

The files, with their numbers and options, are those of tensorflow/core/example/{feature,example}.proto and of
tensorflow/core/framework/{tensor,tensor_shape,types}.proto as far as plain tensors go; docs/format.md has the former.
Made when first used; importing this module imports protobuf.
"""

from __future__ import annotations

from typing import Any

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    raise ImportError("messages need protobuf: pip install 'tfrecord_fast[protobuf]'") from error

from .dtypes import DATA_TYPES

__all__ = ["message"]

_Field = descriptor_pb2.FieldDescriptorProto

_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
}

# message: fields as (name, number, type). "*" repeated, "**" repeated and packed, "@" a map from string, "|" of the
# oneof `kind`, "=" an enum.
_FEATURE = {
    "BytesList": [("value", 1, "*bytes")],
    "FloatList": [("value", 1, "**float")],
    "Int64List": [("value", 1, "**int64")],
    "Feature": [
        ("bytes_list", 1, "|BytesList"),
        ("float_list", 2, "|FloatList"),
        ("int64_list", 3, "|Int64List"),
    ],
    "Features": [("feature", 1, "@Feature")],
    "FeatureList": [("feature", 1, "*Feature")],
    "FeatureLists": [("feature_list", 1, "@FeatureList")],
}
_EXAMPLE = {
    "Example": [("features", 1, "Features")],
    "SequenceExample": [("context", 1, "Features"), ("feature_lists", 2, "FeatureLists")],
}
_TENSOR = {
    "TensorShapeProto": [("dim", 2, "*TensorShapeProto.Dim"), ("unknown_rank", 3, "bool")],
    "TensorShapeProto.Dim": [("size", 1, "int64"), ("name", 2, "string")],
    "TensorProto": [
        ("dtype", 1, "=DataType"),
        ("tensor_shape", 2, "TensorShapeProto"),
        ("version_number", 3, "int32"),
        ("tensor_content", 4, "bytes"),
        ("half_val", 13, "**int32"),
        ("float_val", 5, "**float"),
        ("double_val", 6, "**double"),
        ("int_val", 7, "**int32"),
        ("string_val", 8, "*bytes"),
        ("scomplex_val", 9, "**float"),
        ("int64_val", 10, "**int64"),
        ("bool_val", 11, "**bool"),
        ("dcomplex_val", 12, "**double"),
        ("uint32_val", 16, "**uint32"),
        ("uint64_val", 17, "**uint64"),
    ],
}
_ENUM = {
    "DT_INVALID": 0,
    **{
        f"DT_{ {'float32': 'FLOAT', 'float64': 'DOUBLE', 'float16': 'HALF'}.get(name, name.upper()) }": number
        for name, number in DATA_TYPES.items()
    },
}


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _fill(proto: Any, package: str, fields: list[tuple[str, int, str]]) -> None:
    """Adds the fields to a DescriptorProto."""
    for name, number, text in fields:
        kind = text.lstrip("*@|=")
        mark = text[: len(text) - len(kind)]
        field = proto.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        else:
            field.type = _Field.TYPE_ENUM if mark == "=" else _Field.TYPE_MESSAGE
            field.type_name = f".{package}.{kind}"
        if mark.startswith("*"):
            field.label = _Field.LABEL_REPEATED
        if mark == "**":
            field.options.packed = True
        if mark == "|":
            if not proto.oneof_decl:
                proto.oneof_decl.add(name="kind")
            field.oneof_index = 0
        if mark == "@":
            entry = proto.nested_type.add(name=f"{_camel(name)}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
            entry.field.add(
                name="value", number=2, type=_Field.TYPE_MESSAGE, type_name=field.type_name, label=_Field.LABEL_OPTIONAL
            )
            field.label = _Field.LABEL_REPEATED
            field.type_name = f".{package}.{proto.name}.{entry.name}"


def _make() -> dict[str, Any]:
    package = "tensorflow"
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="tfrecord_fast/messages.proto", package=package, syntax="proto3")
    made: dict[str, Any] = {}
    for name, fields in {**_FEATURE, **_EXAMPLE, **_TENSOR}.items():
        outer, _, inner = name.rpartition(".")
        made[name] = (made[outer].nested_type if outer else file.message_type).add(name=inner)
        _fill(made[name], package, fields)
    enum = file.enum_type.add(name="DataType")
    for name, number in _ENUM.items():
        enum.value.add(name=name, number=number)
    pool.AddSerializedFile(file.SerializeToString())
    if hasattr(message_factory, "GetMessageClass"):
        class_of = message_factory.GetMessageClass
    else:  # protobuf before 4.22
        class_of = message_factory.MessageFactory(pool).GetPrototype
    return {name: class_of(pool.FindMessageTypeByName(f"{package}.{name}")) for name in made}


_messages: dict[str, Any] | None = None


def message(name: str) -> Any:
    """The class of a message, such as "Example"."""
    global _messages
    if _messages is None:
        _messages = _make()
    return _messages[name]
