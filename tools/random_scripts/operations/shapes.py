"""Operations that change shapes, or make tensors of a shape."""

from __future__ import annotations

import math

from ..drawing import INTEGERS, NUMBERS, NoOperand
from .listed import ALL, axis_of, made, operation


@operation(4)
def reshape(d):
    a = d.pick(ALL)
    size = None if None in a.shape else math.prod(a.shape)
    shapes = [("[-1]", (size,)), ("[1, -1]", (1, size)), ("[-1, 1]", (size, 1)), ("(-1,)", (size,))]
    if size is None:
        shapes += [("[2, -1]", (2, None)), ("[-1, 2]", (None, 2)), ("[]", ())]
        shapes += [("[3]", (3,)), ("[3, 1]", (3, 1))]
    elif size % 2 == 0:
        shapes += [("[2, -1]", (2, size // 2)), (f"[{size // 2}, 2]", (size // 2, 2))]
    elif size == 1:
        shapes += [("[]", ()), ("[1, 1]", (1, 1))]
    text, shape = d.rng.choice(shapes)
    if a.rank and d.chance(0.1):
        text, shape = f"tf.shape({a.name})", a.shape
    return made(f"tf.reshape({a.name}, {text})", a.dtype, shape, a)


@operation(4)
def stack(d):
    a = d.pick(ALL)
    others = [d.pick((a.dtype,), fits=lambda b: b.shape == a.shape) for _ in range(d.choice(1, 1, 2, 3))]
    axis = d.rng.randrange(a.rank + 1)
    shape = (*a.shape[:axis], 1 + len(others), *a.shape[axis:])
    names = ", ".join(variable.name for variable in [a, *others])
    return made(f"tf.stack([{names}]{f', axis={axis}' if axis else ''})", a.dtype, shape, a, *others)


@operation(4)
def concat(d):
    a = d.pick(ALL, ranks=(1, 2, 3))
    axis, text = axis_of(d, a.rank)

    def fits(b):
        return b.rank == a.rank and all(
            one == other or None in (one, other)
            for place, (one, other) in enumerate(zip(a.shape, b.shape, strict=True))
            if place != axis
        )

    b = d.pick((a.dtype,), fits=fits)
    sizes = [one if one is not None else other for one, other in zip(a.shape, b.shape, strict=True)]
    sizes[axis] = None if None in (a.shape[axis], b.shape[axis]) else a.shape[axis] + b.shape[axis]
    return made(f"tf.concat([{a.name}, {b.name}], {d.choice('', 'axis=')}{text})", a.dtype, sizes, a, b)


@operation(3)
def one_hot(d):
    a = d.pick(INTEGERS, ranks=(0, 1, 2))
    depth = d.choice(2, 3, 5)
    text, dtype = d.choice(
        ("", "float32"), (", dtype=tf.int32", "int32"), (", on_value=2.0, off_value=-1.0", "float32")
    )
    return made(f"tf.one_hot({a.name}, {depth}{text})", dtype, (*a.shape, depth), a)


@operation(3)
def new_axis(d):
    a = d.pick(ALL, ranks=(0, 1, 2))
    axis = d.rng.randrange(a.rank + 1)
    shape = (*a.shape[:axis], 1, *a.shape[axis:])
    text = f"tf.expand_dims({a.name}, {axis - a.rank - 1 if d.chance(0.3) else axis})"
    if axis == 0 and d.chance(0.3):
        text = f"{a.name}[tf.newaxis]"
    elif axis == a.rank and d.chance(0.5):
        text = f"{a.name}[..., None]"
    return made(text, a.dtype, shape, a)


@operation(2)
def squeeze(d):
    a = d.pick(ALL, ranks=(1, 2, 3), fits=lambda a: 1 in a.shape or None in a.shape)
    places = [place for place, size in enumerate(a.shape) if size == 1] or [a.shape.index(None)]
    place = d.rng.choice(places)
    shape = (*a.shape[:place], *a.shape[place + 1 :])
    if None not in a.shape and d.chance(0.3):
        return made(f"tf.squeeze({a.name})", a.dtype, [size for size in a.shape if size != 1], a)
    return made(f"tf.squeeze({a.name}, {d.choice('', 'axis=')}[{place}])", a.dtype, shape, a)


@operation(2)
def transpose(d):
    a = d.pick(ALL, ranks=(2, 3))
    order = d.rng.sample(range(a.rank), a.rank)
    if d.chance(0.4):
        return made(f"tf.transpose({a.name})", a.dtype, a.shape[::-1], a)
    return made(f"tf.transpose({a.name}, {order})", a.dtype, [a.shape[place] for place in order], a)


@operation(2)
def padding(d):
    a = d.pick((*NUMBERS, "string"), ranks=(1, 2))
    pads = [(d.rng.randrange(3), d.rng.randrange(2)) for _ in a.shape]
    shape = [None if size is None else size + sum(pad) for size, pad in zip(a.shape, pads, strict=True)]
    value = f", constant_values={d.constant(a.dtype).name}" if d.chance(0.4) or a.dtype == "string" else ""
    text = [list(pad) for pad in pads]
    if a.rank == 1 and d.chance(0.3):
        size = d.small_integer(3)
        return made(f"tf.pad({a.name}, [[0, {size.name}]]{value})", a.dtype, (None,), a, size)
    return made(f"tf.pad({a.name}, {text}{value})", a.dtype, shape, a)


@operation(2)
def tile(d):
    a = d.pick(ALL, ranks=(1, 2))
    times = [d.choice(1, 2) for _ in a.shape]
    shape = [None if size is None else size * time for size, time in zip(a.shape, times, strict=True)]
    if a.rank == 1 and d.chance(0.3):
        return made(f"tf.repeat({a.name}, 2)", a.dtype, [None if a.shape[0] is None else 2 * a.shape[0]], a)
    if a.rank == 1 and d.chance(0.2):
        return made(f"tf.tile({a.name}, [{d.small_integer(2).name}])", a.dtype, (None,), a)
    return made(f"tf.tile({a.name}, {times})", a.dtype, shape, a)


@operation(2)
def reverse(d):
    a = d.pick(ALL, ranks=(1, 2))
    axis, _text = axis_of(d, a.rank)
    if d.chance(0.4) and a.dtype != "bool":
        return made(f"tf.roll({a.name}, 1, axis={axis})", a.dtype, a.shape, a)
    return made(f"tf.reverse({a.name}, [{axis}])", a.dtype, a.shape, a)


@operation(2)
def sizes(d):
    a = d.pick(ALL, fits=lambda a: None in a.shape)  # TensorFlow does not compute a tensor whose shape it knows
    return d.choice(
        made(f"tf.shape({a.name})", "int32", (a.rank,)),
        made(f"tf.size({a.name})", "int32", ()),
        made(f"tf.shape({a.name}, out_type=tf.int64)", "int64", (a.rank,)),
        made(f"tf.shape({a.name})[0]", "int32", ()),
    )


@operation(2)
def split(d):
    a = d.pick(ALL, ranks=(1, 2), fits=lambda a: a.shape[0] is not None and a.shape[0] > 1)
    size = a.shape[0]
    if size % 2 == 0:
        return made(f"tf.split({a.name}, 2)[{d.rng.randrange(2)}]", a.dtype, (size // 2, *a.shape[1:]), a)
    if d.chance(0.5):
        return made(f"tf.split({a.name}, [1, {size - 1}])[1]", a.dtype, (size - 1, *a.shape[1:]), a)
    return made(f"tf.unstack({a.name})[{d.rng.randrange(size)}]", a.dtype, a.shape[1:], a)


@operation(2)
def filled(d):
    size = d.small_integer(4, ("int32",))
    return d.choice(
        made(f"tf.fill([{size.name}], {d.constant('float32').name})", "float32", (None,), size),
        made(f"tf.range({size.name})", "int32", (None,), size),
        made(f"tf.zeros([{size.name}, 2], tf.int64)", "int64", (None, 2), size),
        made(f"tf.ones([2, {size.name}])", "float32", (2, None), size),
        made(f"tf.sequence_mask({size.name}, 4)", "bool", (4,), size),
        made(f"tf.sequence_mask({size.name}, 3, dtype=tf.float32)", "float32", (3,), size),
        made(f"tf.range(1, {size.name} + 1, 2)", "int32", (None,), size),
    )


@operation(1)
def broadcasting(d):
    a = d.pick(ALL, ranks=(0, 1), fits=lambda a: None not in a.shape)
    return made(f"tf.broadcast_to({a.name}, {[2, *a.shape]})", a.dtype, (2, *a.shape), a)


@operation(1)
def converted(d):
    a = d.pick(NUMBERS, ranks=(0,))
    b = d.partner(a)
    if b.shape != ():
        raise NoOperand
    return made(f"tf.convert_to_tensor([{a.name}, {b.name}])", a.dtype, (2,), a, b)
