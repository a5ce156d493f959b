"""tf.train.Example and SequenceExample for the protobuf runtime, in a pool of their own, without TensorFlow."""

import itertools

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import encoder

_PACKAGE = "tfrecord_fast_tests"
_LABELS = {"optional": 1, "repeated": 3}
_TYPES = {"float": 2, "int64": 3, "string": 9, "bytes": 12}


def _message(file, name, *fields, oneof=None):
    message = file.message_type.add(name=name)
    for label, kind, field_name, number in fields:
        field = message.field.add(name=field_name, number=number, label=_LABELS[label])
        if kind in _TYPES:
            field.type = _TYPES[kind]
            if label == "repeated" and kind in ("float", "int64"):
                field.options.packed = True
        else:
            field.type = 11
            field.type_name = f".{_PACKAGE}.{kind}"
        if oneof:
            field.oneof_index = 0
    if oneof:
        message.oneof_decl.add(name=oneof)
    return message


def _map(message, value, field_name):
    entry = message.nested_type.add(name="".join(part.title() for part in field_name.split("_")) + "Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=9)
    entry.field.add(name="value", number=2, label=1, type=11, type_name=f".{_PACKAGE}.{value}")
    message.field.add(name=field_name, number=1, label=3, type=11, type_name=f".{_PACKAGE}.{message.name}.{entry.name}")


def _pool():
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package=_PACKAGE, syntax="proto3")
    _message(file, "BytesList", ("repeated", "bytes", "value", 1))
    _message(file, "FloatList", ("repeated", "float", "value", 1))
    _message(file, "Int64List", ("repeated", "int64", "value", 1))
    kinds = enumerate(["Bytes", "Float", "Int64"], 1)
    lists = [("optional", f"{kind}List", f"{kind.lower()}_list", number) for number, kind in kinds]
    _message(file, "Feature", *lists, oneof="kind")
    _map(_message(file, "Features"), "Feature", "feature")
    _message(file, "FeatureList", ("repeated", "Feature", "feature", 1))
    _map(_message(file, "FeatureLists"), "FeatureList", "feature_list")
    _message(file, "Example", ("optional", "Features", "features", 1))
    parts = [("optional", "Features", "context", 1), ("optional", "FeatureLists", "feature_lists", 2)]
    _message(file, "SequenceExample", *parts)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


_POOL = _pool()


def message(name):
    """The class of the message of this name: Example, Feature, Int64List, …"""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Example, SequenceExample, Feature, FeatureList = map(message, ["Example", "SequenceExample", "Feature", "FeatureList"])


def feature(kind, values):
    """A Feature of kind "int64", "float" or "bytes"."""
    made = Feature()
    getattr(made, f"{kind}_list").SetInParent()
    getattr(made, f"{kind}_list").value.extend(values)
    return made


def example(features):
    """The bytes of an Example of {key: (kind, values)}, keys in bytewise order."""
    made = Example()
    made.features.SetInParent()
    for key, (kind, values) in features.items():
        made.features.feature[key].CopyFrom(feature(kind, values))
    return _in_order(made, features=_map_in_order(made.features, "feature"))


def sequence_example(context, lists):
    """The same of a SequenceExample of {key: (kind, values)} and {key: (kind, [values of each step])}.

    A step None is a Feature without a kind. A part None is left out of the message.
    """
    made, parts = SequenceExample(), {}
    if context is not None:
        made.context.SetInParent()
        for key, (kind, values) in context.items():
            made.context.feature[key].CopyFrom(feature(kind, values))
        parts["context"] = _map_in_order(made.context, "feature")
    if lists is not None:
        made.feature_lists.SetInParent()
        for key, (kind, steps) in lists.items():
            made.feature_lists.feature_list[key].SetInParent()
            features = [Feature() if values is None else feature(kind, values) for values in steps]
            made.feature_lists.feature_list[key].feature.extend(features)
        parts["feature_lists"] = _map_in_order(made.feature_lists, "feature_list")
    return _in_order(made, **parts)


def _map_in_order(message, field_name):
    """The bytes of a message of one map: upb, the runtime's C core, sorts a key after those that begin with it."""
    entries = getattr(message, field_name)
    out = b""
    for key in sorted(entries, key=str.encode):
        alone = type(message)()
        getattr(alone, field_name)[key].CopyFrom(entries[key])
        out += alone.SerializeToString(deterministic=True)
    keys = sorted(entries, key=str.encode)
    if not any(after.startswith(before) for before, after in itertools.pairwise(keys)):
        assert out == message.SerializeToString(deterministic=True)
    return out


def _in_order(message, **parts):
    """The bytes of a message whose submessages are given as bytes."""
    out = b""
    for name, part in parts.items():
        number = message.DESCRIPTOR.fields_by_name[name].number
        out += bytes([number << 3 | 2]) + encoder._VarintBytes(len(part)) + part
    assert type(message).FromString(out) == message or "nan" in str(message)
    return out
