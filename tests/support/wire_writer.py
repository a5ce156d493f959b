"""Writes protobuf messages byte by byte, valid and otherwise: what no protobuf library would write included."""

import random
import struct

__all__ = [
    "bytes_list",
    "entry",
    "example",
    "feature",
    "field",
    "fixed32",
    "float_list",
    "groups",
    "int64_list",
    "sequence_example",
    "unknown_field",
    "varint",
]


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def fixed32(number, payload):
    return varint(number << 3 | 5) + payload


def int64_list(values, packed=True):
    if packed:
        return field(1, b"".join(varint(v) for v in values)) if values else b""
    return b"".join(varint(1 << 3) + varint(v) for v in values)


def float_list(values, packed=True):
    if packed:
        return field(1, struct.pack(f"<{len(values)}f", *values)) if values else b""
    return b"".join(fixed32(1, struct.pack("<f", v)) for v in values)


def bytes_list(values):
    return b"".join(field(1, v) for v in values)


def feature(kind, values, packed=True):
    """A serialized Feature; `kind` None is one without a kind."""
    if kind is None:
        return b""
    if kind == "bytes":
        return field(1, bytes_list(values))
    if kind == "float":
        return field(2, float_list(values, packed))
    return field(3, int64_list(values, packed))


def entry(key, value, value_first=False):
    key_field, value_field = field(1, key), field(2, value)
    return field(1, value_field + key_field if value_first else key_field + value_field)


def example(entries):
    """Of a list of (key, serialized Feature)."""
    return field(1, b"".join(entry(key, value) for key, value in entries))


def sequence_example(context, lists):
    """Of lists of (key, serialized Feature) and (key, list of serialized Features)."""
    steps = [(key, b"".join(field(1, step) for step in values)) for key, values in lists]
    out = field(1, b"".join(entry(key, value) for key, value in context)) if context else b""
    return out + (field(2, b"".join(entry(key, value) for key, value in steps)) if steps else b"")


def groups(depth):
    """Groups of field 1, one inside the other, without content."""
    return b"\x0b" * depth + b"\x0c" * depth


def unknown_field(rng: random.Random, groups=False):
    number = rng.choice([4, 5, 9, 15, 16, 1000])
    choice = rng.randrange(5 if groups else 4)
    if choice == 0:
        return varint(number << 3) + varint(rng.getrandbits(rng.choice([3, 20, 64])))
    if choice == 1:
        return varint(number << 3 | 1) + rng.randbytes(8)
    if choice == 2:
        return field(number, rng.randbytes(rng.randrange(6)))
    if choice == 3:
        return fixed32(number, rng.randbytes(4))
    return varint(number << 3 | 3) + unknown_field(rng) + varint(number << 3 | 4)
