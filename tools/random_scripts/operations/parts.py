"""Operations that take parts of tensors, and those on sparse and ragged tensors and strings."""

from __future__ import annotations

from dataclasses import replace

from ..drawing import FLOATS, INTEGERS, NUMBERS, NoOperand, broadcast
from .listed import ALL, made, operation


@operation(5)
def constant_slice(d):
    a = d.pick(ALL, ranks=(1, 2, 3))
    first, rest = a.shape[0], a.shape[1:]

    def known(start, stop, step):
        return None if first is None else len(range(first)[start:stop:step])

    choices = [
        ("1:", (known(1, None, None), *rest)),
        (":2", (known(None, 2, None), *rest)),
        (":-1", (known(None, -1, None), *rest)),
        ("::2", (known(None, None, 2), *rest)),
        ("::-1", (known(None, None, -1), *rest)),
        ("-2:", (known(-2, None, None), *rest)),
    ]
    if first != 0:
        choices += [("0", rest), ("-1", rest)] * 2
    if first is None or first > 1:
        choices += [("1", rest)]
    if a.rank > 1 and a.shape[-1] != 0:
        choices += [("..., 0", a.shape[:-1]), (":, 0", (first, *a.shape[2:])), (":, ::-1", a.shape)] * 2
        choices = [choice for choice in choices if choice[0] != ":, 0" or a.shape[1] != 0]
    text, shape = d.rng.choice(choices)
    return made(f"{a.name}[{text}]", a.dtype, shape, a)


@operation(5)
def dependent_slice(d):
    a = d.pick(ALL, ranks=(1, 2, 3))
    number = d.pick(INTEGERS, ranks=(0,), exact=True)
    bound = d.choice(f"{number.name} % 4", f"{number.name} % 3", number.name)
    rest = a.shape[1:]
    text, shape = d.choice(
        (f"{a.name}[:{bound}]", (None, *rest)),
        (f"{a.name}[{bound}:]", (None, *rest)),
        (f"{a.name}[{bound}]", rest),
        (f"{a.name}[-1 - {number.name} % 2]", rest),
        (f"{a.name}[:{bound}][:2]", (None, *rest)),
        (f"tf.gather({a.name}, {bound})", rest),
    )
    if a.rank == 1 and number.dtype == "int32" and d.chance(0.2):
        text, shape = f"tf.slice({a.name}, [0], [{bound}])", (None,)
    return made(text, a.dtype, shape, a)


@operation(3)
def gather(d):
    a = d.pick(ALL, ranks=(1, 2))
    if d.chance(0.5):
        if a.shape[0] is not None and a.shape[0] < 2:
            raise NoOperand
        return made(f"tf.gather({a.name}, [1, 0, 1])", a.dtype, (3, *a.shape[1:]), a)
    if a.rank == 2 and a.shape[1] != 0 and d.chance(0.5):
        return made(f"tf.gather({a.name}, [0], axis=1)", a.dtype, (a.shape[0], 1), a)
    index = d.pick(INTEGERS, ranks=(1,), exact=True)
    text = d.choice(index.name, f"{index.name} % 2", f"tf.clip_by_value({index.name}, 0, 1)")
    return made(f"tf.gather({a.name}, {text})", a.dtype, (*index.shape, *a.shape[1:]), a)


@operation(2)
def masked(d):
    a = d.pick(ALL, ranks=(1, 2), exact=True)
    try:
        mask = d.pick(("bool",), ranks=(1,), exact=True, fits=lambda m: m.shape[0] in (None, a.shape[0])).name
    except NoOperand:
        if a.rank != 1 or a.dtype == "bool":
            raise
        mask = f"{a.name} != {d.constant(a.dtype).name}"
    return made(f"tf.boolean_mask({a.name}, {mask})", a.dtype, (None, *a.shape[1:]), a)


@operation(1)
def ensured(d):
    a = d.pick(ALL, ranks=(1, 2), fits=lambda a: None in a.shape)
    shape = [d.choice(1, 2, 3) if size is None else size for size in a.shape]
    return made(f"tf.ensure_shape({a.name}, {shape})", a.dtype, shape, a)


@operation(1)
def mapped(d):
    a = d.pick(NUMBERS, ranks=(1, 2))
    text = d.choice("t + t", "t * 2", "tf.maximum(t, 1)")
    text = text.replace("2", "2.0").replace("1", "1.0") if a.dtype in FLOATS else text
    return made(f"tf.map_fn(lambda t: {text}, {a.name})", a.dtype, a.shape, a)


