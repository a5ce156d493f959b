"""The message classes of records, in a descriptor pool of their own, apart from TensorFlow's in the default one.

The messages are those of tensorflow/core/example/{feature,example}.proto, which docs/format.md shows, and the fields of
tensorflow/core/framework/{tensor,tensor_shape,types}.proto that plain tensors need. The classes are attributes of this
module, such as `protobuf.Example`. The first use makes them and imports protobuf.
"""

from __future__ import annotations

from typing import Any

from ...base.optional import optional
from ...dtypes import DATA_TYPES

NEED = "messages need protobuf"
_PUBLIC_MODULE = "tfrecord_fast.train"

# Numbers of google.protobuf.FieldDescriptorProto.Type and Label.
_SCALARS = dict(double=1, float=2, int64=3, uint64=4, int32=5, bool=8, string=9, bytes=12, uint32=13)
_TYPE_STRING, _TYPE_MESSAGE, _TYPE_ENUM = 9, 11, 14
_OPTIONAL, _REPEATED = 1, 3

# The fields of each message, as (name, number, type). "*": repeated, "**": repeated and packed, "@": a map from string,
# "|": a member of the oneof `kind`, "=": an enum.
_FEATURE = {
    "BytesList": [("value", 1, "*bytes")],
    "FloatList": [("value", 1, "**float")],
    "Int64List": [("value", 1, "**int64")],
    "Feature": [("bytes_list", 1, "|BytesList"), ("float_list", 2, "|FloatList"), ("int64_list", 3, "|Int64List")],
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


def _fill(proto: Any, package: str, fields: list[tuple[str, int, str]]) -> None:
    for name, number, text in fields:
        type_name = text.lstrip("*@|=")
        mark = text[: len(text) - len(type_name)]
        field = proto.field.add(name=name, number=number, label=_OPTIONAL)
        if type_name in _SCALARS:
            field.type = _SCALARS[type_name]
        else:
            field.type = _TYPE_ENUM if mark == "=" else _TYPE_MESSAGE
            field.type_name = f".{package}.{type_name}"
        if mark.startswith("*"):
            field.label = _REPEATED
        if mark == "**":
            field.options.packed = True
        if mark == "|":
            if not proto.oneof_decl:
                proto.oneof_decl.add(name="kind")
            field.oneof_index = 0
        if mark == "@":
            entry = proto.nested_type.add(name="".join(map(str.capitalize, name.split("_"))) + "Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=_TYPE_STRING, label=_OPTIONAL)
            entry.field.add(name="value", number=2, type=_TYPE_MESSAGE, type_name=field.type_name, label=_OPTIONAL)
            field.label = _REPEATED
            field.type_name = f".{package}.{proto.name}.{entry.name}"


def _make() -> dict[str, Any]:
    descriptor_pb2 = optional("google.protobuf.descriptor_pb2", NEED)
    descriptor_pool = optional("google.protobuf.descriptor_pool", NEED)
    message_factory = optional("google.protobuf.message_factory", NEED)
    package = "tensorflow"
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="tfrecord_fast/messages.proto", package=package, syntax="proto3")
    protos: dict[str, Any] = {}
    for name, fields in {**_FEATURE, **_EXAMPLE, **_TENSOR}.items():
        outer, _, inner = name.rpartition(".")
        protos[name] = (protos[outer].nested_type if outer else file.message_type).add(name=inner)
        _fill(protos[name], package, fields)
    enum = file.enum_type.add(name="DataType")
    for name, number in _ENUM.items():
        enum.value.add(name=name, number=number)
    pool.AddSerializedFile(file.SerializeToString())
    if hasattr(message_factory, "GetMessageClass"):
        class_of = message_factory.GetMessageClass
    else:  # protobuf before 4.22
        class_of = message_factory.MessageFactory(pool).GetPrototype
    classes = {name: class_of(pool.FindMessageTypeByName(f"{package}.{name}")) for name in protos}
    for cls in classes.values():
        cls.__module__ = _PUBLIC_MODULE  # protobuf sets None, on which help() fails
    return classes


_made: dict[str, dict[str, Any]] = {}  # empty until the first use


def message(name: str) -> Any:
    """Return the class of a message, such as "Example"."""
    # Threads that make the classes at the same time must end with the same ones: setdefault keeps the first.
    classes = _made.get("classes") or _made.setdefault("classes", _make())
    return classes[name]


def decode_error() -> type[Exception]:
    error: type[Exception] = optional("google.protobuf.message", NEED).DecodeError
    return error


def __getattr__(name: str) -> Any:
    if name not in _FEATURE and name not in _EXAMPLE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return message(name)