# ---- Sparse and strings ----


@operation(8)
def dense(d):
    a = d.pick((*NUMBERS, "string"), layout="sparse", ranks=(1,))
    value = f", default_value={d.constant(a.dtype).name}" if d.chance(0.5) else ""
    return d.choice(
        made(f"tf.sparse.to_dense({a.name}{value})", a.dtype, (None,)),
        made(f"tf.sparse.to_dense({a.name})", a.dtype, (None,)),
        made(f"{a.name}.values", a.dtype, (None,)),
        made(f"{a.name}.dense_shape[0]", "int64", ()),
        made(f"tf.shape({a.name}.values)[0]", "int32", ()),
    )


@operation(1)
def dense_rows(d):
    a = d.pick((*NUMBERS, "string"), layout="sparse", ranks=(2,))
    return d.choice(
        made(f"tf.sparse.to_dense({a.name})", a.dtype, (None, None)),
        made(f"{a.name}.indices[:, 0]", "int64", (None,)),
        made(f"{a.name}.dense_shape", "int64", (2,)),
    )


@operation(2)
def ragged_rows(d):
    a = d.pick((*NUMBERS, "string"), layout="ragged", ranks=(2,))
    choices = [
        made(f"{a.name}.to_tensor()", a.dtype, (None, None)),
        made(f"{a.name}.flat_values", a.dtype, (None,)),
        made(f"{a.name}.row_lengths()", "int64", (None,)),
    ]
    if a.dtype in INTEGERS:
        choices += [made(f"tf.reduce_sum({a.name}, axis=1)", a.dtype, (None,)), replace(a, name=f"{a.name} * 2")]
    return d.rng.choice(choices)


@operation(6)
def string(d):
    a = d.pick(("string",))
    b = d.partner(a)
    shape = broadcast(a.shape, b.shape)
    return d.choice(
        made(f"tf.strings.length({a.name})", "int32", a.shape, a),
        made(f"tf.strings.length({a.name}, unit='BYTE')", "int32", a.shape, a),
        made(f"tf.strings.join([{a.name}, {b.name}])", "string", shape, a, b)
        if () in (a.shape, b.shape) or a.shape == b.shape
        else made(f"{a.name} + {b.name}", "string", shape, a, b),
        made(f"{a.name} + {b.name}", "string", shape, a, b),
        made(f"tf.strings.strip({a.name})", "string", a.shape, a),
        made(f"tf.strings.regex_replace({a.name}, '[0-9]+', '#')", "string", a.shape, a),
        made(f"tf.strings.regex_replace({a.name}, 'a|b', '')", "string", a.shape, a),
        made(f"tf.strings.substr({a.name}, 0, {d.choice(1, 2)})", "string", a.shape, a),
        made(f"tf.strings.substr({a.name}, 1, 2)", "string", a.shape, a),
    )


@operation(2)
def number_of_string(d):
    a = d.pick(("string",))
    text = d.choice(
        a.name, f"tf.where(tf.strings.length({a.name}) == 1, '7', '4')", f"tf.strings.join(['1', {a.name}])"
    )
    dtype = d.choice("float32", "int32", "int64", "float64")
    output = (
        "" if dtype == "float32" and d.chance(0.5) else f", tf.{dtype}" if d.chance(0.5) else f", out_type=tf.{dtype}"
    )
    return made(f"tf.strings.to_number({text}{output})", dtype, a.shape, a)


@operation(2)
def string_parts(d):
    a = d.pick(("string",), ranks=(0,))
    return d.choice(
        made(f"tf.strings.split({a.name})", "string", (None,)),
        made(f"tf.strings.split([{a.name}], ',').values", "string", (None,)),
        made(f"tf.strings.split({a.name}, sep=',')", "string", (None,)),
        made(f"tf.strings.bytes_split({a.name})", "string", (None,)),
        made(f"tf.io.decode_raw({a.name}, tf.uint8)", "uint8", (None,)),
        made(f"tf.cast(tf.io.decode_raw({a.name}, tf.uint8), tf.int32)", "int32", (None,)),
        made(f"tf.io.decode_raw({a.name}, tf.int16)", "int16", (None,)),
    )


@operation(1)
def joined(d):
    a = d.pick(("string",), ranks=(1,))
    return made(f"tf.strings.reduce_join({a.name}, separator='-')", "string", ())


@operation(1)
def text_of_number(d):
    a = d.pick((*INTEGERS, "bool"))
    return made(f"tf.strings.as_string({a.name})", "string", a.shape, a)
